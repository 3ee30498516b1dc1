from __future__ import annotations

import hashlib
import multiprocessing
import os
import secrets
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from ues_core.contract.codes import Code
from ues_core.contract.errors import LedgerError
from ues_core.seal import SigningKey, load_or_create_key, load_public_key, parse_public_key, read_public_key
from ues_core.seal.keys import PRIVATE_FILE, PUBLIC_FILE

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")


def create(directory: Path) -> SigningKey:
    return load_or_create_key(directory, secrets.token_bytes)


def code_and_text(error: pytest.ExceptionInfo[LedgerError]) -> str:
    assert error.value.code is Code.KEY_UNREADABLE
    return str(error.value)


def test_a_key_is_made_once_and_then_the_same(tmp_path: Path) -> None:
    state = tmp_path / "deep" / "state"
    one, two = create(state), create(state)
    assert one.public == two.public == load_public_key(state)
    assert sorted(p.name for p in state.iterdir()) == [PRIVATE_FILE, PUBLIC_FILE]


def test_a_key_id_is_derived_from_the_raw_public_key(tmp_path: Path) -> None:
    key = create(tmp_path)
    assert key.key_id == hashlib.sha256(key.public.raw).hexdigest()[:16]


@posix
def test_only_its_user_may_read_the_key(tmp_path: Path) -> None:
    state = tmp_path / "state"
    create(state)
    assert stat.S_IMODE((state / PRIVATE_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_that_others_may_read_is_refused_with_the_fix(tmp_path: Path, mode: int) -> None:
    create(tmp_path)
    (tmp_path / PRIVATE_FILE).chmod(mode)
    with pytest.raises(LedgerError) as caught:
        create(tmp_path)
    assert f"chmod 600 {tmp_path / PRIVATE_FILE}" in code_and_text(caught)


def test_a_signature_verifies_only_over_its_own_bytes(tmp_path: Path) -> None:
    key = create(tmp_path)
    signature = key.sign(b"message")
    assert key.public.verifies(signature, b"message")
    assert not key.public.verifies(signature, b"massage")
    assert not key.public.verifies(signature[:-1], b"message")


def test_a_damaged_key_is_an_error_and_is_not_replaced(tmp_path: Path) -> None:
    create(tmp_path)
    (tmp_path / PRIVATE_FILE).write_text("no key")
    with pytest.raises(LedgerError) as caught:
        create(tmp_path)
    assert "damaged" in code_and_text(caught)
    assert (tmp_path / PRIVATE_FILE).read_text() == "no key"


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    create(tmp_path)
    other = X25519PrivateKey.generate()
    (tmp_path / PRIVATE_FILE).write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(LedgerError) as caught:
        create(tmp_path)
    assert "Ed25519" in code_and_text(caught)
    with pytest.raises(LedgerError):
        parse_public_key(other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())


@posix
def test_a_key_behind_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    create(tmp_path / "real")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / PRIVATE_FILE).symlink_to(tmp_path / "real" / PRIVATE_FILE)
    with pytest.raises(LedgerError) as caught:
        create(tmp_path / "state")
    code_and_text(caught)


def test_a_public_file_of_another_key_is_refused(tmp_path: Path) -> None:
    create(tmp_path)
    (tmp_path / PUBLIC_FILE).write_text(create(tmp_path / "other").public.pem)
    with pytest.raises(LedgerError) as caught:
        create(tmp_path)
    assert "does not belong" in code_and_text(caught)


def test_a_lost_public_file_is_written_again(tmp_path: Path) -> None:
    key = create(tmp_path)
    (tmp_path / PUBLIC_FILE).unlink()
    create(tmp_path)
    assert load_public_key(tmp_path) == key.public


def test_a_public_key_is_read_from_pem_and_from_hex(tmp_path: Path) -> None:
    key = create(tmp_path)
    (tmp_path / "pin").write_text(key.public.raw.hex().upper() + "\n")
    assert read_public_key(tmp_path / "pin") == key.public
    assert parse_public_key(key.public.pem) == key.public


@pytest.mark.parametrize("text", ["", "abc", "00" * 31, "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"])
def test_what_is_no_public_key_is_an_error_that_says_what_was_expected(text: str) -> None:
    with pytest.raises(LedgerError) as caught:
        parse_public_key(text)
    assert "PEM or 64 hex" in code_and_text(caught)


def test_a_missing_public_key_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(LedgerError) as caught:
        load_public_key(tmp_path)
    assert PUBLIC_FILE in code_and_text(caught)


def test_a_state_directory_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError) as caught:
        create(tmp_path / "file" / "state")
    assert str(tmp_path / "file" / "state") in code_and_text(caught)


def test_the_representation_of_a_key_shows_its_id_only() -> None:
    key = SigningKey(b"\x01" * 32)
    assert repr(key) == f"<SigningKey {key.key_id}>"


def _race(directory: str, results: multiprocessing.SimpleQueue[str]) -> None:
    results.put(create(Path(directory)).key_id)


def test_processes_that_race_get_one_key(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    racers = [context.Process(target=_race, args=(str(tmp_path / "state"), results)) for _ in range(4)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join(60)
    assert len({results.get() for _ in racers}) == 1
    assert sorted(p.name for p in (tmp_path / "state").iterdir()) == [PRIVATE_FILE, PUBLIC_FILE]
