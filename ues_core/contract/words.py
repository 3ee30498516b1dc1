"""Every status, kind and code of the kit, as enumerated strings. They are interface: new ones may be added, none changes.

Each word is kebab-case; the one exception, ``WEB_REASONING_UNAVAILABLE``, is spelled as its users know it.
"""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """Whose doing an error is."""

    HOST = "host"
    OPERATOR = "operator"
    POLICY = "policy"
    PAGE = "page"
    PLUGIN = "plugin"
    PROVIDER = "provider"
    KIT = "kit"


class Trust(StrEnum):
    """How far a piece of content may be believed. External content is never more than this."""

    UNTRUSTED_EXTERNAL = "untrusted-external"


class InstructionAuthority(StrEnum):
    """How far a piece of content may instruct: not at all."""

    NONE = "none"


class Authority(StrEnum):
    """What a provider may be. There is one word, and it is frozen."""

    CONSULTANT_ONLY = "consultant-only"


# -- plugins ---------------------------------------------------------------------------------------------------------


class PluginKind(StrEnum):
    """The three kinds of plugin of which exactly one is chosen by name."""

    DRIVER = "driver"
    PROVIDER = "provider"
    DECIDER = "decider"


class PluginState(StrEnum):
    """What became of an entry point."""

    OK = "ok"
    FAILED = "failed"
    INCOMPATIBLE = "incompatible"
    DUPLICATE = "duplicate"
    DISABLED = "disabled"


class SealState(StrEnum):
    """How far a boundary around a provider's process holds, as measured when it started."""

    ENFORCED = "enforced"
    PARTIAL = "partial"
    NONE = "none"


class Support(StrEnum):
    """Closed shadow roots: how far a driver goes."""

    NONE = "none"
    DETECT = "detect"
    ACT = "act"


class FrameReach(StrEnum):
    """Embedded frames: how far a driver, or one observation, goes."""

    NONE = "none"
    SAME_ORIGIN = "same-origin"
    ALL = "all"


class SurfaceKind(StrEnum):
    """What a driver drives."""

    WEB = "web"
    MEMORY = "memory"
    DESKTOP = "desktop"


# -- acting ----------------------------------------------------------------------------------------------------------


class Verb(StrEnum):
    """Every verb of the taxonomy. A verb that is not here is the riskiest class."""

    OBSERVE = "observe"
    INSPECT = "inspect"
    READ = "read"
    EXTRACT = "extract"
    SEE = "see"
    EVIDENCE = "evidence"
    WAIT = "wait"
    CLOSE = "close"
    NAVIGATE = "navigate"
    RELOAD = "reload"
    BACK = "back"
    FORWARD = "forward"
    CLOSE_PAGE = "close-page"
    CLICK = "click"
    DOUBLE_CLICK = "double-click"
    HOVER = "hover"
    FILL = "fill"
    TYPE = "type"
    PRESS = "press"
    SELECT = "select"
    SCROLL = "scroll"
    DRAG = "drag"
    UPLOAD = "upload"
    ANSWER_DIALOG = "answer-dialog"
    SUBMIT = "submit"
    PURCHASE = "purchase"
    PAYMENT = "payment"
    DELETE = "delete"
    DESTRUCTIVE_CONFIRM = "destructive-confirm"
    SEND_MESSAGE = "send-message"
    CREATE_ORDER = "create-order"
    PUBLISH = "publish"
    ACCOUNT_MUTATION = "account-mutation"


class ActionClass(StrEnum):
    """The risk class of a verb, least to most. Retry, approval and evidence read it; nothing re-derives it from a name."""

    READ_ONLY = "read-only"
    NAVIGATION = "navigation"
    INTERACTIVE = "interactive-idempotent-or-recoverable"
    EXTERNAL_SIDE_EFFECT = "external-side-effect"


class RiskLevel(StrEnum):
    """How likely an action has an effect outside the surface."""

    NONE = "none"
    POSSIBLE = "possible"
    LIKELY = "likely"
    UNKNOWN = "unknown"


class Need(StrEnum):
    """Whether something is asked for."""

    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


class RetryKind(StrEnum):
    """The failures after which a new attempt may be made."""

    STALE = "stale"
    TRANSIENT = "transient"


