"""Observers run off the action path, bounded in number and time, and fail alone."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ues_core.contract import Code, ConsultReceipt, GateReceipt, ObservationReceipt, SessionReceipt, hookimpl
from ues_core.plugins import Observer, ObserverBus

Make = Callable[..., Observer]


def gate(number: int = 0) -> GateReceipt:
    return GateReceipt(receipt_id=f"r{number}", owner="o", allowed=True, code=Code.OK)


class Recorder:
    """Remembers what it was shown, and on which thread."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.threads: set[str] = set()

    @hookimpl
    def ues_gate_decided(self, receipt: Any) -> None:
        self.seen.append(receipt)
        self.threads.add(threading.current_thread().name)


class Hung:
    def __init__(self) -> None:
        self.release = threading.Event()
        self.calls = 0

    @hookimpl
    def ues_gate_decided(self, receipt: Any) -> None:
        self.calls += 1
        self.release.wait(60)


@pytest.fixture
def hung() -> Iterator[Hung]:
    observer = Hung()
    yield observer
    observer.release.set()


def test_events_arrive_in_order_on_another_thread(observer: Make) -> None:
    recorder = Recorder()
    bus = ObserverBus([observer(recorder)])
    for number in range(50):
        bus.emit("ues_gate_decided", gate(number))
    report = bus.close(30)
    assert [r.receipt_id for r in recorder.seen] == [f"r{n}" for n in range(50)]
    assert recorder.threads == {"ues-observer"}
    assert (report.delivered, report.dropped, report.disabled) == (50, 0, ())


def test_each_hook_reaches_its_own_implementation(observer: Make) -> None:
    seen: list[str] = []

    class All:
        @hookimpl
        def ues_receipt_written(self, receipt: Any) -> None:
            seen.append(f"receipt {receipt.kind}")

        @hookimpl
        def ues_observation_made(self) -> None:
            seen.append("observation")

        @hookimpl
        def ues_consultation_finished(self, receipt: Any) -> None:
            seen.append(f"consultation {receipt.provider}")

    bus = ObserverBus([observer(All())])
    bus.emit("ues_receipt_written", SessionReceipt(receipt_id="1", owner="o", session="s", driver="d", event="opened"))
    made = ObservationReceipt(
        receipt_id="2",
        owner="o",
        session="s",
        page="p",
        document="d",
        epoch=1,
        fingerprint="",
        digest="",
        nodes=0,
        truncated=False,
    )
    bus.emit("ues_observation_made", made)
    bus.emit("ues_gate_decided", gate())
    bus.emit("ues_consultation_finished", ConsultReceipt(receipt_id="3", consultation="c", provider="p", outcome="answered"))
    bus.close(30)
    assert seen == ["receipt session", "observation", "consultation p"]


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(1), KeyboardInterrupt()])
def test_one_that_raises_is_recorded_and_disabled_and_the_others_go_on(observer: Make, error: BaseException) -> None:
    class Raising:
        calls = 0

        @hookimpl
        def ues_gate_decided(self, receipt: Any) -> None:
            self.calls += 1
            raise error

    bad, good = Raising(), Recorder()
    bus = ObserverBus([observer(bad, "bad"), observer(good, "good")])
    for number in range(3):
        bus.emit("ues_gate_decided", gate(number))
    report = bus.close(30)
    assert bad.calls == 1
    assert len(good.seen) == 3
    (failure,) = report.disabled
    assert (failure.distribution, failure.hook) == ("bad", "ues_gate_decided")
    assert type(error).__name__ in failure.cause


def test_one_that_outlives_its_bound_is_disabled_and_the_others_go_on(observer: Make, hung: Hung) -> None:
    good = Recorder()
    bus = ObserverBus([observer(hung, "hung"), observer(good, "good")], call_seconds=0.05)
    for number in range(3):
        bus.emit("ues_gate_decided", gate(number))
    report = bus.close(30)
    assert hung.calls == 1
    assert len(good.seen) == 3
    (failure,) = report.disabled
    assert failure.distribution == "hung"
    assert "0.05 s" in failure.cause


def test_a_full_queue_drops_and_counts_and_never_blocks(observer: Make, hung: Hung) -> None:
    bus = ObserverBus([observer(hung)], queue_limit=4, call_seconds=60)
    for number in range(100):
        bus.emit("ues_gate_decided", gate(number))
    assert bus.report().dropped >= 95
    bus.close(0.05)


def test_close_is_bounded_while_an_observer_hangs_and_idempotent(observer: Make, hung: Hung) -> None:
    bus = ObserverBus([observer(hung)], call_seconds=3_600)
    bus.emit("ues_gate_decided", gate())
    bus.emit("ues_gate_decided", gate())
    bus.close(0.05)
    bus.close(0.05)
    bus.emit("ues_gate_decided", gate())
    assert bus.report().dropped == 2
    assert bus.report().delivered == 0


def test_without_observers_no_thread_is_started(observer: Make) -> None:
    class ContributorOnly:
        @hookimpl
        def ues_extra_detectors(self) -> list[Any]:
            return []

    before = set(threading.enumerate())
    for observers in ([], [observer(ContributorOnly())]):
        bus = ObserverBus(observers)
        bus.emit("ues_gate_decided", gate())
        assert bus.close().delivered == 0
    assert set(threading.enumerate()) <= before


def test_two_buses_share_nothing(observer: Make) -> None:
    class Raising:
        @hookimpl
        def ues_gate_decided(self, receipt: Any) -> None:
            if receipt.receipt_id == "r1":
                raise ValueError

    shared = Raising()
    one, two = ObserverBus([observer(shared)]), ObserverBus([observer(shared)])
    one.emit("ues_gate_decided", gate(1))
    two.emit("ues_gate_decided", gate(2))
    assert len(one.close(30).disabled) == 1
    assert two.close(30).disabled == ()


def test_an_unknown_hook_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="ues_nothing"):
        ObserverBus([]).emit("ues_nothing", gate())


def test_a_hung_observer_does_not_keep_the_interpreter_alive() -> None:
    code = """
import threading, pluggy
from ues_core.contract import Code, GateReceipt, hookimpl
from ues_core.hooks import ObserverSpecs
from ues_core.plugins import Observer, ObserverBus
class Hung:
    @hookimpl
    def ues_gate_decided(self): threading.Event().wait()
manager = pluggy.PluginManager("ues"); manager.add_hookspecs(ObserverSpecs); manager.register(Hung())
bus = ObserverBus([Observer("hung", manager)], call_seconds=3600)
bus.emit("ues_gate_decided", GateReceipt(receipt_id="r", owner="o", allowed=True, code=Code.OK))
print("end of the program")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "end of the program", "")
