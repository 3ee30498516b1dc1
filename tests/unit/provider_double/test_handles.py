"""The double's conversations are taken up again by their handle, and by no other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import Code, ConsultRequest, ProviderError
from ues_core.reasoning import NoChannel
from ues_provider_double import DoubleProvider
from ues_provider_double._handles import HANDLE_CHARS, conversation_of, handle_of
from ues_provider_double._prompt import Place

PLACES = st.lists(st.builds(Place, st.text(max_size=120), st.integers(0, 10_000)), max_size=6)


@given(st.integers(1, 99), st.integers(0, 99), PLACES)
def test_a_handle_holds_what_fits(generation: int, exchanges: int, places: list[Place]) -> None:
    handle = handle_of(generation, exchanges, places)
    assert len(handle) <= HANDLE_CHARS
    known = conversation_of(handle)
    assert known is not None
    assert known[:2] == (generation, exchanges)
    assert known[2] == [Place(p.path, p.line) for p in places][: len(known[2])]


@given(st.text(max_size=80))
def test_any_other_text_is_no_handle(text: str) -> None:
    assert conversation_of(text) is None
    assert conversation_of(f"double~{text}~0123456789abcdef") is None


async def test_a_conversation_goes_on_in_another_provider_object_with_what_it_saw() -> None:
    first = DoubleProvider(mood="grounded")
    session = await first.start_session(NoChannel())
    request = ConsultRequest(
        request_id="req-00001", nonce="nonce-00001", prompt="- src/a.py (12 bytes; x)\n", prompt_digest="0"
    )
    raw = await first.consult(session, request, 5.0)
    second = DoubleProvider(mood="grounded")
    resumed = await second.start_session(NoChannel(), raw.resume_handle)
    assert (resumed.resumed, resumed.handle, resumed.generation) == (True, raw.resume_handle, 2)
    again = await second.follow_up(resumed, request.model_copy(update={"prompt": "And now?"}), 5.0)
    assert "src/a.py" in again.text
    assert again.generation == 2
    with pytest.raises(ProviderError) as refused:
        await second.start_session(NoChannel(), "double~forged~0")
    assert refused.value.code is Code.RESUME_REFUSED
