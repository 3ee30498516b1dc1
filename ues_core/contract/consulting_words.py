"""Every status and kind of packets, answers, advice and consultations, as enumerated strings. They are interface: new ones may be
added, none changes.
"""

from __future__ import annotations

from enum import StrEnum


class ChannelKind(StrEnum):
    """A provider's only way out."""

    WEB = "web"
    PERSON = "person"
    NONE = "none"


class CapabilityState(StrEnum):
    """What a provider's probe found. Only an explicit ``ready`` is usable."""

    READY = "ready"
    NEEDS_AUTH = "needs-auth"
    LOGGED_OUT = "logged-out"
    UI_CHANGED = "ui-changed"
    UNAVAILABLE = "unavailable"
    DEGRADED = "degraded"
    TIMEOUT = "timeout"
    CLOSED = "closed"
    UNKNOWN = "unknown"


class AnswerOutcome(StrEnum):
    """What a provider brings back from one exchange."""

    ANSWERED = "answered"
    TRUNCATED = "truncated"
    NEEDS_AUTH = "needs-auth"
    CHALLENGE = "challenge"
    RATE_LIMITED = "rate-limited"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed-out"
    STALE_ANSWER = "stale-answer"


class ConsultOutcome(StrEnum):
    """How a consultation ended."""

    ANSWERED = "answered"
    REJECTED = "rejected"
    TRUNCATED = "truncated"
    NEEDS_AUTH = "needs-auth"
    CHALLENGE = "challenge"
    RATE_LIMITED = "rate-limited"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed-out"
    STALE_ANSWER = "stale-answer"
    FALLBACK_LOCAL = "fallback-local"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class ReasoningMode(StrEnum):
    """When to ask for a second opinion."""

    OFF = "off"
    AUTO = "auto"
    FORCE = "force"


class SectionName(StrEnum):
    """The thirteen sections of a decision packet, in their fixed order."""

    ORIGINAL_TASK = "original-task"
    REQUIREMENT_SUMMARY = "requirement-summary"
    CONSTRAINTS = "constraints"
    VERIFICATION_EXPECTATIONS = "verification-expectations"
    ARCHITECTURE_MAP = "architecture-map"
    RELEVANT_SUBSYSTEMS = "relevant-subsystems"
    RELEVANT_FILES = "relevant-files"
    DEPENDENCY_GRAPH = "dependency-graph"
    EXACT_SNIPPETS = "exact-snippets"
    CURRENT_DIFF = "current-diff"
    FAILING_EVIDENCE = "failing-evidence"
    PREVIOUS_ATTEMPTS = "previous-attempts"
    UNRESOLVED_QUESTIONS = "unresolved-questions"


ESSENTIAL_SECTIONS: tuple[SectionName, ...] = (
    SectionName.ORIGINAL_TASK,
    SectionName.REQUIREMENT_SUMMARY,
    SectionName.CONSTRAINTS,
    SectionName.VERIFICATION_EXPECTATIONS,
)
"""Never shed under pressure."""


class PacketTier(StrEnum):
    """Size classes of a packet."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


class LeftOut(StrEnum):
    """Why something of the repository is not in the packet."""

    IRRELEVANT = "irrelevant"
    EXCLUDED_PATH = "excluded-path"
    SECRET_PATH = "secret-path"
    TOO_LARGE = "too-large"
    BINARY = "binary"
    UNREADABLE = "unreadable"
    OUTSIDE_TREE = "outside-tree"
    NOT_A_FILE = "not-a-file"
    ODD_NAME = "odd-name"
    OVER_BUDGET = "over-budget"
    NO_REPOSITORY = "no-repository"
    TIME_BUDGET = "time-budget"


class ClaimKind(StrEnum):
    """What a claim points at."""

    PATH = "path"
    SYMBOL = "symbol"
    LINE_RANGE = "line-range"
    SNIPPET = "snippet"
    NEW_FILE = "new-file"
    STATEMENT = "statement"


class BindingStatus(StrEnum):
    """What local evidence says about one claim."""

    PRESENT = "present"
    ABSENT = "absent"
    MOVED = "moved"
    REJECTED = "rejected"
    NEW_FILE = "new-file"
    UNVERIFIABLE = "unverifiable"


class AdviceAction(StrEnum):
    """The most that advice may lead to."""

    IMPLEMENT_THEN_VERIFY = "implement-then-verify"
    REJECT_AND_RETRY_LOCALLY = "reject-and-retry-locally"


class AuthorityClaim(StrEnum):
    """What an answer may not claim; a hit forces ``reject-and-retry-locally``."""

    VERDICT = "verdict-claim"
    PERMISSION = "permission-claim"
    SECRET_REQUEST = "secret-request"
    COMMAND_AUTOTRUST = "command-autotrust"
    POLICY_OVERRIDE = "policy-override"
    PUBLISH_AUTHORITY = "publish-authority"
    INSTRUCTION_OVERRIDE = "instruction-override"
    HIDDEN_TEXT = "hidden-text"


class EvidenceKind(StrEnum):
    """What a piece of local evidence is. A consultant may ask for each of them but ``host-context``."""

    DIFF = "diff"
    FAILED_OUTPUT = "failed-output"
    FILE_EXCERPT = "file-excerpt"
    TEST_NAMES = "test-names"
    VERIFIER_OUTPUT = "verifier-output"
    REPO_SUMMARY = "repo-summary"
    TELEMETRY_SUMMARY = "telemetry-summary"
    TOOL_OUTPUT = "tool-output"
    COMMITS = "commits"
    HOST_CONTEXT = "host-context"


class EvidenceDenial(StrEnum):
    """Why a piece of evidence that a consultant asked for is not given."""

    KIND_NOT_ALLOWED = "kind-not-allowed"
    EXCHANGE_CAP = "exchange-cap"
    RUN_CAP = "run-cap"
    SIZE_CAP = "size-cap"
    SWITCHED_OFF = "switched-off"
    NO_FOLLOW_UP = "no-follow-up"
    ANSWER_FLAGGED = "answer-flagged"
    ALREADY_SENT = "already-sent"
    NOT_AVAILABLE = "not-available"
    NO_REPOSITORY = "no-repository"
    TARGET_INVALID = "target-invalid"
    OUTSIDE_REPOSITORY = "outside-repository"
    SECRET_PATH = "secret-path"
    EXCLUDED_PATH = "excluded-path"
    IGNORED_FILE = "ignored-file"
    NO_SUCH_FILE = "no-such-file"
    UNREADABLE = "unreadable"
    SECRET_FOUND = "secret-found"


class ContextState(StrEnum):
    """What became of one hook package that was asked for context."""

    ADDED = "added"
    NOTHING = "nothing"
    INVALID = "invalid"
    FAILED = "failed"
    LATE = "late"
    SWITCHED_OFF = "switched-off"


class ProgressKind(StrEnum):
    """What a provider may report while it works."""

    STARTED = "started"
    SUBMITTED = "submitted"
    WAITING = "waiting"
    STREAMING = "streaming"
    HAND_OVER = "hand-over"
    FINISHED = "finished"