class DispatchStatus(StrEnum):
    """What became of one action. ``confirmed`` says that the input landed, not that the application did what was hoped."""

    CONFIRMED = "confirmed"
    UNKNOWN = "unknown"
    REJECTED = "rejected"
    FAILED = "failed"


class Landed(StrEnum):
    """Where the input went."""

    ON_TARGET = "on-target"
    ELSEWHERE = "elsewhere"
    NOWHERE = "nowhere"
    UNKNOWN = "unknown"


class GuardState(StrEnum):
    """Whether the page-side guard watched the input arrive."""

    GUARDED = "guarded"
    UNGUARDED = "unguarded"
    NOT_APPLICABLE = "not-applicable"


class VerificationStatus(StrEnum):
    """Whether an expected state was seen. Tool success is not proof."""

    VERIFIED = "verified"
    UNVERIFIED = "unverified"
    CONTRADICTED = "contradicted"
    NOT_REQUIRED = "not-required"


class ExpectKind(StrEnum):
    """What a host may expect to see after an action."""

    URL = "url"
    TEXT_PRESENT = "text-present"
    TEXT_ABSENT = "text-absent"
    NODE_PRESENT = "node-present"
    NODE_ABSENT = "node-absent"
    NODE_STATE = "node-state"
    VALUE = "value"
    TITLE = "title"
    DIALOG = "dialog"
    PAGE_OPENED = "page-opened"
    NETWORK_RESPONSE = "network-response"


class NavigationKind(StrEnum):
    """What a navigation or an action did to the document."""

    NONE = "no-navigation"
    SAME_DOCUMENT = "same-document"
    DOCUMENT = "document-load"
    REDIRECT = "redirect"


class WaitUntil(StrEnum):
    """When a navigation counts as done."""

    COMMIT = "commit"
    DOM_CONTENT_LOADED = "domcontentloaded"
    LOAD = "load"


class RequestKind(StrEnum):
    """Why a document is requested; the gate judges each kind."""

    NAVIGATE = "navigate"
    REDIRECT = "redirect"
    POPUP = "popup"
    HISTORY = "history"
    SUBFRAME = "subframe"


class HitStatus(StrEnum):
    """What a pointer aimed at the node would meet."""

    CLEAR = "clear"
    NOT_VISIBLE = "not-visible"
    OFF_VIEWPORT = "off-viewport"
    OCCLUDED = "occluded"
    DETACHED = "detached"


class PointerButton(StrEnum):
    """The pointer's buttons."""

    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"


class Modifier(StrEnum):
    """Modifier keys held during a gesture."""

    ALT = "Alt"
    CONTROL = "Control"
    META = "Meta"
    SHIFT = "Shift"


class Direction(StrEnum):
    """Where a scroll goes."""

    UP = "up"
    DOWN = "down"
    LEFT = "left"
    RIGHT = "right"


class DialogPolicy(StrEnum):
    """What a driver does with a JavaScript dialog."""

    DISMISS = "dismiss"
    HOLD = "hold"


class PopupPolicy(StrEnum):
    """What a session does with a page that the page opened."""

    STAY = "stay"
    FOLLOW = "follow"


class DialogKind(StrEnum):
    """JavaScript dialogs."""

    ALERT = "alert"
    CONFIRM = "confirm"
    PROMPT = "prompt"
    BEFORE_UNLOAD = "beforeunload"


class EventKind(StrEnum):
    """What a driver reports in ``drain``."""

    CONSOLE = "console"
    PAGE_ERROR = "page-error"
    NETWORK = "network"
    NETWORK_FAILED = "network-failed"
    DIALOG = "dialog"
    DOWNLOAD = "download"
    PAGE_OPENED = "page-opened"
    PAGE_CLOSED = "page-closed"
    PAGE_CRASHED = "page-crashed"
    NAVIGATION = "navigation"
    GATE_DENIED = "gate-denied"


class WatchKind(StrEnum):
    """Conditions a driver can wait for inside the surface."""

    URL = "url"
    TEXT_PRESENT = "text-present"
    TEXT_ABSENT = "text-absent"
    NODE_GONE = "node-gone"
    NODE_CHANGED = "node-changed"
    NODE_TEXT_STABLE = "node-text-stable"
    DOCUMENT_READY = "document-ready"
    QUIET = "quiet"


# -- observing -------------------------------------------------------------------------------------------------------


class Detail(StrEnum):
    """What an observation lists: operable nodes with headings, or static content too."""

    CONTROLS = "controls"
    CONTENT = "content"


