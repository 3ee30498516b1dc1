"""Structures: texts redacted in place, credential-named values masked whole, bounds closed."""

from __future__ import annotations

from ues_core.redact import MASK, redact_structure


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
