"""Secrets in texts are masked; code, prose and shapes around them survive; the work is linear."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.redact import MASK, redact_and_clip, redact_text

SECRETS = {
    "ghp_" + "a1B2" * 9: "github-token",
    "github_pat_" + "A1b2C3d4" * 4: "github-token",
    "AKIA" + "Z9Y8" * 4: "aws-access-key",
    "sk-proj-abc123def456ghi789jkl": "secret-key",
    "xoxb-123456789012-abcdefABCDEF": "slack-token",
    "AIza" + "Sy0" * 11 + "ab": "google-api-key",
    "sk_live_" + "4eC39Hq" * 4: "stripe-key",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl": "jwt",
    "glpat-" + "aB3" * 8: "gitlab-token",
}


@pytest.mark.parametrize(("secret", "detector"), SECRETS.items())
def test_vendor_tokens_are_masked_wherever_they_stand(secret: str, detector: str) -> None:
    for text in (secret, f"use {secret} now", f'("{secret}")', f"a\n{secret}\nb"):
        redacted = redact_text(text)
        assert secret not in redacted.text
        assert MASK in redacted.text
        found = redacted.findings[0]
        assert found.detector == detector
        assert text[found.start : found.end] == secret


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('password = "hunter2"', 'password = "[REDACTED]"'),
        ('{"api_key": "abc", "n": 1}', '{"api_key": "[REDACTED]", "n": 1}'),
        ("PASSWORD=hunter2", "PASSWORD=[REDACTED]"),
        ("export GITHUB_TOKEN=abc", "export GITHUB_TOKEN=[REDACTED]"),
        ("Authorization: Bearer abc123", "Authorization: [REDACTED]"),
        ("Cookie: a=b; c=d\nHost: x", "Cookie: [REDACTED]\nHost: x"),
        ("password: correct horse battery staple", "password: [REDACTED]"),
        ('password: str = "x1y2"', 'password: str = "[REDACTED]"'),
        ("密码：abc12345", "密码：[REDACTED]"),
        ("Mật khẩu: abc123", "Mật khẩu: [REDACTED]"),
        ("Contraseña: abc123", "Contraseña: [REDACTED]"),
        ("Пароль: abc123", "Пароль: [REDACTED]"),
        ("Api Key: zzz111", "Api Key: [REDACTED]"),
        ("PGPASSWORD=abc psql", "PGPASSWORD=[REDACTED] psql"),
        ("card number: 4111 1111 1111 1111", "card number: [REDACTED]"),
        ("secret = opensesame", "secret = [REDACTED]"),
        ("password='it\\'s'", "password='[REDACTED]'"),
        ('curl -H "X-Api-Key: abc123def"', 'curl -H "X-Api-Key: [REDACTED]"'),
        ("postgres://u:p@ss/w@host/db", "postgres://[REDACTED]@host/db"),
        ("https://user:pw@host/@scope/x", "https://[REDACTED]@host/@scope/x"),
        ("https://h/x?access_token=abc123&y=1", "https://h/x?access_token=[REDACTED]&y=1"),
        ("https://h/x?X-Amz-Signature=00ff11aa&y=1", "https://h/x?X-Amz-Signature=[REDACTED]&y=1"),
        ("Bearer abcdefghij0123456789", "Bearer [REDACTED]"),
    ],
)
def test_a_value_is_masked_and_its_surroundings_keep_their_shape(text: str, masked: str) -> None:
    assert redact_text(text).text == masked


@pytest.mark.parametrize(
    "code",
    [
        "token = get_token()",
        "password: str",
        "def f(token: str | None = None) -> None:",
        "if token == expected:",
        'token = os.environ["TOKEN"]',
        "self.token = token",
        "login(user=user, password=password)",
        "token_count = 5",
        "token = Error",
        "token.nesting = 1",
        "self._cookies[cookie.key] = cookie",
        'TOKEN_COMMENT: "comment",',
        '"input_token": "next_token",',
        "results = call(next_token=next_token, size=2)",
        ":param str secret_key: The secret key part of the credentials.",
        'getpass("Password: ", stream=None)',
        'headers = {"Authorization": f"Bearer {token}"}',
        "password: If True, the password is asked for.",
        "max_tokens: 4096",
        "const secret = config.secret;",
        "const token = await fetchToken();",
        "secret: ${{ secrets.FOO }}",
        '{"password": null, "token": true, "secret": ""}',
        "Fix the token: parser fails on EOF",
        "git@github.com:owner/repo",
        "postgres://host:5432/db?application_name=a@b",
        "task-management-with-1-long-name",
        "https://h/list?key=down&code=404",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    ],
)
def test_code_and_prose_survive(code: str) -> None:
    assert redact_text(code) == (code, ())


def test_a_private_key_is_masked_with_its_line_breaks_kept() -> None:
    text = "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nxyz=\n-----END RSA PRIVATE KEY-----\nb"
    masked = redact_text(text).text
    assert "MIIabc" not in masked
    assert masked.count("\n") == text.count("\n")
    assert masked.splitlines()[-1] == "b"


def test_a_private_key_without_its_end_is_masked_as_far_as_it_goes() -> None:
    masked = redact_text("-----BEGIN PRIVATE KEY-----\nMIIabcdef0123\nzzzz").text
    assert "MIIabc" not in masked


def test_a_secret_at_the_clip_border_is_redacted_before_it_is_cut() -> None:
    secret = "ghp_" + "a1B2" * 9
    text = "x" * 600 + " " + secret + " " + "y" * 600
    clipped = redact_and_clip(text, 640)
    assert len(clipped) <= 640
    assert "ghp_" not in clipped
    assert "characters left out" in clipped


def test_clipping_keeps_the_last_line() -> None:
    clipped = redact_and_clip("head\n" + "noise\n" * 500 + "AssertionError: 1 != 2", 400)
    assert clipped.startswith("head")
    assert clipped.endswith("AssertionError: 1 != 2")
    assert len(clipped) <= 400


@given(st.text(max_size=400), st.sampled_from(sorted(SECRETS)), st.text(max_size=400))
def test_no_secret_survives_in_any_text(before: str, secret: str, after: str) -> None:
    assert secret not in redact_text(f"{before} {secret} {after}").text


FRAGMENTS = [
    "password",
    "token",
    "=",
    ":",
    " ",
    '"',
    "'",
    "\n",
    "://",
    "a@b",
    "?key=",
    "ghp_" + "a1" * 18,
    "x1y2z3",
    "eyJ",
    ".",
    "sk-",
    "[",
    "-----BEGIN PRIVATE KEY-----",
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact_text(text).text
    assert redact_text(once).text == once


@given(st.text(max_size=300), st.integers(min_value=0, max_value=200))
def test_a_clipped_text_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert len(redact_and_clip(text, limit)) <= max(limit, 0)


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "a=",
        "eyJ",
        "://",
        "password:",
        "-----BEGIN PRIVATE KEY-----",
        "?a=",
        "sk-",
        'password="',
        "x:@",
        "token.",
        "eyJaaaaaaaaaa.",
        "(?i)\\",
        "bearer ",
        "password: a ",
        "cookie: a",
    ],
)
def test_hostile_repetition_ends(unit: str) -> None:
    """A quadratic detector would need minutes for these; the suite's own timeout is the judge."""
    redact_text(unit * (600_000 // len(unit)))


JSON_KEYS = st.sampled_from(["password", "api_key", "token", "name", "note", "Authorization", "clientSecret"])


@given(
    st.dictionaries(
        JSON_KEYS,
        st.one_of(
            st.text(max_size=40), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.none()
        ),
        max_size=6,
    )
)
def test_redacted_json_is_still_json_with_the_same_keys(obj: dict[str, object]) -> None:
    for text in (json.dumps(obj), json.dumps(obj, indent=2), json.dumps(obj, ensure_ascii=False)):
        masked = json.loads(redact_text(text).text)
        assert list(masked) == list(obj)
