"""``WebChatSite``: a chat site described as plain data. The core's engine drives any site from it; a provider brings only this.

Selectors are lists tried in order; a list is a ladder, best evidence first. A step that matches more than one element where
one is needed is a failure, never a guess.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from ues_core.contract._base import Model


class Locator(Model):
    """One rung of a ladder: by role and name, by test id, by label, or by a bounded selector."""

    role: str = Field(default="", max_length=60)
    name: tuple[str, ...] = ()
    """Accepted names, one per language; case-insensitive."""
    test_id: str = Field(default="", max_length=200)
    label: str = Field(default="", max_length=200)
    selector: str = Field(default="", max_length=500)
    variant: str = Field(default="", max_length=60)
    """Which of several concurrent versions of the site it belongs to; empty for all."""


class TextSign(Model):
    """A wall, an error or a state that visible text announces, in several languages."""

    kind: Literal[
        "login",
        "challenge",
        "rate-limit",
        "busy",
        "muted",
        "too-long",
        "error",
        "retry",
        "network",
        "expired",
        "upsell",
        "continue",
    ]
    phrases: tuple[str, ...] = Field(min_length=1)
    within: tuple[Locator, ...] = ()
    """Where the text must stand; empty for the page outside of turns."""


class SendControl(Model):
    """The control that sends, and how its states are told apart. On some sites send and stop are one element."""

    send: tuple[Locator, ...] = ()
    stop: tuple[Locator, ...] = ()
    same_element: bool = False
    idle_signs: tuple[Locator, ...] = ()
    busy_signs: tuple[Locator, ...] = ()
    disabled_signs: tuple[Locator, ...] = ()
    enter_sends: bool = False


class TurnShape(Model):
    """How turns, answers and reasoning are recognised."""

    # what is dumped by field name has to validate again: that is how a provider's info is checked
    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    list_: tuple[Locator, ...] = Field(default=(), alias="list")
    user_turn: tuple[Locator, ...] = ()
    assistant_turn: tuple[Locator, ...] = ()
    answer: tuple[Locator, ...] = ()
    reasoning: tuple[Locator, ...] = ()
    turn_key: str = Field(default="", max_length=120)
    """Attribute that identifies a turn across re-rendering."""
    virtualised: bool = False


class Completion(Model):
    """Positive evidence that an answer is complete: a conjunction, never silence."""

    done_signs: tuple[Locator, ...] = ()
    action_bar: tuple[Locator, ...] = ()
    stable_seconds: float = Field(default=2.0, ge=0.2, le=30)
    truncated_signs: tuple[Locator, ...] = ()


class Toggle(Model):
    """A mode switch (reasoning, search, model). Set idempotently; the reached state is read back."""

    name: str = Field(max_length=60)
    control: tuple[Locator, ...]
    on_signs: tuple[Locator, ...] = ()
    default: bool | None = None


class AccountSigns(Model):
    """What tells a logged-in page from a logged-out shell. Only booleans and counts leave the page."""

    logged_in: tuple[Locator, ...] = ()
    logged_out: tuple[Locator, ...] = ()
    login_paths: tuple[str, ...] = ()
    history_item: tuple[Locator, ...] = ()
    min_history: int = Field(default=2, ge=1, le=50)


class WebChatSite(Model):
    """Everything the engine needs to know about one site."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str = Field(default="", max_length=80)
    entry_urls: tuple[str, ...] = Field(min_length=1, max_length=8)
    origins: tuple[str, ...] = Field(min_length=1, max_length=16)
    """Every origin that top-level documents may have; needs the operator's trust."""
    conversation_path: str = Field(default="", max_length=200)
    """Regular expression of a conversation's path; its group ``id`` is the opaque handle."""
    composer: tuple[Locator, ...] = Field(min_length=1)
    composer_kind: Literal["textarea", "contenteditable"] = "textarea"
    send: SendControl = SendControl()
    turns: TurnShape = TurnShape()
    completion: Completion = Completion()
    account: AccountSigns = AccountSigns()
    signs: tuple[TextSign, ...] = ()
    toggles: tuple[Toggle, ...] = ()
    model_label: tuple[Locator, ...] = ()
    prompt_limit: int = Field(default=60_000, ge=1_000, le=2_000_000)
    """Characters of a prompt, at most."""
    settle_seconds: float = Field(default=6.0, ge=0, le=60)
    answer_seconds: float = Field(default=120.0, ge=5, le=3_600)
    variants: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    measured: str = Field(default="", max_length=40)
    """When, and by whom, these facts were last measured."""
