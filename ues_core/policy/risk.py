"""Risk: a deterministic judgement of one action on one live node. What a model says about its own action is never asked.

The order of judgement: unknown verb, download, file input, credential entry, dangerous key, human verification, then the terms
of ``lexicon.py``: destructive, financial, external commit, security. The first that applies decides. It starts from the rules
of the browser seed and looks further: more languages, descriptions, identifiers of nameless icons, the group that a bare
"Confirm" belongs to, the paths of a link and of a form's action.

``submits`` alone is no external side effect: a search submits as well. With an unknown name its level is *possible*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

from ues_core.contract import Model, NodeFacts, RiskTerms
from ues_core.contract.codes import Code
from ues_core.contract.words import ActionClass, RiskLevel, Verb
from ues_core.policy.folding import Folded, fold, split_identifier
from ues_core.policy.lexicon import RISK_CATEGORIES, Lexicon, lexicon
from ues_core.policy.taxonomy import Traits, known_verb, traits


class RiskVerdict(Model):
    """What the judgement found. ``code`` is ``ok`` when nothing stands against the action."""

    code: Code = Code.OK
    level: RiskLevel
    category: str = ""
    """The code as a category of risk; empty when ``code`` is ``ok``."""
    reason: str = ""
    """One sentence. Quotes only terms of ours, folded; never other text of the page."""
    matched: str = ""
    field: str = ""
    """Which fact of the node it was found in."""

    @property
    def ok(self) -> bool:
        """Whether nothing stands against the action."""
        return self.code is Code.OK


SECRET_AUTOCOMPLETE: Final = frozenset(
    {"current-password", "new-password", "one-time-code", "cc-number", "cc-csc", "cc-exp", "cc-exp-month", "cc-exp-year"}
)
"""Tokens of ``autocomplete`` that make a field a secret one, whatever its type."""

_HUMAN_CHECK_HOSTS: Final = ("hcaptcha.com", "challenges.cloudflare.com", "recaptcha.net", "arkoselabs.com", "funcaptcha.com")
_TYPING: Final = frozenset({Verb.FILL, Verb.TYPE})
_IN_A_FIELD: Final = _TYPING | {Verb.CLICK, Verb.DOUBLE_CLICK, Verb.HOVER}
_FIELD_ROLES: Final = frozenset({"textbox", "searchbox", "combobox", "spinbutton"})
_MODIFIERS: Final = {
    "ctrl": "Control",
    "control": "Control",
    "controlormeta": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "meta": "Meta",
    "super": "Meta",
    "win": "Meta",
    "alt": "Alt",
    "option": "Alt",
    "shift": "Shift",
}
_ACTIVATES: Final = frozenset({"enter", "numpadenter", "return", "space", " "})
_COMMAND_KEYS: Final = frozenset({"enter", "numpadenter", "return", "q", "w"})
"""With Control or Meta: send, quit, close."""
_METHOD = re.compile(r"\A\s*(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|TRACE)\s+(?=/|https?://)")
_OPAQUE_ID = re.compile(r"[0-9a-f]{8,}|\d{4,}", re.IGNORECASE)


def judge(
    verb: Verb | str, facts: NodeFacts | None, *, chord: str = "", extra_terms: tuple[RiskTerms, ...] = ()
) -> RiskVerdict:
    """Judge one action.

    ``facts``        the node's live facts; ``None`` when the action has no node (a key pressed on whatever has focus).
    ``chord``        for ``press``: the key or chord, as given.
    ``extra_terms``  contributed terms; they can only add.

    Destructive, financial, external-commit and security verdicts make the action an external side effect.
    """
    row = traits(verb)
    known = known_verb(verb)
    if known is None:
        return _verdict(Code.UNKNOWN_VERB, RiskLevel.UNKNOWN, "The verb is not in the taxonomy.")
    touches = row.action_class in (ActionClass.INTERACTIVE, ActionClass.EXTERNAL_SIDE_EFFECT)
    if known is Verb.PRESS and _is_dangerous(chord):
        return _verdict(
            Code.DANGEROUS_KEY,
            RiskLevel.LIKELY,
            "The chord sends, closes or quits, whatever has focus.",
            matched=chord[:80],
            field="key",
        )
    if known is Verb.UPLOAD:
        return _verdict(Code.FILE_UPLOAD, RiskLevel.LIKELY, "Files would leave this machine.", field="verb")
    if not touches or known is Verb.SCROLL or facts is None:
        return RiskVerdict(level=row.risk)
    return (
        _judge_kind(known, facts, chord)
        or _judge_human(facts, lexicon(extra_terms))
        or _judge_terms(known, facts, chord, lexicon(extra_terms))
        or RiskVerdict(level=_level(row, known, facts, chord, lexicon(extra_terms)))
    )


def is_secret(facts: NodeFacts) -> bool:
    """Whether what is typed into the node is a credential: as the driver says, or by its type or autocomplete."""
    tokens = re.split(r"[\s,]+", facts.autocomplete.lower())
    return facts.secret or facts.input_type.lower() == "password" or not SECRET_AUTOCOMPLETE.isdisjoint(tokens)


# -- what the node is ------------------------------------------------------------------------------------------------


def _judge_kind(verb: Verb, facts: NodeFacts, chord: str) -> RiskVerdict | None:
    if facts.download:
        return _verdict(Code.DOWNLOAD, RiskLevel.LIKELY, "The target downloads a file.", field="download")
    if facts.input_type.lower() == "file":
        return _verdict(Code.FILE_UPLOAD, RiskLevel.LIKELY, "The target takes files of this machine.", field="input_type")
    enters = verb in _TYPING or verb is Verb.SELECT or (verb is Verb.PRESS and _enters_text(chord))
    if enters and is_secret(facts):
        return _verdict(
            Code.CREDENTIAL_ENTRY,
            RiskLevel.LIKELY,
            "The target is a field for a secret; only a person fills it.",
            field="secret",
        )
    return None


def _judge_human(facts: NodeFacts, terms: Lexicon) -> RiskVerdict | None:
    host = urlsplit(facts.frame_origin).hostname or "" if facts.frame_origin else ""
    if any(host == known or host.endswith("." + known) for known in _HUMAN_CHECK_HOSTS):
        return _verdict(Code.HUMAN_VERIFICATION, RiskLevel.LIKELY, "The target is a check for humans.", field="frame_origin")
    for field, text in (("name", facts.name), ("description", facts.description)):
        term = terms.human_verification(fold(text)) if text else None
        if term is not None:
            return _verdict(
                Code.HUMAN_VERIFICATION, RiskLevel.LIKELY, "The target is a check for humans.", matched=term, field=field
            )
    return None


# -- what the node says ----------------------------------------------------------------------------------------------


def _judge_terms(verb: Verb, facts: NodeFacts, chord: str, terms: Lexicon) -> RiskVerdict | None:
    only_types = _is_text_field(facts) and (verb in _IN_A_FIELD or (verb is Verb.PRESS and not _activates(chord)))
    # Typing, or clicking into a field, commits nothing outside; sending does. A field that confirms a deletion or a payment is
    # judged all the same.
    categories = tuple(c for c in RISK_CATEGORIES if not (only_types and c is Code.EXTERNAL_COMMIT_TARGET))
    for field, text in _texts(facts, terms):
        found = terms.risk(text, categories)
        if found is not None:
            return _risky(*found, field)
    if only_types:
        return None
    for field, url, among in (
        ("href", facts.href, (Code.DESTRUCTIVE_TARGET, Code.SECURITY_TARGET)),
        ("form_action", facts.form_action if facts.submits else "", RISK_CATEGORIES),
    ):
        for segment in _segments(url):
            found = terms.is_risk(segment, among)
            if found is not None:
                return _risky(*found, field)
    return None


def _is_text_field(facts: NodeFacts) -> bool:
    return facts.editable and facts.role in _FIELD_ROLES


def _texts(facts: NodeFacts, terms: Lexicon) -> Iterator[tuple[str, Folded]]:
    name = fold(_said(facts))
    yield "name", name
    if facts.description:
        yield "description", fold(facts.description)
    if facts.placeholder:
        yield "placeholder", fold(facts.placeholder)
    if facts.role:
        yield "role", fold(facts.role)
    if facts.group and terms.is_confirmation(name):
        yield "group", fold(facts.group)
    if not name.tight:
        yield "identifier", fold(f"{split_identifier(facts.test_id)} . {split_identifier(facts.dom_id)}")


def _said(facts: NodeFacts) -> str:
    """The name; of what folds a section open, without the HTTP method that the section is about: opening it asks for nothing."""
    opens = facts.states.expanded is not None and not facts.submits
    return _METHOD.sub("", facts.name, count=1) if opens else facts.name


def _segments(url: str) -> Iterator[Folded]:
    """The words of a URL's path, without identifiers; at most the last eight parts."""
    path = urlsplit(url).path if url else ""
    for part in path.split("/")[-8:]:
        if part and not _OPAQUE_ID.fullmatch(part):
            yield fold(split_identifier(unquote(part).rsplit(".", 1)[0]))


