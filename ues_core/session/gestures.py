"""From an action and a node's live facts to one gesture, or a refusal. Pure."""

from __future__ import annotations

from ues_core.contract import (
    Action,
    AnswerDialog,
    Click,
    ClickGesture,
    Code,
    DoubleClick,
    Drag,
    DragGesture,
    Fill,
    FillGesture,
    Gesture,
    HitStatus,
    Hover,
    HoverGesture,
    Inspection,
    NodeFacts,
    NodeKey,
    Press,
    PressGesture,
    Refusal,
    Scroll,
    ScrollGesture,
    Select,
    SelectGesture,
    Type,
    TypeGesture,
    Upload,
    UploadGesture,
    Verb,
)

EXTERNAL_VERBS = frozenset(
    {
        Verb.SUBMIT,
        Verb.PURCHASE,
        Verb.PAYMENT,
        Verb.DELETE,
        Verb.DESTRUCTIVE_CONFIRM,
        Verb.SEND_MESSAGE,
        Verb.CREATE_ORDER,
        Verb.PUBLISH,
        Verb.ACCOUNT_MUTATION,
    }
)
"""Verbs by which the host itself declares an external side effect; each is dispatched as a click."""

WHEREVER = frozenset({"Escape", "Tab", "PageDown", "PageUp", "Home", "End", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"})
"""Keys that may be pressed without a node: they move about. A character could be typed into a secret, Enter could send."""

_TEXT = frozenset({Verb.FILL, Verb.TYPE})
_KEYED = _TEXT | {Verb.PRESS}
_POINTER = EXTERNAL_VERBS | {Verb.CLICK, Verb.DOUBLE_CLICK, Verb.HOVER, Verb.DRAG}
_UNHINDERED = frozenset({Verb.SCROLL})
"""Verbs that need no interactive, enabled or visible target."""

_HIT_CODES = {
    HitStatus.NOT_VISIBLE: (Code.TARGET_NOT_VISIBLE, "The node is not visible."),
    HitStatus.OFF_VIEWPORT: (Code.TARGET_OFF_VIEWPORT, "The node is outside the viewport."),
    HitStatus.OCCLUDED: (Code.TARGET_OCCLUDED, "Something else covers the node"),
    HitStatus.DETACHED: (Code.TARGET_GONE, "The node is no longer in the document."),
}
_HIT_STEPS = {
    Code.TARGET_OFF_VIEWPORT: 'Scroll to it with {"verb": "scroll", "ref": ...}, observe again and repeat.',
    Code.TARGET_OCCLUDED: "Deal with what covers it, or scroll; then observe again.",
    Code.TARGET_NOT_VISIBLE: "Observe again; make it visible first.",
    Code.TARGET_GONE: "Observe again.",
}


def check_operable(verb: Verb, facts: NodeFacts) -> None:
    """Refuse a target that cannot take the verb: not interactive, disabled, not editable. Order as in the reference."""
    if verb in _UNHINDERED:
        return
    if not facts.bindable:
        raise Refusal("The driver could not keep this node.", code=Code.TARGET_UNBINDABLE, next_step="Observe again.")
    if not facts.interactive and verb not in (Verb.HOVER, Verb.DRAG):
        raise Refusal(
            f"A {facts.role or facts.tag or 'node'} is not interactive.",
            code=Code.TARGET_NOT_INTERACTIVE,
            next_step="Choose a node that is listed as interactive.",
        )
    if facts.disabled:
        raise Refusal("The node is disabled.", code=Code.TARGET_DISABLED, next_step="Enable it first; observe again.")
    if verb in _TEXT and not facts.editable:
        raise Refusal("The node takes no text.", code=Code.TARGET_NOT_EDITABLE, next_step="Choose an editable node.")


def check_hit(verb: Verb, inspection: Inspection) -> None:
    """Refuse a node that a pointer would not meet. Scrolling needs no hit; keys and text for what has the focus need no pointer."""
    if verb in _UNHINDERED or inspection.hit is None:
        return
    hit = inspection.hit
    if hit.status is HitStatus.CLEAR:
        return
    facts = inspection.facts
    if hit.status is HitStatus.OCCLUDED and verb in _KEYED and facts is not None and facts.states.focused:
        # An editor draws its text over the field that it types into; with the focus there, keys go there whatever lies above.
        return
    code, sentence = _HIT_CODES[hit.status]
    if code is Code.TARGET_OCCLUDED:
        sentence = f"{sentence}: {hit.covered_by}." if hit.covered_by else f"{sentence}."
    raise Refusal(sentence, code=code, next_step=_HIT_STEPS[code])


def gesture_of(action: Action, page: str, key: NodeKey | None, facts: NodeFacts | None, to: NodeKey | None = None) -> Gesture:
    """The one gesture that performs the action. Raises ``Refusal`` for an option that is missing or ambiguous."""
    if isinstance(action, Press):
        if key is None and action.key.removeprefix("Shift+") not in WHEREVER:
            raise Refusal(
                f"'{action.key}' acts on whatever has the focus, which nobody has judged.",
                code=Code.KEY_INVALID,
                next_step=f"Pass the ref of the node. Without one only these are pressed: {', '.join(sorted(WHEREVER))}.",
            )
        return PressGesture(page=page, key=key, chord=action.key)
    if isinstance(action, Scroll):
        return _scroll(action, page, key)
    if key is None or facts is None:
        raise Refusal(
            f"The verb '{action.verb}' needs a ref.", code=Code.ACTION_INVALID, next_step="Pass a ref of an observed node."
        )
    match action:
        case Click():
            return ClickGesture(page=page, key=key, button=action.button, modifiers=action.modifiers)
        case DoubleClick():
            return ClickGesture(page=page, key=key, count=2, modifiers=action.modifiers)
        case Hover():
            return HoverGesture(page=page, key=key)
        case Fill():
            return FillGesture(page=page, key=key, text=action.text)
        case Type():
            return TypeGesture(page=page, key=key, text=action.text)
        case Select():
            return SelectGesture(page=page, key=key, index=option_index(facts, action.option))
        case Upload():
            return UploadGesture(page=page, key=key, files=action.files)
        case Drag():
            if to is None:
                raise Refusal("A drag needs a node to drag to.", code=Code.ACTION_INVALID, next_step="Pass 'to'.")
            return DragGesture(page=page, key=key, to=to)
        case AnswerDialog():
            raise Refusal("A dialog is answered, not touched.", code=Code.ACTION_INVALID)
        case _:
            return ClickGesture(page=page, key=key)


def option_index(facts: NodeFacts, wanted: str) -> int:
    """The option to choose: by label (white space folded) first, by exact value second; never a guess."""
    if facts.tag != "select":
        raise Refusal(
            "Options can be chosen in a native select only.",
            code=Code.NOT_A_SELECT,
            next_step="Click the control, observe, and click the option.",
        )
    label = " ".join(wanted.split())
    by_label = [i for i, o in enumerate(facts.options) if " ".join(o.label.split()) == label]
    if len(by_label) > 1:
        raise Refusal(
            f"{len(by_label)} options have this label.",
            code=Code.OPTION_AMBIGUOUS,
            next_step="Labels decide before values; the page has to make them differ.",
        )
    found = by_label or [i for i, o in enumerate(facts.options) if o.value == wanted]
    if len(found) != 1:
        code = Code.OPTION_AMBIGUOUS if found else Code.OPTION_MISSING
        raise Refusal(
            "Several options have this value." if found else "No option has this label or value.",
            code=code,
            next_step="Choose one of the options that the observation lists.",
        )
    if facts.options[found[0]].disabled:
        raise Refusal("This option is disabled.", code=Code.TARGET_DISABLED, next_step="Choose another option.")
    return found[0]


def _scroll(action: Scroll, page: str, key: NodeKey | None) -> Gesture:
    if key is None and action.direction is None:
        raise Refusal(
            "A scroll needs a ref, a direction, or both.", code=Code.ACTION_INVALID, next_step="Pass 'ref' or 'direction'."
        )
    if action.amount is not None and action.direction is None:
        raise Refusal("An amount needs a direction.", code=Code.ACTION_INVALID, next_step="Pass 'direction'.")
    return ScrollGesture(page=page, key=key, direction=action.direction, amount=action.amount)


def is_pointer(verb: Verb) -> bool:
    """Whether the verb is performed with the pointer."""
    return verb in _POINTER
