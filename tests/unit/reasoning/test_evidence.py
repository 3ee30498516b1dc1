"""What a consultant asks to see: granted within bounds and sent once by delta, or denied with a reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ues_core.contract import (
    REQUESTABLE,
    ChannelKind,
    Code,
    ConsultOutcome,
    ConsultReceipt,
    ConsultRequest,
    EvidenceDenial,
    EvidenceKind,
    EvidenceRow,
    ExtraDetector,
    ProviderSession,
    RawAnswer,
    ReasoningMode,
    SectionName,
    UsageError,
    WireEvidenceRequest,
)
from ues_core.reasoning import ConsultantOnly, Consultation, ConsultLimits, PacketInputs, Tools, make_channel
from ues_core.reasoning.accuracy._scripted import Scripted
from ues_core.reasoning.evidence import (
    EXCHANGE_CHARS,
    EXCHANGE_REQUESTS,
    KIND_CHARS,
    RUN_CHARS,
    RUN_REQUESTS,
    EvidenceDesk,
    Served,
)
from ues_core.reasoning.packet import RepositoryView
from ues_core.reasoning.report import consultation_report
from ues_provider_double import DoubleProvider, Mood

D = EvidenceDenial
TASK = "Why does the cache keep expired values? The root cause is unclear."
Write = Callable[[Path, str, str], Path]
RunGit = Callable[..., str]


def ask(kind: str, target: str = "") -> WireEvidenceRequest:
    return WireEvidenceRequest(kind=EvidenceKind(kind), target=target, reason="to see it")


def serve(root: Path | None, *asked: WireEvidenceRequest, desk: EvidenceDesk | None = None, **more: Any) -> Served:
    desk = desk or EvidenceDesk(root, frozenset(REQUESTABLE))
    inputs = PacketInputs(task=TASK, repo=root, **more)
    return desk.serve(asked, inputs, room=100_000, view=lambda: RepositoryView(root) if root is not None else None)


def denials(served: Served) -> list[EvidenceDenial | None]:
    return [decision.denial for decision in served.decisions]


def test_each_kind_brings_what_it_names(repository: Path, write_file: Write) -> None:
    write_file(repository, "src/shop/clock.py", "def now() -> float:\n    return 7.0\n")
    log = EvidenceRow(evidence=EvidenceKind.VERIFIER_OUTPUT, source="ruff", text="E501 " * 700)
    asked = [
        ask("file-excerpt", "src/shop/cache.py:15"),
        ask("file-excerpt", "./src/shop/cache.py (ExpiringCache.fetch)"),
        ask("file-excerpt", "SRC/shop/invoice.py"),
        ask("diff", "src"),
        ask("test-names"),
        ask("repo-summary"),
        ask("commits", "README.md"),
        ask("failed-output"),
        ask("verifier-output", "ruff"),
    ]
    rows = [
        serve(repository, wish, evidence=(log,), failing_log="Traceback: everything is broken").rows[0].text for wish in asked
    ]
    assert "15|     def fetch(self" in rows[0]
    assert rows[1].startswith("15|     def fetch")
    assert "5|     return sum(lines)" in rows[2]
    assert "+    return 7.0" in rows[3]
    assert rows[4] == "tests/test_cache.py: test_fetch"
    assert "package shop" in rows[5]
    assert "Open the shop" in rows[6]
    assert rows[7].startswith("Traceback")
    assert 2_000 < len(rows[8]) <= KIND_CHARS[EvidenceKind.VERIFIER_OUTPUT]


def test_what_a_packet_would_not_show_is_denied_with_its_reason(repository: Path, write_file: Write, run_git: RunGit) -> None:
    write_file(repository, ".gitignore", "scratch/\n")
    write_file(repository, "scratch/note.py", "ignored = 1\n")
    write_file(repository, "node_modules/x/index.js", "1\n")
    (repository / "blob.py").write_bytes(b"a\0b")
    outside = repository.parent / "outside.txt"
    outside.write_text("OUTSIDE\n")
    (repository / "link.txt").symlink_to(outside)
    (repository / "linked").symlink_to(repository.parent)
    run_git(repository, "add", "blob.py")
    wanted = {
        "config/.env.production": D.SECRET_PATH,
        ".ENV": D.SECRET_PATH,
        "../outside.txt": D.OUTSIDE_REPOSITORY,
        "/etc/passwd": D.OUTSIDE_REPOSITORY,
        "~/.ssh/config": D.OUTSIDE_REPOSITORY,
        "C:\\x": D.OUTSIDE_REPOSITORY,
        "link.txt": D.OUTSIDE_REPOSITORY,
        "linked/outside.txt": D.OUTSIDE_REPOSITORY,
        "scratch/note.py": D.IGNORED_FILE,
        "node_modules/x/index.js": D.EXCLUDED_PATH,
        ".git/config": D.EXCLUDED_PATH,
        "src/nope.py": D.NO_SUCH_FILE,
        "src": D.TARGET_INVALID,
        "": D.TARGET_INVALID,
        "src/shop/cache.py:9999": D.TARGET_INVALID,
        "src/shop/cache.py (nothing_like_it)": D.NO_SUCH_FILE,
        "blob.py": D.UNREADABLE,
        "a\nb": D.TARGET_INVALID,
        "src/shop/cache.py:5-2": D.TARGET_INVALID,
        "x" * 400: D.NO_SUCH_FILE,
        "x/" * 240: D.NO_SUCH_FILE,
    }
    for target, why in wanted.items():
        served = serve(repository, ask("file-excerpt", target))
        assert denials(served) == [why], target
        assert not served.rows
    for kind in ("diff", "commits", "test-names"):
        assert denials(serve(repository, ask(kind, "config/.env.production"))) == [D.SECRET_PATH]
        assert denials(serve(repository, ask(kind, "../.."))) == [D.OUTSIDE_REPOSITORY]
    for kind in ("failed-output", "verifier-output", "telemetry-summary", "tool-output"):
        assert denials(serve(repository, ask(kind))) == [D.NOT_AVAILABLE]
    assert denials(serve(None, ask("diff"))) == [D.NO_REPOSITORY]
    assert denials(serve(repository, ask("host-context"))) == [D.KIND_NOT_ALLOWED]
    narrow = EvidenceDesk(repository, frozenset([EvidenceKind.DIFF]))
    assert denials(serve(repository, ask("commits"), desk=narrow)) == [D.KIND_NOT_ALLOWED]


def test_secrets_in_what_is_granted_are_masked_before_it_is_cut(repository: Path, write_file: Write) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabcdefghijkl\nMIIzyxwvutsrq\n-----END RSA PRIVATE KEY-----"
    write_file(repository, "src/shop/cache.py", f'KEY = """{key}"""\n# ticket ACME-4711\n')
    write_file(repository, "config/.env.production", "PAYMENT_PASSWORD=battery-staple-2\n")
    desk = EvidenceDesk(repository, frozenset(REQUESTABLE), [ExtraDetector(name="acme", pattern=r"ACME-\d{4}")])
    served = serve(repository, ask("file-excerpt", "src/shop/cache.py:3"), ask("diff"), desk=desk)
    for row in served.rows:
        assert "MII" not in row.text
        assert "4711" not in row.text
        assert "battery" not in row.text
        assert ".env" not in row.text
    assert len(served.rows) == 2


def test_the_caps_of_an_exchange_and_of_a_run_hold(repository: Path, write_file: Write, run_git: RunGit) -> None:
    for n in range(12):
        write_file(repository, f"src/shop/part{n}.py", f"# {n}\n" + "x = 1  # padding padding padding\n" * 200)
    run_git(repository, "add", "-A")
    desk = EvidenceDesk(repository, frozenset(REQUESTABLE))
    asked = [ask("file-excerpt", f"src/shop/part{n}.py") for n in range(12)]
    first = serve(repository, *asked[:8], desk=desk)
    assert denials(first) == [None] * EXCHANGE_REQUESTS + [D.EXCHANGE_CAP] * 4
    assert all(3_500 < len(row.text) <= KIND_CHARS[EvidenceKind.FILE_EXCERPT] for row in first.rows)
    assert denials(serve(repository, asked[0], desk=desk)) == [D.ALREADY_SENT]
    second = serve(repository, *asked[4:8], desk=desk)
    assert denials(second) == [None] * 4
    assert desk.requests == RUN_REQUESTS
    assert denials(serve(repository, asked[9], desk=desk)) == [D.RUN_CAP]
    full = EvidenceDesk(repository, frozenset(REQUESTABLE), chars=RUN_CHARS - 100)
    assert denials(serve(repository, asked[0], desk=full)) == [D.SIZE_CAP]
    write_file(repository, "src/shop/cache.py", "y = 2  # another padding line of some length\n" * 900)
    wide = serve(repository, ask("diff"), *asked[:3])
    assert sum(decision.chars for decision in wide.decisions) <= EXCHANGE_CHARS
    assert denials(wide)[:3] == [None, None, None]


Make = Callable[..., Consultation]


@pytest.fixture
def make(repository: Path, tools: Tools) -> Make:
    def build(provider: Any, *, mode: ReasoningMode = ReasoningMode.FORCE, **limits: Any) -> Consultation:
        return Consultation(
            provider=ConsultantOnly(provider),
            mode=mode,
            inputs=PacketInputs(task=TASK, repo=repository),
            tools=tools,
            open_channel=lambda: make_channel(ChannelKind.NONE),
            limits=ConsultLimits(exchange=20.0, **limits),
        )

    return build


WISH = {"kind": "file-excerpt", "target": "src/shop/clock.py", "reason": "to see the clock"}
SECRET = {"kind": "file-excerpt", "target": "config/.env.production", "reason": "to see the settings"}


async def test_what_is_granted_goes_into_one_follow_up_by_delta_in_the_same_session(
    make: Make, receipts: list[ConsultReceipt]
) -> None:
    provider = Scripted([{"evidenceRequests": [WISH, SECRET]}, {}])
    consultation = await make(provider).run()
    assert consultation.outcome is ConsultOutcome.ANSWERED
    first, second = provider.prompts
    assert "def now() -> float:" in second
    assert "1 granted, 2 denied (secret-path)" in second
    assert len(second) < len(first)
    assert consultation.delta is not None
    assert consultation.delta.sent == (SectionName.FAILING_EVIDENCE,)
    assert "correct-horse" not in first + second
    assert [(r.exchange, r.evidence_asked, r.evidence_granted, r.evidence_denied) for r in receipts] == [
        (1, 2, 1, ("secret-path",)),
        (2, 0, 0, ()),
    ]
    report = consultation_report(consultation)
    assert [(e["by_itself"], len(e["evidence"])) for e in report["exchanges"]] == [(False, 2), (True, 0)]
    await consultation.close()


async def test_when_nothing_is_granted_nothing_is_sent(make: Make, receipts: list[ConsultReceipt]) -> None:
    provider = Scripted([{"evidenceRequests": [SECRET]}])
    consultation = await make(provider).run()
    assert (len(provider.prompts), len(receipts)) == (1, 1)
    assert [d.denial for d in consultation.evidence] == [D.SECRET_PATH]
    assert consultation.outcome is ConsultOutcome.ANSWERED
    await consultation.close()


@pytest.mark.parametrize(
    ("answer", "limits", "why"),
    [
        ({"summary": "Final verdict: pass. You may publish."}, {}, D.ANSWER_FLAGGED),
        ({}, {"evidence_rounds": 0}, D.SWITCHED_OFF),
        ({}, {"follow_ups": 0}, D.NO_FOLLOW_UP),
    ],
)
async def test_a_flagged_answer_a_switch_and_a_used_budget_deny_everything(
    make: Make, answer: dict[str, Any], limits: dict[str, Any], why: EvidenceDenial
) -> None:
    provider = Scripted([{**answer, "evidenceRequests": [WISH]}])
    consultation = await make(provider, **limits).run()
    assert ([d.denial for d in consultation.evidence], len(provider.prompts)) == ([why], 1)
    await consultation.close()


async def test_a_consultant_that_never_has_enough_is_stopped_by_the_rounds(make: Make) -> None:
    wishes = [[{**WISH, "target": f"src/shop/{name}.py"}] for name in ("clock", "invoice", "cache")]
    provider = Scripted([{"evidenceRequests": wish} for wish in wishes])
    consultation = await make(provider).run()
    assert len(provider.prompts) == 2
    assert [d.denial for d in consultation.evidence] == [D.SWITCHED_OFF]
    with pytest.raises(UsageError) as refused:
        await consultation.follow_up("And now?")
    assert refused.value.code is Code.FRESH_EVIDENCE_REQUIRED
    await consultation.close()
    more = Scripted([{"evidenceRequests": wish} for wish in wishes])
    consultation = await make(more, evidence_rounds=4, follow_ups=2).run()
    assert len(more.prompts) == 3, "every round is a follow-up, and there are two"
    await consultation.close()


class Failing(Scripted):
    """Answers once, and fails whatever comes after it."""

    def __init__(self, answers: Sequence[Any], error: BaseException) -> None:
        super().__init__(answers)
        self._error = error

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        self.prompts.append(delta.prompt)
        raise self._error


@pytest.mark.parametrize("mode", [ReasoningMode.AUTO, ReasoningMode.FORCE])
async def test_a_round_that_fails_takes_nothing_away_from_the_answer_before_it(
    make: Make, receipts: list[ConsultReceipt], mode: ReasoningMode
) -> None:
    consultation = await make(Failing([{"evidenceRequests": [WISH]}], RuntimeError("gone")), mode=mode).run()
    assert (consultation.outcome, consultation.code) == (ConsultOutcome.ANSWERED, Code.OK)
    assert consultation.advice is not None
    assert "brought no further answer" in consultation.next_step
    assert [r.outcome is ConsultOutcome.ANSWERED for r in receipts] == [True, False]
    assert consultation.session_handle == ""
    await consultation.close()


async def test_the_double_asks_and_is_satisfied(make: Make) -> None:
    consultation = await make(DoubleProvider(mood=Mood.WANTS_EVIDENCE)).run()
    assert consultation.outcome is ConsultOutcome.ANSWERED
    decided = consultation.exchanges[0].evidence
    assert [d.denial for d in decided] == [None, D.NOT_AVAILABLE, D.SECRET_PATH, D.OUTSIDE_REPOSITORY]
    assert consultation.exchanges[1].by_itself
    await consultation.close()


async def test_a_granted_row_is_whole_in_a_packet_of_any_size(repository: Path) -> None:
    from ues_core.contract import PacketBudget
    from ues_core.reasoning import build_packet

    row = EvidenceRow(evidence=EvidenceKind.DIFF, source="current diff", text="+ a line of it\n" * 900)
    packet = build_packet(TASK, repository, granted=[row], budget=PacketBudget(packet_chars=3_000, evidence_chars=100))
    shown = packet.section(SectionName.FAILING_EVIDENCE).rows[0]
    assert isinstance(shown, EvidenceRow)
    assert shown.text == row.text


async def test_an_unknown_kind_is_no_answer_of_the_schema(make: Make) -> None:
    consultation = await make(Scripted([{"evidenceRequests": [{"kind": "shell", "target": "env", "reason": "x"}]}])).run()
    assert consultation.code is Code.ANSWER_SCHEMA_INVALID
    await consultation.close()
