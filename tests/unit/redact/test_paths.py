"""Secret paths and scrubbed locations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.redact import is_secret_path, scrub_url


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".env.local",
        "app/.env.Production",
        "prod.env",
        ".envrc",
        "a\\.env",
        ".env.bak",
        ".env ",
        "id_rsa",
        "deploy/id_ed25519.old",
        "x.pem",
        "certs/server.key",
        "release.jks",
        "vault.kdbx",
        "terraform.tfstate",
        "prod.tfvars",
        ".npmrc",
        ".pypirc",
        ".netrc",
        ".aws/credentials",
        "home/.ssh/config",
        ".kube/config",
        "credentials.json",
        "gcp-service-account.json",
        ".git-credentials",
        ".docker/config.json",
        ".config/gcloud/x.json",
        ".password-store/a.gpg",
        "storage_state.json",
        "foo.key.bak",
        ".env.development.local",
        ".env-prod",
        ".env_backup",
        ".env.keys",
        ".env~",
        "env.local",
        "docker/db.env",
        ".flaskenv",
        ".envs/.production/.django",
        "x/.ENV::$DATA",
        "C:\\Users\\me\\.ssh\\known",
        ".cargo/credentials.toml",
        ".gem/credentials",
        ".m2/settings.xml",
        "secrets/db_password",
        "deploy/secrets/prod.yaml",
        "group_vars/all/vault.yml",
        "terraform.tfstate.d/prod/terraform.tfstate",
        "terraform.tfstate.1700000000.backup",
        ".config/gh/hosts.yml",
        ".mozilla/logins.json",
        "rclone.conf",
    ],
)
def test_files_that_are_secrets_by_name(path: str) -> None:
    assert is_secret_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/build/graph.ts",
        "packages/target/index.js",
        ".env.example",
        ".env.sample",
        "env.d.ts",
        "src/environment.py",
        "src/token.ts",
        "id_rsa.pub",
        "docs/keys.md",
        "env/readme.md",
        "src/secrets.py",
        "lib/keystore.java",
        "tests/test_password.py",
        "package.json",
        "settings.xml",
        "src/secrets/manager.py",
        "docs/secrets/index.md",
        "deploy/secrets/prod.yaml.example",
        "src/credentials/index.ts",
        "lib/vault.rb",
        "environment.yml",
        "environments/prod.tf",
        "tests/test_env.py",
        ".github/workflows/env.yml",
        "",
    ],
)
def test_source_and_templates_are_not(path: str) -> None:
    assert not is_secret_path(path)


SPELLINGS = st.sampled_from(["{}", "./{}", "a/../{}", "a//{}", "/{}", "A\\b\\{}", "{}.", "{} ", "./x/./{}", "{}:stream"])


@given(
    st.sampled_from([".env", ".env.local", ".npmrc", "id_rsa", "prod.tfvars", "x.pem", ".netrc"]),
    SPELLINGS,
    st.integers(0, 255),
)
def test_no_spelling_makes_a_secret_file_an_ordinary_one(name: str, spelling: str, capitals: int) -> None:
    written = "".join(c.upper() if capitals >> n % 8 & 1 else c for n, c in enumerate(name))
    assert is_secret_path(spelling.format(written))


@pytest.mark.parametrize(
    ("url", "scrubbed"),
    [
        ("https://user:pw@host/a?b=c#d", "https://host/a"),
        ("https://host/a;x=1", "https://host/a;x=1"),
        ("data:text/html,<b>secret", "data:text/html"),
        ("data:,x", "data:"),
        ("blob:https://host/uuid", "blob:"),
        ("javascript:alert(1)", "javascript:"),
        ("about:blank", "about:blank"),
        ("screen://form/1", "screen://form/1"),
        ("", ""),
        ("http://h/\x00\na", "http://h/a"),
    ],
)
def test_a_location_is_scrubbed(url: str, scrubbed: str) -> None:
    assert scrub_url(url) == scrubbed


def test_a_scrubbed_location_is_bounded() -> None:
    assert len(scrub_url("https://h/" + "a" * 5_000)) == 1_000
