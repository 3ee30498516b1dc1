"""Sections of the host's own - a language server's, a test runner's - on their way into a packet: judged, redacted, bounded.

They can only add: each becomes a row of evidence with a heading of its own, behind what failed and before what is old news.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ues_core.contract import ContextAnswer, ContextNote, ContextQuery, EvidenceKind, EvidenceRow, LeftOut
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import name_reason
from ues_core.redact import clip_text

SECTIONS: Final = 8
"""Sections of one package, at most."""
SECTION_CHARS: Final = 4_000
"""Characters of one section."""
CONTEXT_CHARS: Final = 12_000
"""Characters of all of them together; the packet's own budget comes on top."""
SECONDS: Final = 3.0
"""How long all hook packages of a host are waited for, at most."""
SHOWN_FILES: Final = 200


Collect = Callable[[ContextQuery], Sequence[ContextAnswer]]
"""Asks every hook package; bounded in time, raises nothing."""


def context_rows(
    collected: Sequence[ContextAnswer], clean: Callable[[str], str], tally: Tally
) -> tuple[list[EvidenceRow], list[ContextNote]]:
    """The rows to add and a note for each package. A section about a secret or excluded file is left out and counted."""
    rows: list[EvidenceRow] = []
    notes: list[ContextNote] = []
    room = CONTEXT_CHARS
    for answer in collected:
        chars = kept = 0
        for section in answer.sections[:SECTIONS]:
            reason = name_reason(section.path.replace("\\", "/")) if section.path else None
            if reason is not None:
                tally.add(reason, section.path)
                continue
            text = clip_text(clean(section.text), min(SECTION_CHARS, room)) if room >= 100 else ""
            if not text.strip():
                tally.add(LeftOut.OVER_BUDGET if section.text.strip() else LeftOut.IRRELEVANT)
                continue
            title = clean(section.title)
            source = f"{title}: {clean(section.path)}" if section.path else title
            rows.append(
                EvidenceRow(evidence=EvidenceKind.HOST_CONTEXT, source=f"{source} by {answer.distribution}"[:200], text=text)
            )
            room -= len(text)
            chars += len(text)
            kept += 1
        tally.add(LeftOut.OVER_BUDGET, count=len(answer.sections) - SECTIONS)
        notes.append(
            ContextNote(
                distribution=answer.distribution,
                state=answer.state,
                sections=kept,
                chars=chars,
                cause=clean(answer.cause)[:300],
            )
        )
    return rows, notes
