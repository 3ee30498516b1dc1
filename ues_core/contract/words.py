"""Every status and kind of plugins, browsers and the ledger, as enumerated strings. They are interface: new ones may be added,
none changes. What consulting says is in ``consulting_words``; codes are in ``codes``. Each word is kebab-case.
"""

from __future__ import annotations

from enum import StrEnum


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


class TrustState(StrEnum):
    """Whether a prompt may go where a provider says that it sends prompts."""

    NOT_NEEDED = "not-needed"
    """It names no origin: it answers by itself, or a person carries the prompt."""
    OURS = "ours"
    """It is one of this project's, with the origins that this project published it with."""
    TRUSTED = "trusted"
    """The operator agreed to exactly these origins."""
    CHANGED = "changed"
    """The operator, or this project, agreed to other origins than these."""
    UNTRUSTED = "untrusted"
    """Nobody agreed."""
    REVOKED = "revoked"
    """The operator took it back."""


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
