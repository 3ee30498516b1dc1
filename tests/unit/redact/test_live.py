"""Values of the host's own environment: masked wherever they turn up, in texts and structures, and never shown."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ues_core.redact import MASK, live_values, redact_structure, redact_text
from ues_core.redact._live import VALUES_MOST

PLAIN = "correct horse, battery"
"""No detector would take this for a secret by its look."""


def test_a_value_is_masked_wherever_it_turns_up() -> None:
    extra = (live_values({"DEPLOY_TOKEN": PLAIN, "HOME": "/home/somebody", "EDITOR": "an ordinary editor"}),)
    assert redact_text(PLAIN).text == PLAIN
    for text in (PLAIN, f"it says {PLAIN}!", f"{PLAIN}{PLAIN}", f"/home/somebody {PLAIN}"):
        assert PLAIN not in redact_text(text, extra=extra).text
    assert redact_text("/home/somebody an ordinary editor", extra=extra).findings == ()
    held, findings = redact_structure({f"about {PLAIN}": ["x", {"y": PLAIN}]}, extra=extra)
    assert PLAIN not in json.dumps(held)
    assert {f.detector for f in findings} == {"environment-value"}
    assert redact_text(f"a {quote(PLAIN)} b", extra=extra).text == f"a {MASK} b"
    assert redact_text(json.dumps('a"b\\c secret'), extra=(live_values({"MY_SECRET": 'a"b\\c secret'}),)).text == f'"{MASK}"'


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("GITHUB_TOKEN", "abcdefgh-1234", True),
        ("STRIPE_KEY", "abcdefgh-1234", True),
        ("app.session", "abcdefgh-1234", True),
        ("DB_PASSWORD", "hunter2hunter2", True),
        ("BASIC_AUTH", "somebody:hunter22", True),
        ("PRIVATE", "something that is private", True),
        ("DATABASE_URL", "postgres://me:hunter2hunter2@db/x", True),
        ("TOKEN_COUNT", "abcdefgh-1234", False),
        ("KEYBOARD", "abcdefgh-1234", False),
        ("SSH_AUTH_SOCK", "/tmp/ssh-XXXX/agent.1234", False),
        ("AUTHOR", "Somebody Else", False),
        ("XDG_SESSION_TYPE", "wayland-session-1", False),
        ("DESKTOP_SESSION", "ubuntu-xorg", False),
        ("SESSION_KEY", "/run/secrets/key", False),
        ("API_KEY", "changeme", False),
        ("API_KEY", "short", False),
        ("SECRET", "production", False),
        ("AUTH_TOKEN", "https://login.example.org", False),
        ("API_KEY", "$OTHER_KEY", False),
        ("PATH", "/usr/bin:/bin", False),
        ("LONG_KEY", "x1" * 3_000, False),
    ],
)
def test_which_variables_hold_a_secret(name: str, value: str, secret: bool) -> None:
    assert bool(live_values({name: value})) is secret


def test_a_password_within_an_address_is_one_too() -> None:
    extra = (live_values({"DATABASE_URL": "postgres://me:hunter2hunter2@db/x"}),)
    assert redact_text("they said hunter2hunter2 aloud", extra=extra).text == f"they said {MASK} aloud"


def test_the_detector_shows_nothing_of_what_it_holds() -> None:
    values = live_values({"DEPLOY_TOKEN": PLAIN})
    for shown in (repr(values), str(values), values.model_dump_json(), str(values.model_dump()), str(dict(values))):
        assert PLAIN not in shown


def test_the_lines_of_a_key_are_found_in_another_layout() -> None:
    lines = [f"{n}QIEpAIBAAKCAQEA7Zk3vQ9xTb7LmR2pWn8Yc" for n in range(3)]
    extra = (live_values({"SIGNING_KEY": "\n".join(lines)}),)
    text = redact_text(f"  - {lines[1]} |", extra=extra).text
    assert lines[1] not in text


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.from_regex(r"[A-Z]{2,8}_(TOKEN|SECRET|KEY|PATH)", fullmatch=True), st.text(min_size=1, max_size=30), max_size=60
    ),
    st.lists(st.text(max_size=20), max_size=5),
)
def test_no_value_that_counts_is_left(environment: dict[str, str], words: list[str]) -> None:
    values = live_values(environment)
    text = " ".join([*words, *environment.values(), *words])
    left = redact_text(text, extra=(values,)).text
    assert not any(literal in left.replace(MASK, "\0") for literal in values.literals)
    assert len(values.literals) <= VALUES_MOST * 6