def _level(row: Traits, verb: Verb, facts: NodeFacts, chord: str, terms: Lexicon) -> RiskLevel:
    if row.action_class is ActionClass.EXTERNAL_SIDE_EFFECT:
        return row.risk
    activates = verb in (Verb.CLICK, Verb.DOUBLE_CLICK) or (verb is Verb.PRESS and _activates(chord))
    if not facts.submits or not activates:
        return row.risk
    return RiskLevel.NONE if terms.is_harmless_submit(fold(facts.name)) else RiskLevel.POSSIBLE


# -- keys ------------------------------------------------------------------------------------------------------------


def _parse(chord: str) -> tuple[frozenset[str], str]:
    """A chord's modifiers and its key, lower case; ``Control++`` is Control and plus."""
    head, key = (chord[:-1].rstrip("+"), "+") if chord.endswith("+") else (chord.rpartition("+")[0], chord.rpartition("+")[2])
    words = [w.strip().lower() for w in head.split("+") if w.strip()]
    modifiers = frozenset(_MODIFIERS.get(w, w) for w in words)
    return modifiers, key.lower() if key == " " else key.strip().lower()


def _is_dangerous(chord: str) -> bool:
    modifiers, key = _parse(chord)
    key = key.removeprefix("key") if len(key) == 4 else key
    command = bool(modifiers & {"Control", "Meta"})
    if command and key in _COMMAND_KEYS:
        return True
    if key == "f4" and modifiers & {"Alt", "Control"}:
        return True
    return command and "Shift" in modifiers and key in {"delete", "backspace"}