class NameSource(StrEnum):
    """Where an accessible name came from: authored, or gathered from descendants."""

    LABEL = "label"
    CONTENT = "content"


class Tristate(StrEnum):
    """aria-checked, aria-pressed: three values."""

    TRUE = "true"
    FALSE = "false"
    MIXED = "mixed"


class TruncationReason(StrEnum):
    """Why an observation does not list everything."""

    SCAN_WINDOW_EXCEEDED = "scan-window-exceeded"
    NODE_BUDGET_EXCEEDED = "node-budget-exceeded"
    BYTE_BUDGET_EXCEEDED = "byte-budget-exceeded"
    TIME_BUDGET_EXCEEDED = "time-budget-exceeded"
    SLOT_UNRESOLVED = "slot-unresolved"
    FRAME_NOT_TRAVERSED = "iframe-not-traversed"
    FRAME_UNREADABLE = "iframe-unreadable"
    HUMAN_VERIFICATION_FRAME = "human-verification-frame"
    CLOSED_SHADOW_ROOT = "closed-shadow-root"
    SHADOW_COVERAGE_UNVERIFIED = "shadow-coverage-unverified"


class CoverageReason(StrEnum):
    """Why coverage is not verified."""

    SKIPPED = "skipped"
    OVER_BUDGET = "over-budget"
    UNAVAILABLE = "cdp-unavailable"
    ROOT_UNRESOLVED = "root-unresolved"
    ERROR = "error"
    NOT_SUPPORTED = "not-supported"


class ContentSignal(StrEnum):
    """What the content analyser looks for in visible text. Flags inform the host; they never hide text."""

    INSTRUCTION_OVERRIDE = "instruction-override"
    SECRET_EXFILTRATION = "secret-exfiltration"
    HIDDEN_INSTRUCTION = "hidden-instruction"
    ROLE_SPOOF = "role-spoof"
    ACTION_COERCION = "action-coercion"
    POLICY_COERCION = "policy-coercion"


class ReadKind(StrEnum):
    """The shapes in which text and data leave a surface."""

    TEXT = "text"
    MARKDOWN = "markdown"
    LINKS = "links"
    TABLES = "tables"
    FORMS = "forms"


class CaptureKind(StrEnum):
    """What a picture shows."""

    VIEWPORT = "viewport"
    FULL_PAGE = "full-page"
    NODE = "node"


class OmitReason(StrEnum):
    """Why a node carries no mark in a picture."""

    UNBOUND = "unbound"
    DETACHED = "detached"
    HIDDEN = "hidden"
    ZERO_SIZE = "zero-size"
    OFF_VIEWPORT = "off-viewport"
    OFF_PAGE = "off-page"
    OCCLUDED = "occluded"
    MARK_BUDGET_EXCEEDED = "mark-budget-exceeded"


class CaptureQuality(StrEnum):
    """Whether a picture shows anything."""

    USABLE = "usable"
    BLANK = "blank"
    NEAR_UNIFORM = "near-uniform"
    UNKNOWN = "unknown"


# -- records ---------------------------------------------------------------------------------------------------------


class RecordKind(StrEnum):
    """The three records of a ledger."""

    INTENT = "intent"
    RECEIPT = "receipt"
    TERMINAL = "terminal"


class ReceiptKind(StrEnum):
    """What a receipt is about."""

    ACTION = "action"
    GATE = "gate"
    OBSERVATION = "observation"
    CONSULTATION = "consultation"
    SESSION = "session"


class TerminalState(StrEnum):
    """How a chain ended."""

    COMPLETE = "complete"
    INTERRUPTED = "interrupted"


class LedgerVerdict(StrEnum):
    """What offline verification found; each has its own exit code."""

    OK = "ok"
    BAD_SIGNATURE = "bad-signature"
    BROKEN_CHAIN = "broken-chain"
    GAP = "gap"
    MISSING_END = "missing-end"
    UNKNOWN_KEY = "unknown-key"
    MALFORMED = "malformed"


# -- consulting ------------------------------------------------------------------------------------------------------


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
    """The local evidence a consultant may ask for."""

    DIFF = "diff"
    FAILED_OUTPUT = "failed-output"
    FILE_EXCERPT = "file-excerpt"
    TEST_NAMES = "test-names"
    VERIFIER_OUTPUT = "verifier-output"
    REPO_SUMMARY = "repo-summary"
    TELEMETRY_SUMMARY = "telemetry-summary"
    TOOL_OUTPUT = "tool-output"
    COMMITS = "commits"


