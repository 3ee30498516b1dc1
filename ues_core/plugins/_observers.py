"""The observer bus: observers run off the action path, bounded in number of events and in time, and fail alone.

Two daemon threads, started with the first event: one hands events out, the other runs the observers, one call at a time. A
call that outlives its bound is given up: its observer is switched off for this bus, its thread is left to itself (a thread
cannot be killed; a daemon does not keep the interpreter alive) and a new one takes over. An observer that holds the
interpreter's lock without end can stall the process; the boundary against that is a process of its own.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from ues_core.contract import Model
from ues_core.hooks import OBSERVER_HOOKS
from ues_core.plugins._contributions import Observer
from ues_core.plugins._importing import describe

QUEUE_LIMIT: Final = 256
"""Events that wait; more are dropped and counted."""
CALL_SECONDS: Final = 2.0
"""The bound of one call of one observer."""
CLOSE_SECONDS: Final = 2.0
"""How long ``close`` waits for what is queued."""


class ObserverFailure(Model):
    """Why an observer was switched off."""

    distribution: str
    hook: str
    cause: str


class ObserverReport(Model):
    """What became of the events so far."""

    delivered: int
    """Calls that returned."""
    dropped: int
    """Events that found the queue full or the bus closed."""
    disabled: tuple[ObserverFailure, ...] = ()


class ObserverBus:
    """Hands frozen, redacted models to observers. ``emit`` never blocks and never raises for an observer's sake."""

    def __init__(
        self,
        observers: Sequence[Observer],
        *,
        queue_limit: int = QUEUE_LIMIT,
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        self._observers = [o for o in observers if any(_implements(o, hook) for hook in OBSERVER_HOOKS)]
        self._call_seconds = call_seconds
        self._events: queue.Queue[tuple[str, Model] | None] = queue.Queue(queue_limit)
        self._lock = threading.Lock()
        self._disabled: dict[int, ObserverFailure] = {}
        self._delivered = 0
        self._dropped = 0
        self._closed = False
        self._dispatcher: threading.Thread | None = None
        self._runner: _Runner | None = None

    def emit(self, hook: str, receipt: Model) -> None:
        """Queue one event for every observer of ``hook``."""
        if hook not in OBSERVER_HOOKS:
            raise ValueError(f"{hook} is no observer hook")
        if not self._observers:
            return
        with self._lock:
            if self._closed:
                self._dropped += 1
                return
            try:
                self._events.put_nowait((hook, receipt))
            except queue.Full:
                self._dropped += 1
                return
            if self._dispatcher is None:
                self._start()

    def _start(self) -> None:
        dispatcher = threading.Thread(target=self._dispatch, name="ues-observer-bus", daemon=True)
        try:
            dispatcher.start()
        except RuntimeError:  # no thread starts any more while the interpreter ends
            self._closed = True
            self._dropped += 1
        else:
            self._dispatcher = dispatcher

    def report(self) -> ObserverReport:
        """What was delivered, dropped and disabled so far."""
        with self._lock:
            return ObserverReport(delivered=self._delivered, dropped=self._dropped, disabled=tuple(self._disabled.values()))

    def close(self, seconds: float = CLOSE_SECONDS) -> ObserverReport:
        """Deliver what is queued, for at most ``seconds``, and stop. Blocks; idempotent; a hung observer is left behind."""
        until = time.monotonic() + seconds
        with self._lock:
            self._closed = True
            dispatcher = self._dispatcher
        if dispatcher is not None and dispatcher.is_alive():
            try:
                self._events.put(None, timeout=max(0.0, until - time.monotonic()))
            except queue.Full:
                self._discard()
            dispatcher.join(max(0.0, until - time.monotonic()))
            if dispatcher.is_alive():
                self._discard()
        return self.report()

    def _discard(self) -> None:
        """Empty the queue and leave the stop sign in it, so that the dispatcher ends with the call that it is in."""
        while True:
            try:
                event = self._events.get_nowait()
            except queue.Empty:
                break
            if event is not None:
                with self._lock:
                    self._dropped += 1
        self._events.put_nowait(None)

    def _dispatch(self) -> None:
        while (event := self._events.get()) is not None:
            hook, receipt = event
            for index, observer in enumerate(self._observers):
                if index not in self._disabled and _implements(observer, hook):
                    self._call(index, observer, hook, receipt)
        if self._runner is not None:
            self._runner.stop()

    def _call(self, index: int, observer: Observer, hook: str, receipt: Model) -> None:
        if self._runner is None:
            try:
                self._runner = _Runner()
            except RuntimeError:  # the interpreter ends: nothing is delivered any more
                return
        finished, error = self._runner.run(lambda: getattr(observer.manager.hook, hook)(receipt=receipt), self._call_seconds)
        if not finished:
            self._runner.stop()
            self._runner = None
            cause = f"it did not return within {self._call_seconds:g} s"
        elif error is not None:
            cause = describe(error)
        else:
            with self._lock:
                self._delivered += 1
            return
        with self._lock:
            self._disabled[index] = ObserverFailure(distribution=observer.distribution, hook=hook, cause=cause)


class _Call:
    """One call on its way through a runner."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self.done = threading.Event()
        self.error: BaseException | None = None


class _Runner:
    """One daemon thread that runs one call after the other."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        threading.Thread(target=self._loop, name="ues-observer", daemon=True).start()

    def run(self, work: Callable[[], object], seconds: float) -> tuple[bool, BaseException | None]:
        """``(whether it returned within the bound, what it raised)``."""
        call = _Call(work)
        self._calls.put(call)
        return call.done.wait(seconds), call.error

    def stop(self) -> None:
        """End the thread once it is free."""
        self._calls.put(None)

    def _loop(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                call.work()
            except BaseException as error:  # noqa: BLE001 - an observer's exception, of whatever kind, is data here
                call.error = error
            call.done.set()


def _implements(observer: Observer, hook: str) -> bool:
    return bool(getattr(observer.manager.hook, hook).get_hookimpls())
