"""Structures: texts redacted in place, credential-named values masked whole, bounds closed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ues_core.redact import MASK, redact_structure, redact_text


def test_values_under_credential_names_are_masked_whole() -> None:
    masked, findings = redact_structure({"user": "ann", "authToken": "zzz", "nested": [{"client_secret": {"a": 1}}]})
    assert masked == {"user": "ann", "authToken": MASK, "nested": [{"client_secret": MASK}]}
    assert {f.path for f in findings} == {"authToken", "nested/0/client_secret"}


def test_texts_inside_are_redacted_with_their_path() -> None:
    secret = "ghp_" + "a1B2" * 9
    masked, findings = redact_structure({"log": ["ok", f"token {secret}"]})
    assert masked == {"log": ["ok", f"token {MASK}"]}
    assert findings[0].path == "log/1"
    assert findings[0].detector == "github-token"


def test_empty_and_boolean_values_under_credential_names_stay() -> None:
    obj = {"password": "", "token": None, "secret": True}
    assert redact_structure(obj) == (obj, ())


def test_what_is_too_deep_is_masked_rather_than_passed_on() -> None:
    obj: object = "leaf"
    for _ in range(20):
        obj = [obj]
    masked, findings = redact_structure(obj)
    assert "leaf" not in repr(masked)
    assert any(f.detector == "too-deep" for f in findings)


def test_what_is_too_long_is_cut_closed() -> None:
    masked, findings = redact_structure(list(range(6_000)))
    assert isinstance(masked, list)
    assert len(masked) == 5_001
    assert masked[-1] == MASK
    assert any(f.detector == "too-many" for f in findings)


def test_a_foreign_type_is_masked() -> None:
    masked, findings = redact_structure({"x": object(), "b": b"bytes"})
    assert masked == {"x": MASK, "b": MASK}
    assert [f.detector for f in findings] == ["not-json", "not-json"]


def test_keys_are_redacted_and_each_keeps_its_value() -> None:
    one, two = "ghp_" + "a1B2" * 9, "ghp_" + "b2C3" * 9
    masked, findings = redact_structure({one: 1, two: 2, "plain": {f"of {one}": 3}})
    assert masked == {MASK: 1, f"{MASK} (2)": 2, "plain": {f"of {MASK}": 3}}
    assert [(f.detector, f.path) for f in findings] == [("github-token", ""), ("github-token", ""), ("github-token", "plain")]
    masked, _ = redact_structure({one: 1, MASK: 2})
    assert masked == {MASK: 1, f"{MASK} (2)": 2}


TEXTS = st.text(max_size=20) | st.sampled_from(["ghp_" + "a1B2" * 9, "password=hunter2hunter2", "AKIA" + "A1B2" * 4, MASK])
SHAPES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(SHAPES)
def test_no_shape_keeps_a_secret_or_loses_an_entry(shape: object) -> None:
    def texts(obj: object) -> list[str]:
        if isinstance(obj, str):
            return [obj]
        if isinstance(obj, list):
            return [text for item in obj for text in texts(item)]
        if isinstance(obj, dict):
            return [text for key, item in obj.items() for text in (key, *texts(item))]
        return []

    def entries(obj: object) -> int:
        if isinstance(obj, dict):
            return len(obj)
        return len(obj) if isinstance(obj, list) else 0

    masked, _ = redact_structure(shape)
    assert all(redact_text(text).findings == () for text in texts(masked))
    assert entries(masked) == entries(shape)
