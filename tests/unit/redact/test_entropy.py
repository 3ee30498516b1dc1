"""Tokens that look random are masked without a name in front of them; what is random and public is left alone."""

from __future__ import annotations

import base64
import random
import string
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ues_core
from ues_core.redact import MASK, clip_text, cut_text, redact_and_clip, redact_text

BASE62 = string.ascii_letters + string.digits
ALPHABETS = {
    "base 62": BASE62,
    "base 64": BASE62 + "+/",
    "base 64 for URLs": BASE62 + "-_",
    "base 36": string.ascii_lowercase + string.digits,
}
KEY = "Zk3vQ9xTb7LmR2pWn8YcH4sJd6GfA1eU"
FRAMES = [
    'x = "{}"',
    "x={}",
    "value: {}",
    "the word is {}, they said",
    "'{}'",
    "curl -u me {} https://a.test",
    "<b>{}</b>",
    "({})",
]


@pytest.mark.parametrize("name", ALPHABETS)
@pytest.mark.parametrize("length", [32, 40, 64])
def test_random_tokens_are_found_wherever_they_stand(name: str, length: int) -> None:
    draw = random.Random(length)
    tokens = ["".join(draw.choice(ALPHABETS[name]) for _ in range(length)) for _ in range(300)]
    masked = sum(token not in redact_text(FRAMES[n % len(FRAMES)].format(token)).text for n, token in enumerate(tokens))
    assert masked >= 0.9 * len(tokens)


def test_the_finding_names_its_detector_and_place() -> None:
    (found,) = redact_text(f'setup("{KEY}")').findings
    assert (found.detector, found.start, found.end) == ("high-entropy", 7, 7 + len(KEY))


PUBLIC = [
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    f"id = '{uuid.UUID(int=0x12345678123456781234567812345678)}'",
    '"integrity": "sha512-UWxYmyoO3pGY3yW0ACbLdNMuYKxGvFXhvjHsKJdRM/PGnvWq8UXzKJBGpsvpwYnlWZbNRfRHtWXGOTEw8KmVVA==",',
    "golang.org/x/net v0.17.0 h1:pVaXccu2ozPjCXewfr1S7xza/zcXTity9cCdXQYSjIM=",
    'narHash = "sha256-AU1Yk5bvqNW0h4dQgbyqVqYSrpyrNXqvVpGHhvmVZJQ="',
    'checksum = "Xk3vQ9xTb7LmR2pWn8YcH4sJd6GfA1eU"',
    '<script integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC">',
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
    "url(data:font/woff2;base64,d09GMgABAAAAABqYAA4AAAAANawAABpCAAEAAAAAAAAAAAAAAA)",
    "https://docs.example.org/spreadsheets/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
    "trace=01ARZ3NDEKTSV4RRFFQ69G5FAV",
    'class="css-1q2w3e4r5t6y-MuiButtonBase-root"',
    'import("./chunk-B7xkQ9aZ2pL5mN8vR3tY6wE1.js")',
    "resourceScan/0a699f15-489c-43ca-a3ef-3e6ecfa5da60",
    "from_2FactorAuthenticationV2_ResponseHandler9 import x",
    "NpyDatetime_GetDatetimeISO8601StrLen",
    "ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "group_order = 0x8CB91E82A3386D280F5D6F7E50E641DF152F7109ED5456B31F166E6CAC0425A7CF3AB6AF6B7FC3103B883202E90465",
    "tests/unit/reasoning/test_consultation.py::test_a_follow_up_sends_only_what_changed_in_the_same_session",
    "<svg src='data:image/png;base64," + base64.b64encode(bytes(range(256)) * 4).decode() + "'>",
]


@pytest.mark.parametrize("text", PUBLIC)
def test_what_is_random_and_public_stays(text: str) -> None:
    assert redact_text(text).text == text


def test_a_block_of_base64_is_data_and_not_a_key() -> None:
    draw = random.Random(3)
    lines = [base64.b64encode(draw.randbytes(48)).decode() for _ in range(12)]
    text = "-----BEGIN CERTIFICATE-----\n" + "\n".join(lines) + "\n-----END CERTIFICATE-----\n"
    assert redact_text(text).findings == ()
    for frame in ("+ {}", '    "{}"', "{}| {}"):
        lines = [frame.format(*(n, line) if frame.count("{}") > 1 else (line,)) for n, line in enumerate(text.splitlines(), 98)]
        assert redact_text("\n".join(lines)).findings == ()


def test_a_cut_leaves_no_half_of_a_public_digest() -> None:
    digest = "sha512-UWxYmyoO3pGY3yW0ACbLdNMuYKxGvFXhvjHsKJdRM/PGnvWq8UXzKJBGpsvpwYnlWZbNRfRHtWXGOTEw8KmVVA=="
    for joint in (",\n", " , "):
        lock = joint.join(f'"integrity": "{digest}"' for _ in range(12))
        for limit in range(120, 900):
            clipped = redact_and_clip(lock, limit)
            assert len(clipped) <= limit
            assert redact_text(clipped).findings == (), limit
            assert len(cut_text(lock, limit)) <= limit
            assert redact_text(cut_text(lock, limit)).findings == (), limit


def test_the_kit_s_own_source_is_left_alone() -> None:
    for file in sorted(Path(ues_core.__file__).parent.rglob("*.py")):
        found = [f for f in redact_text(file.read_text(encoding="utf-8")).findings if f.detector == "high-entropy"]
        assert found == [], file


TOKENS = st.text(alphabet=BASE62 + "+/-_", min_size=20, max_size=220)
TEXTS = st.lists(TOKENS | st.text(max_size=30) | st.sampled_from([*PUBLIC, KEY, MASK, "\n", '"', "=", " "]), max_size=8)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.integers(min_value=0, max_value=400))
def test_redacting_is_stable_keeps_lines_and_comes_before_clipping(parts: list[str], limit: int) -> None:
    text = "".join(parts)
    once = redact_text(text)
    assert redact_text(once.text).text == once.text
    assert once.text.count("\n") == text.count("\n")
    assert [f.start for f in once.findings] == sorted(f.start for f in once.findings)
    clipped = redact_and_clip(text, limit)
    assert clipped == clip_text(once.text, limit)
    for found in once.findings:
        secret = text[found.start : found.end]
        if secret not in once.text:
            assert secret not in clipped