class ProgressKind(StrEnum):
    """What a provider may report while it works."""

    STARTED = "started"
    SUBMITTED = "submitted"
    WAITING = "waiting"
    STREAMING = "streaming"
    HAND_OVER = "hand-over"
    FINISHED = "finished"


# -- browsers --------------------------------------------------------------------------------------------------------


class BrowserChannel(StrEnum):
    """Whose build of Chromium a browser is."""

    CHROME = "chrome"
    EDGE = "edge"
    CHROMIUM = "chromium"
    CUSTOM = "custom"


class BrowserSource(StrEnum):
    """Where a browser was found."""

    OVERRIDE = "override"
    SYSTEM = "system"
    PATH = "path"
    PLAYWRIGHT = "playwright"
    SNAP = "snap"


# -- codes -----------------------------------------------------------------------------------------------------------


class Code(StrEnum):
    """Every code of an error, a refusal or a receipt."""

    OK = "ok"
    INTERNAL = "internal"
    USAGE = "usage"
    CANCELLED = "cancelled"

    CONFIG_INVALID = "config-invalid"
    CONFIG_UNREADABLE = "config-unreadable"
    OWNER_INVALID = "owner-invalid"
    PROFILE_INVALID = "profile-invalid"
    PROFILE_LOCKED = "profile-locked"

    PLUGIN_UNKNOWN = "plugin-unknown"
    PLUGIN_FAILED = "plugin-failed"
    PLUGIN_INCOMPATIBLE = "plugin-incompatible"
    PLUGIN_DUPLICATE = "plugin-duplicate"
    PLUGIN_DISABLED = "plugin-disabled"
    PLUGIN_NOT_ALLOWED = "plugin-not-allowed"
    PLUGIN_DATA_INVALID = "plugin-data-invalid"
    AUTHORITY_VIOLATION = "authority-violation"
    CONTRIBUTION_INVALID = "contribution-invalid"
    NOT_SUPPORTED = "not-supported"

    BROWSER_NOT_FOUND = "browser-not-found"
    BROWSER_OVERRIDE_INVALID = "browser-override-invalid"
    BROWSER_INSTALL_FAILED = "browser-install-failed"
    BROWSER_START_FAILED = "browser-start-failed"

    SESSION_EXISTS = "session-exists"
    SESSION_CLOSED = "session-closed"
    HOST_CLOSED = "host-closed"
    PAGE_UNKNOWN = "page-unknown"
    PAGE_CRASHED = "page-crashed"
    PAGE_CHANGED = "page-changed"
    DOCUMENT_GONE = "document-gone"
    DOCUMENT_NOT_READY = "document-not-ready"
    NAVIGATION_FAILED = "navigation-failed"
    DEADLINE_EXCEEDED = "deadline-exceeded"
    DRIVER_FAILED = "driver-failed"

    UNSAFE_URL = "unsafe-url"
    ORIGIN_NOT_ALLOWED = "origin-not-allowed"
    STORAGE_STATE_REJECTED = "storage-state-rejected"

    ACTION_INVALID = "action-invalid"
    UNKNOWN_VERB = "unknown-verb"
    REF_INVALID = "ref-invalid"
    REF_UNKNOWN = "ref-unknown"
    REF_OTHER_OWNER = "ref-other-owner"
    REF_OTHER_SESSION = "ref-other-session"
    REF_OTHER_HOST = "ref-other-host"
    REF_CONSUMED = "ref-consumed"
    REF_SUSPENDED = "ref-suspended"
    REF_EXPIRED = "ref-expired"
    OBSERVATION_REQUIRED = "observation-required"
    OBSERVATION_STALE = "observation-stale"
    SCOPE_UNAVAILABLE = "scope-unavailable"
    WITHIN_NOT_ELEMENT = "within-not-element"
    ANCHOR_UNAVAILABLE = "anchor-unavailable"

    TARGET_GONE = "target-gone"
    TARGET_CHANGED = "target-changed"
    TARGET_UNBINDABLE = "target-unbindable"
    TARGET_NOT_INTERACTIVE = "target-not-interactive"
    TARGET_DISABLED = "target-disabled"
    TARGET_NOT_EDITABLE = "target-not-editable"
    TARGET_NOT_VISIBLE = "target-not-visible"
    TARGET_OFF_VIEWPORT = "target-off-viewport"
    TARGET_OCCLUDED = "target-occluded"
    TEXT_INVALID = "text-invalid"
    KEY_INVALID = "key-invalid"
    OPTION_MISSING = "option-missing"
    OPTION_AMBIGUOUS = "option-ambiguous"
    OPTION_NOT_SELECTED = "option-not-selected"
    NOT_A_SELECT = "not-a-select"
    VALUE_MISMATCH = "value-mismatch"
    SCROLL_TARGET_UNREACHABLE = "scroll-target-unreachable"
    DIALOG_UNKNOWN = "dialog-unknown"
    DIALOG_OPEN = "dialog-open"
    LANDED_ELSEWHERE = "landed-elsewhere"
    DISPATCH_OUTCOME_UNKNOWN = "dispatch-outcome-unknown"

    CREDENTIAL_ENTRY = "credential-entry"
    FILE_UPLOAD = "file-upload"
    DOWNLOAD = "download"
    DANGEROUS_KEY = "dangerous-key"
    DESTRUCTIVE_TARGET = "destructive-target"
    FINANCIAL_TARGET = "financial-target"
    EXTERNAL_COMMIT_TARGET = "external-commit-target"
    SECURITY_TARGET = "security-target"
    HUMAN_VERIFICATION = "human-verification"
    APPROVAL_REQUIRED = "approval-required"
    APPROVAL_UNKNOWN = "approval-unknown"
    APPROVAL_EXPIRED = "approval-expired"
    APPROVAL_USED = "approval-used"
    APPROVAL_MISMATCH = "approval-mismatch"
    DUPLICATE_SIDE_EFFECT = "duplicate-side-effect"
    OPEN_INTENT = "open-intent"
    BUDGET_EXHAUSTED = "budget-exhausted"

    CAPTURE_EMPTY = "capture-empty"
    CAPTURE_TOO_LARGE = "capture-too-large"

    LEDGER_FAILED = "ledger-failed"
    KEY_UNREADABLE = "key-unreadable"

    PACKET_OVERFLOW = "packet-overflow"
    SECRET_OUTBOUND = "secret-outbound"
    REPOSITORY_UNREADABLE = "repository-unreadable"
    WEB_REASONING_UNAVAILABLE = "WEB_REASONING_UNAVAILABLE"
    NO_PROVIDER = "no-provider"
    PROVIDER_FAILED = "provider-failed"
    PROVIDER_GONE = "provider-gone"
    PROVIDER_GARBAGE = "provider-garbage"
    PROVIDER_FLOOD = "provider-flood"
    PROVIDER_HUNG = "provider-hung"
    PROVIDER_OVER_LIMIT = "provider-over-limit"
    SEAL_INCOMPLETE = "seal-incomplete"
    CONSULTATION_CLOSED = "consultation-closed"
    CONSULTATION_UNKNOWN = "consultation-unknown"
    CONSULTATION_EXPIRED = "consultation-expired"
    RESUME_REFUSED = "resume-refused"
    PROVIDER_CHANGED = "provider-changed"
    OTHER_REPOSITORY = "other-repository"
    FRESH_EVIDENCE_REQUIRED = "fresh-evidence-required"
    ANSWER_EMPTY = "answer-empty"
    ANSWER_NOT_JSON = "answer-not-json"
    ANSWER_SCHEMA_INVALID = "answer-schema-invalid"
    ANSWER_OVERSIZE = "answer-oversize"
    ANSWER_DUPLICATE_KEY = "answer-duplicate-key"
    ANSWER_TOO_DEEP = "answer-too-deep"
    ANSWER_NOT_FINITE = "answer-not-finite"
    ANSWER_BAD_UNICODE = "answer-bad-unicode"
    ANSWER_NONCE_MISMATCH = "answer-nonce-mismatch"
    ANSWER_IS_PROMPT = "answer-is-prompt"
    ANSWER_CLAIMS_AUTHORITY = "answer-claims-authority"
    ANSWER_UNVERIFIABLE = "answer-unverifiable"
    ANSWER_NOT_GROUNDED = "answer-not-grounded"
    ANSWER_LOW_CONFIDENCE = "answer-low-confidence"
    ANSWER_STALE = "answer-stale"
