"""Paths whose content is a secret by what the file is. Judged on names alone, in files, diffs, evidence and maps alike."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from ues_core.redact._model import word_set

_NAMES: Final = word_set("""
    .npmrc .pypirc .netrc _netrc .pgpass pgpass.conf .my.cnf .mylogin.cnf .htpasswd htpasswd .dockercfg
    .dockerconfigjson .git-credentials .gitcookies .boto .s3cfg .vault-token .vault_pass .vault-password
    vault-password.txt .terraformrc terraform.rc credentials.tfrc.json kubeconfig .kubeconfig master.key
    credentials.json client_secret.json client_secrets.json service-account.json serviceaccount.json
    service_account.json application_default_credentials.json access_tokens.db token.json tokens.json secrets.json
    secrets.yml secrets.yaml secrets.toml secrets.ini secret.yml secret.yaml secret.json .secrets .secret
    credentials.yml credentials.yaml credentials.yml.enc auth.json .yarnrc.yml gradle.properties.local key.properties
    keystore.properties local.settings.json passwords.txt password.txt logins.json key3.db key4.db cookies.sqlite
    cookies.txt storage_state.json storage-state.json storagestate.json auth-state.json .bash_history .zsh_history
    .python_history .psql_history .mysql_history .node_repl_history shadow gshadow id_rsa id_dsa id_ecdsa id_ed25519
    id_ecdsa_sk id_ed25519_sk identity.key wp-config.php.local
    credentials credentials.toml credentials.csv credentials.ini .credentials vault.yml vault.yaml .vault_pass.txt
    vault_pass.txt rclone.conf .rclone.conf .msmtprc .fetchmailrc .smbcredentials ngrok.yml wallet.dat .pgpass.conf
    .pypirc.bak .htdigest .envs.json kube.config
""")
_SUFFIXES: Final = tuple(
    sorted(
        word_set("""
    .pem .key .p12 .pfx .pkcs12 .jks .keystore .bks .ppk .kdb .kdbx .agekey .gpg .pgp .asc.key .tfstate .tfstate.backup
    .tfvars .tfvars.json .ovpn .mobileprovision .p8 .psafe3 .agilekeychain .opvault .keychain .keychain-db .wallet
    .publishsettings .rdp .pvk .snk .htpasswd
""")
    )
)
_FOLDERS: Final = word_set("""
    .ssh .gnupg .aws .azure .gcloud .kube .password-store .docker .terraform.d .vault .oci .chef .1password .bitwarden
    password-store .secrets .age .sops keyrings .databricks .snowflake .envs
""")
_FOLDER_TAILS: Final = ((".config", "gcloud"), (".config", "gh"), (".config", "hub"), (".config", "op"), (".config", "rclone"))
_PLACES: Final = frozenset([(".m2", "settings.xml"), (".m2", "settings-security.xml"), (".gradle", "gradle.properties")])
"""Files that hold credentials where they stand for a whole user, and none where they stand for a project."""
_SECRETS_FOLDERS: Final = word_set("secrets secret")
"""What lies here is secret unless it is source, a document or a template: ``secrets/db_password``."""
_ENV: Final = re.compile(
    r"(?:\.env(?:rc)?(?:[._-].*)?|(?:[\w-]{1,60}[._-])?env\.(?:local|prod|production|staging|secret)|[\w.-]{1,80}\.env(?:\.[\w-]{1,40})?|\.flaskenv|\.envrc)$"
)
_ENV_TEMPLATES: Final = re.compile(r"[._-](?:example|sample|template|dist|schema|defaults?|tpl|d\.ts|md)$")
_SERVICE_ACCOUNT: Final = re.compile(
    r"(?:[\w.-]{0,80}[._-])?(?:service[_-]?account|gcp[_-]?key|firebase-adminsdk|client_secret|oauth[_-]?token)[\w.-]{0,80}\.json$"
)
_PUBLIC_SUFFIXES: Final = (".pub", ".pub.pem", ".crt.pem", "public.pem", "public.key", "public-key.pem")
_SOURCE_OF_KEYS: Final = re.compile(
    r"\.(?:py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|md|rst|html|css|vue|svelte)$"
)


def is_secret_path(path: str) -> bool:
    """Whether the file at ``path`` (either slash, any case, relative or not) is one whose content must not leave.

    Environment files in every spelling (not their templates), private keys and keystores, cloud and tool credentials, state
    files, password stores. Source about such things (``src/auth/token.ts``, ``env.d.ts``) is not secret by its name.
    """
    parts = [p for p in path.replace("\\", "/").lower().split("/") if p not in ("", ".")]
    if not parts:
        return False
    *folders, name = parts
    name = name.rstrip(". ").split(":", 1)[0]  # trailing dots, blanks and NTFS streams spell the same file on Windows
    if any(f in _FOLDERS for f in folders) or any(pair in _FOLDER_TAILS for pair in pairwise(folders)):
        return not (name.endswith(_PUBLIC_SUFFIXES))
    if name in _FOLDERS or name in _NAMES or (folders and (folders[-1], name) in _PLACES):
        return True
    if _SOURCE_OF_KEYS.search(name):
        return False
    if folders and folders[-1] in _SECRETS_FOLDERS:
        return _ENV_TEMPLATES.search(name) is None and not name.endswith(_PUBLIC_SUFFIXES)
    backup = re.sub(r"(?:\.(?:bak|old|orig|save|swp|backup|copy|tmp|\d{1,3})|~)+$", "", name)
    for candidate in {name, backup}:
        if candidate in _NAMES:
            return True
        if _ENV.match(candidate):
            return _ENV_TEMPLATES.search(candidate) is None
        if candidate.endswith(_PUBLIC_SUFFIXES):
            return False
        if candidate.endswith(_SUFFIXES) or ".tfstate." in candidate or _SERVICE_ACCOUNT.match(candidate):
            return True
        if re.match(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-](?!pub$).*)?$", candidate):
            return True
    return False