def _activates(chord: str) -> bool:
    return _parse(chord)[1] in _ACTIVATES


def _enters_text(chord: str) -> bool:
    """Whether the chord types a character or pastes."""
    modifiers, key = _parse(chord)
    if modifiers & {"Control", "Meta"}:
        return key.removeprefix("key") == "v"
    if key == "insert":
        return "Shift" in modifiers
    return key == "space" or len(key) == 1 or re.fullmatch(r"(key[a-z]|digit\d|numpad\d)", key) is not None


# -- verdicts --------------------------------------------------------------------------------------------------------

_WHAT: Final = {
    Code.DESTRUCTIVE_TARGET: "destroys something",
    Code.FINANCIAL_TARGET: "spends or moves money",
    Code.EXTERNAL_COMMIT_TARGET: "publishes or sends something",
    Code.SECURITY_TARGET: "changes who may do what",
}


def _risky(code: Code, term: str, field: str) -> RiskVerdict:
    where = field.replace("_", " ")
    return _verdict(code, RiskLevel.LIKELY, f"The target's {where} says '{term}': it {_WHAT[code]}.", matched=term, field=field)


def _verdict(code: Code, level: RiskLevel, reason: str, *, matched: str = "", field: str = "") -> RiskVerdict:
    return RiskVerdict(code=code, level=level, category=str(code), reason=reason, matched=matched, field=field)
