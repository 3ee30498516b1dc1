"""The double answers deterministically, in the mood that its script, its rules, the prompt or its options say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ues_core.contract import AnswerOutcome, CapabilityState, ConfigError, ConsultRequest, RawAnswer
from ues_core.reasoning import NoChannel
from ues_provider_double import DoubleProvider, Mood, Rule, ues_provider

PROMPT = """\
== relevant-files 000
- src/a.py (120 bytes; content) [alpha]
- src/b.py (80 bytes; content)
== exact-snippets 000
### src/a.py lines 8-10
 8| def alpha(number: int) -> int:
 9|     secret = "[REDACTED]" and something longer than the other lines
10|     return 1
== current-diff 000
### src/c.py
  7| not a snippet
"""


def request(prompt: str = PROMPT, number: int = 1) -> ConsultRequest:
    return ConsultRequest(request_id=f"request-{number}", nonce=f"nonce-00{number}", prompt=prompt, prompt_digest="d")


async def answers(provider: DoubleProvider, *prompts: str) -> list[RawAnswer]:
    session = await provider.start_session(NoChannel())
    found = [await provider.consult(session, request(prompt, n), 5.0) for n, prompt in enumerate(prompts, 1)]
    await provider.close_session(session)
    return found


async def test_well_points_at_one_line_of_the_prompt_and_invents_one_module() -> None:
    (raw,) = await answers(DoubleProvider(), PROMPT)
    answer: dict[str, Any] = json.loads(raw.text)
    true, invented = answer["claims"]
    assert (true["path"], true["quote"]) == ("src/a.py:8", "def alpha(number: int) -> int:")
    assert "does_not_exist" in invented["path"]
    assert answer["filesToInspect"] == ["src/a.py", "src/b.py"]
    assert answer["nonce"] == "nonce-001"


async def test_the_same_prompt_gives_the_same_answer() -> None:
    assert await answers(DoubleProvider(), PROMPT) == await answers(DoubleProvider(), PROMPT)


async def test_a_script_comes_first_then_rules_then_the_prompt_then_the_option(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": 'literal "{nonce}"'}, "silent", {"mood": "truncated"}]))
    provider = DoubleProvider(mood=Mood.GROUNDED, rules=[Rule("rule me", Mood.RATE_LIMITED)], script=script)
    prompts = [PROMPT, PROMPT, PROMPT, "please rule me", "double-mood: needs-auth", PROMPT]
    found = await answers(provider, *prompts)
    assert found[0].text == 'literal "nonce-001"'
    assert (found[1].outcome, found[1].text) == (AnswerOutcome.ANSWERED, "")
    assert [a.outcome for a in found[2:5]] == [AnswerOutcome.TRUNCATED, AnswerOutcome.RATE_LIMITED, AnswerOutcome.NEEDS_AUTH]
    assert len(json.loads(found[5].text)["claims"]) == 1


@pytest.mark.parametrize("mood", [m for m in Mood if m not in (Mood.LATE, Mood.RAISES)])
async def test_every_mood_gives_an_answer_of_this_request(mood: Mood) -> None:
    (raw,) = await answers(DoubleProvider(mood=mood), PROMPT)
    assert raw.request_id == "request-1"


async def test_a_prompt_without_places_gives_no_claims() -> None:
    (raw,) = await answers(DoubleProvider(mood=Mood.GROUNDED), "nothing here")
    assert json.loads(raw.text)["claims"] == []


async def test_needing_a_login_shows_in_the_probe() -> None:
    assert (await DoubleProvider().capability()).state is CapabilityState.READY
    assert (await DoubleProvider(mood=Mood.NEEDS_AUTH).capability()).state is CapabilityState.NEEDS_AUTH


def test_the_factory_reads_its_options() -> None:
    assert ues_provider({"mood": "badly", "rules": [{"contains": "x", "mood": "late"}], "delay": 0.1}).info.name == "double"


@pytest.mark.parametrize(
    "options",
    [
        {"mood": "splendid"},
        {"colour": "red"},
        {"delay": "long"},
        {"delay": True},
        {"rules": [{"mood": "late"}]},
        {"rules": [{"contains": "x", "mood": "?"}]},
        {"script": 7},
        {"script": "/nowhere/at/all.json"},
    ],
)
def test_a_wrong_option_is_the_operators_error(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ues_provider(options)


@pytest.mark.parametrize("text", ["{", "{}", '["splendid"]', "[7]"])
def test_a_wrong_script_is_the_operators_error(tmp_path: Path, text: str) -> None:
    script = tmp_path / "script.json"
    script.write_text(text)
    with pytest.raises(ConfigError):
        DoubleProvider(script=script)
