"""The signing key of a state directory: one Ed25519 key, created once, readable by its user only.

Files in the given directory:

``ledger.key``  the private key, PEM (PKCS 8), mode 0600
``ledger.pub``  the public key, PEM (SubjectPublicKeyInfo): the file to pin elsewhere

A key is named by its key id: the first 16 hex characters of the SHA-256 of the 32 raw public bytes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from ues_core.contract.codes import Code
from ues_core.contract.errors import LedgerError
from ues_core.seal.refs import Entropy

PRIVATE_FILE: Final = "ledger.key"
PUBLIC_FILE: Final = "ledger.pub"
_POSIX: Final = os.name == "posix"
_LOOSE_BITS: Final = 0o077
_WHERE_KEYS: Final = "'ues receipts key' prints the public key of this state directory, to be kept elsewhere."
_FILE_LIMIT: Final = 10_000
"""Bytes of a key file, at most; a PEM of Ed25519 has about 120."""
_HEX_KEY = re.compile(r"[0-9a-fA-F]{64}")


class PublicKey:
    """A key that signatures are checked against."""

    __slots__ = ("_key", "key_id", "raw")

    def __init__(self, raw: bytes) -> None:
        if len(raw) != 32:
            raise ValueError(f"an Ed25519 public key has 32 bytes, not {len(raw)}")
        self._key = Ed25519PublicKey.from_public_bytes(raw)
        self.raw: Final = raw
        self.key_id: Final = hashlib.sha256(raw).hexdigest()[:16]

    def verifies(self, signature: bytes, message: bytes) -> bool:
        """Whether ``signature`` is this key's signature over exactly ``message``."""
        try:
            self._key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    @property
    def pem(self) -> str:
        """SubjectPublicKeyInfo, PEM."""
        return self._key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode("ascii")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PublicKey) and other.raw == self.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"<PublicKey {self.key_id}>"


class SigningKey:
    """A private key in memory. Its representation shows the key id only."""

    __slots__ = ("_key", "public")

    def __init__(self, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.public: Final = PublicKey(self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))

    @property
    def key_id(self) -> str:
        """16 hex characters."""
        return self.public.key_id

    def sign(self, message: bytes) -> bytes:
        """The 64-byte signature over ``message``."""
        return self._key.sign(message)

    def _pem(self) -> bytes:
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def __repr__(self) -> str:
        return f"<SigningKey {self.key_id}>"


def load_or_create_key(directory: Path, entropy: Entropy) -> SigningKey:
    """The signing key of ``directory``, made on first use (mode 0600, in a folder of mode 0700).

    Processes that race get the same key: each writes a file of its own and links it into place, and a link never replaces.
    Raises ``LedgerError`` (``key-unreadable``) when the key cannot be read or made, or others may read it.
    """
    path = directory / PRIVATE_FILE
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.path.lexists(path):
            _create(path, SigningKey(entropy(32)), entropy(8).hex())
        key = _load(path)
        _publish(directory / PUBLIC_FILE, key.public, entropy(8).hex())
    except OSError as error:
        raise _unreadable(f"The signing key {path} cannot be read or made: {error.strerror or error}.") from error
    return key


def load_public_key(directory: Path) -> PublicKey:
    """The public key of a state directory, without touching the private one."""
    return read_public_key(directory / PUBLIC_FILE)


def read_public_key(path: Path) -> PublicKey:
    """A public key out of a file: PEM, or 64 hex characters."""
    try:
        with path.open("rb") as file:
            text = file.read(_FILE_LIMIT).decode("ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not ASCII text"
        raise _unreadable(f"The public key {path} cannot be read: {reason}.") from error
    return parse_public_key(text, source=str(path))


def parse_public_key(text: str, *, source: str = "the given key") -> PublicKey:
    """A public key out of text: PEM, or 64 hex characters. Raises ``LedgerError`` (``key-unreadable``)."""
    stripped = text.strip()
    if _HEX_KEY.fullmatch(stripped):
        return PublicKey(bytes.fromhex(stripped))
    try:
        key = load_pem_public_key(stripped.encode("ascii"))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _unreadable(f"{source} is no public key: expected PEM or 64 hex characters.", next_step=_WHERE_KEYS) from error
    if not isinstance(key, Ed25519PublicKey):
        raise _unreadable(f"{source} is a key of another kind: expected Ed25519.", next_step=_WHERE_KEYS)
    return PublicKey(key.public_bytes(Encoding.Raw, PublicFormat.Raw))


# -- private ---------------------------------------------------------------------------------------------------------


def _create(path: Path, key: SigningKey, unique: str) -> None:
    temporary = path.with_name(f".{path.name}.{unique}.tmp")
    _write_new(temporary, key._pem(), 0o600)
    try:
        if _POSIX:
            os.link(temporary, path)
        else:
            temporary.rename(path)
    except FileExistsError:
        pass
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    sync_directory(path.parent)


def _publish(path: Path, public: PublicKey, unique: str) -> None:
    if path.exists():
        if read_public_key(path) != public:
            raise _unreadable(
                f"{path} does not belong to the signing key beside it.",
                next_step=f"Find out who changed it; if nobody relies on it, remove {path} and start again.",
            )
        return
    temporary = path.with_name(f".{path.name}.{unique}.tmp")
    _write_new(temporary, public.pem.encode("ascii"), 0o644)
    temporary.replace(path)
    sync_directory(path.parent)


def _load(path: Path) -> SigningKey:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise _unreadable(f"The signing key {path} is not an ordinary file.")
        if _POSIX and status.st_mode & _LOOSE_BITS:
            mode = stat.S_IMODE(status.st_mode)
            raise _unreadable(
                f"The signing key {path} can be read by others (mode {mode:04o}).",
                next_step=f"Run: chmod 600 {path}; if others may have read it, remove it so that a new one is made.",
            )
        pem = os.read(descriptor, _FILE_LIMIT)
    finally:
        os.close(descriptor)
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unreadable(f"The signing key {path} is damaged.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _unreadable(f"The signing key {path} is of another kind: expected Ed25519.")
    return SigningKey(key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption()))


def _write_new(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with suppress(FileNotFoundError):
            path.unlink()
        raise


def sync_directory(directory: Path) -> None:
    """Flush a directory's entries to disk, where the platform can."""
    if not _POSIX:
        return
    descriptor = os.open(directory, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unreadable(sentence: str, *, next_step: str = "") -> LedgerError:
    default = "Check the state directory's permissions, or choose another one with UES_STATE_DIR."
    return LedgerError(sentence, code=Code.KEY_UNREADABLE, next_step=next_step or default)
