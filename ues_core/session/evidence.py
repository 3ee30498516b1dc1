"""Bounded, redacted evidence: what a driver's events become, and which of them a person has to answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ues_core.contract import (
    DialogNote,
    DriverEvent,
    EventKind,
    Events,
    EvidenceEntry,
    EvidenceReport,
    ExtraDetector,
)
from ues_core.redact import redact_and_clip, scrub_url
from ues_core.session._text import iso

RING = 400
"""Entries kept per session (reference: 200 console and 200 network entries)."""
TEXT_LIMIT = 800
"""Characters of a console text."""

_ERRORS = frozenset({"error", "assert", "severe", "pageerror"})


class EvidenceBook:
    """The events of one session. Reading does not clear; ``since`` pages on."""

    def __init__(self, extra: tuple[ExtraDetector, ...] = ()) -> None:
        self._ring: deque[EvidenceEntry] = deque(maxlen=RING)
        self._extra = extra
        self._sequence = 0
        self._dropped = 0
        self._dialogs: dict[str, DialogNote] = {}
        self.console_errors = 0
        self.network_failures = 0

    @property
    def last_sequence(self) -> int:
        """Sequence number of the newest entry; 0 before the first."""
        return self._sequence

    def take(self, events: Events) -> tuple[DriverEvent, ...]:
        """Keep what a driver drained; the raw events are returned for the action path to look at."""
        self._dropped += events.dropped
        for event in events.events:
            self._keep(event)
        return events.events

    def _keep(self, event: DriverEvent) -> None:
        self._sequence += 1
        if event.kind is EventKind.PAGE_ERROR or (event.kind is EventKind.CONSOLE and event.level in _ERRORS):
            self.console_errors += 1
        failed = event.kind is EventKind.NETWORK_FAILED or (event.status is not None and event.status >= 400)
        if failed:
            self.network_failures += 1
        text = redact_and_clip(event.text, TEXT_LIMIT, extra=self._extra)
        if event.kind is EventKind.DIALOG and event.dialog:
            held = event.level == "held"
            note = DialogNote(dialog=event.dialog, kind=str(event.dialog_kind or ""), message=text[:400], held=held)
            if event.level == "closed":
                self._dialogs.pop(event.dialog, None)
            elif held:
                self._dialogs[event.dialog] = note
        if len(self._ring) == RING:
            self._dropped += 1
        self._ring.append(
            EvidenceEntry(
                sequence=self._sequence,
                at=iso(event.at),
                kind=str(event.kind),
                page=event.page,
                level=event.level,
                text=text,
                url=scrub_url(event.url) if event.url else "",
                method=event.method,
                status=event.status,
                resource=event.resource,
            )
        )

    def answered(self, dialog: str) -> None:
        """A held dialog was answered."""
        self._dialogs.pop(dialog, None)

    def held(self) -> tuple[DialogNote, ...]:
        """Dialogs that wait for an answer."""
        return tuple(self._dialogs.values())

    def report(self, owner: str, session: str, *, since: int, limit: int, kinds: Iterable[str] | None) -> EvidenceReport:
        """The oldest ``limit`` entries after ``since``, so that a reader can page on with ``last_sequence``."""
        wanted = None if kinds is None else frozenset(kinds)
        entries = [e for e in self._ring if e.sequence > since and (wanted is None or e.kind in wanted)]
        shown = entries[:limit]
        return EvidenceReport(
            owner=owner,
            session=session,
            entries=tuple(shown),
            dropped=self._dropped + len(entries) - len(shown),
            last_sequence=shown[-1].sequence if shown else max(since, 0),
            console_errors=self.console_errors,
            network_failures=self.network_failures,
        )
