from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import OriginGate, PolicyRefusal, UsageError
from ues_core.contract.codes import Code
from ues_core.policy import check_storage_state, narrow_origins, normalise_origins

SHOP = OriginGate(allowed_origins=("https://app.shop.test", "http://127.0.0.1:8000"))


def test_origins_are_normalised_and_each_kept_once() -> None:
    assert normalise_origins(["HTTPS://Example.test:443/", "https://example.test", "http://[::1]:80"]) == (
        "https://example.test",
        "http://[::1]",
    )


@pytest.mark.parametrize(
    "entry", ["example.test", "https://a.test/path", "https://u:p@a.test", "*", "", "ftp://a.test", "https://*.a.test/x"]
)
def test_what_is_no_origin_is_an_error_that_names_it(entry: str) -> None:
    with pytest.raises(UsageError) as caught:
        normalise_origins([entry])
    assert repr(entry) in caught.value.sentence


@pytest.mark.parametrize(
    ("allowed", "wanted", "result"),
    [
        (None, None, None),
        (None, ["https://a.test/"], ("https://a.test",)),
        (["https://a.test"], None, ("https://a.test",)),
        (["https://a.test", "https://b.test"], ["https://b.test", "https://c.test"], ("https://b.test",)),
        (["https://a.test"], [], ()),
        ([], ["https://a.test"], ()),
        ([], None, ()),
    ],
)
def test_narrowing_allows_what_both_lists_allow(
    allowed: list[str] | None, wanted: list[str] | None, result: tuple[str, ...] | None
) -> None:
    assert narrow_origins(allowed, wanted) == result


origin_lists = st.none() | st.lists(st.sampled_from([f"https://{c}.test" for c in "abcd"]), max_size=4)


@given(origin_lists, origin_lists)
def test_narrowing_never_widens(allowed: list[str] | None, wanted: list[str] | None) -> None:
    result = narrow_origins(allowed, wanted)
    for above in (allowed, wanted):
        if above is not None:
            assert result is not None
            assert set(result) <= set(above)


def cookies(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"cookies": [{"name": "n", "value": "top-secret", **entry} for entry in entries]}


@pytest.mark.parametrize(
    "state",
    [
        {},
        cookies({"domain": "app.shop.test"}),
        cookies({"domain": ".shop.test"}),
        cookies({"domain": ".app.shop.test"}, {"domain": "APP.SHOP.TEST"}),
        cookies({"domain": "127.0.0.1"}),
        cookies({"url": "https://app.shop.test/login?x=1"}),
        {"cookies": [], "origins": [{"origin": "https://app.shop.test", "localStorage": [{"name": "a", "value": "b"}]}]},
    ],
)
def test_state_of_allowed_hosts_passes(state: dict[str, Any]) -> None:
    check_storage_state(state, SHOP)


@pytest.mark.parametrize(
    "state",
    [
        cookies({"domain": "shop.test"}),
        cookies({"domain": "evil.test"}),
        cookies({"domain": ".evil.test"}),
        cookies({"domain": "p.shop.test"}),
        cookies({"domain": "app.shop.test.evil.test"}),
        cookies({"domain": ".127.0.0.1"}),
        cookies({"domain": ".[::1]"}),
        cookies({"domain": ""}),
        cookies({"domain": "."}),
        cookies({"domain": "..shop.test"}),
        cookies({"domain": "*"}),
        cookies({"domain": "*.shop.test"}),
        cookies({"domain": "app.shop.test "}),
        cookies({"domain": "app.shop.test/x"}),
        cookies({"domain": "app.shop.test:443"}),
        cookies({"domain": "user@app.shop.test"}),
        cookies({"domain": 7}),
        cookies({}),
        cookies({"url": "file:///etc/passwd"}),
        cookies({"url": "https://evil.test", "domain": "app.shop.test"}),
        cookies({"domain": "app.shop.test"}, {"domain": "evil.test"}),
        {"cookies": "x"},
        {"cookies": ["x"]},
        {"origins": [{"origin": "https://evil.test"}]},
        {"origins": [{"origin": "https://app.shop.test/path"}]},
        {"origins": [{}]},
        {"something": []},
    ],
)
def test_state_of_other_hosts_or_shapes_is_refused_without_showing_a_value(state: dict[str, Any]) -> None:
    with pytest.raises(PolicyRefusal) as caught:
        check_storage_state(state, SHOP)
    assert caught.value.code is Code.STORAGE_STATE_REJECTED
    assert "top-secret" not in str(caught.value.as_dict())


def test_without_an_allowlist_only_shape_and_denied_origins_count() -> None:
    check_storage_state(cookies({"domain": "anything.test"}), OriginGate())
    denied = OriginGate(denied_origins=("https://bad.test",))
    for state in (cookies({"domain": "bad.test"}), cookies({"domain": ".test"}), {"origins": [{"origin": "https://bad.test"}]}):
        with pytest.raises(PolicyRefusal):
            check_storage_state(state, denied)


def test_an_empty_allowlist_takes_no_cookie_at_all() -> None:
    with pytest.raises(PolicyRefusal):
        check_storage_state(cookies({"domain": "a.test"}), OriginGate(allowed_origins=()))
