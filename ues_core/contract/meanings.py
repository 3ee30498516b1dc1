"""What each code means and what to do next, one line each: the source of the table in the documentation."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple

from ues_core.contract.codes import Code


class Meaning(NamedTuple):
    """A code in words."""

    what: str
    """What happened."""
    next_step: str
    """What a host or person can do; empty when there is nothing to do."""


MEANINGS: Final = MappingProxyType(
    {
        Code.OK: Meaning("It did what was asked.", ""),
        Code.INTERNAL: Meaning("The kit itself failed.", "Report it; the receipt says whether input landed."),
        Code.USAGE: Meaning("The host called the API in a way that it does not take.", "Correct the call."),
        Code.CANCELLED: Meaning("The host cancelled it.", "Look at the receipt for what had happened by then."),
        Code.CONFIG_INVALID: Meaning("A file, a variable or an argument is wrong.", "Correct the place that the error names."),
        Code.CONFIG_UNREADABLE: Meaning("The configuration file cannot be read.", "Correct its path, rights or encoding."),
        Code.OWNER_INVALID: Meaning(
            "The owner's name is not acceptable.", "Use letters, digits, dots, dashes; bounded length."
        ),
        Code.PROFILE_INVALID: Meaning("The profile's name or folder is not acceptable.", "Choose another profile."),
        Code.PROFILE_LOCKED: Meaning("Another process uses the profile.", "Close it there, or use another profile."),
        Code.PLUGIN_UNKNOWN: Meaning("Nothing installed has that name.", "Choose an installed one, or install it."),
        Code.PLUGIN_FAILED: Meaning("The plugin could not be imported or made.", "Repair, uninstall or disable it."),
        Code.PLUGIN_INCOMPATIBLE: Meaning(
            "The plugin speaks another contract version.", "Upgrade the side that the error names."
        ),
        Code.PLUGIN_DUPLICATE: Meaning("Two distributions offer the same name.", "Uninstall or disable one of them."),
        Code.PLUGIN_DISABLED: Meaning(
            "The settings keep the plugin from being loaded.", "Change the settings, or choose another."
        ),
        Code.PLUGIN_NOT_ALLOWED: Meaning("The operator did not allow the plugin.", "Ask the operator."),
        Code.PLUGIN_DATA_INVALID: Meaning("The plugin handed over data outside of the contract.", "Report it to its authors."),
        Code.AUTHORITY_VIOLATION: Meaning("A provider is, or could become, more than a consultant.", "Do not use it."),
        Code.CONTRIBUTION_INVALID: Meaning(
            "A hook package contributes something invalid.", "Repair it, or take it off the list."
        ),
        Code.NOT_SUPPORTED: Meaning("The driver or provider does not declare the capability.", "Choose one that does."),
        Code.BROWSER_NOT_FOUND: Meaning("No browser was found.", "Run ues browser install, or name one."),
        Code.BROWSER_OVERRIDE_INVALID: Meaning("The configured browser does not work.", "Correct or remove the override."),
        Code.BROWSER_INSTALL_FAILED: Meaning("No browser could be fetched.", "Install one by hand and name it."),
        Code.BROWSER_START_FAILED: Meaning("The browser did not start.", "Run ues doctor."),
        Code.SESSION_EXISTS: Meaning("The owner has a session already.", "Use it, or release it first."),
        Code.SESSION_CLOSED: Meaning("The session is closed.", "Open another one."),
        Code.HOST_CLOSED: Meaning("The host is closed.", "Open another one."),
        Code.PAGE_UNKNOWN: Meaning("The session has no such page.", "List the session's pages."),
        Code.PAGE_CRASHED: Meaning("The page crashed.", "Reload it or open another one."),
        Code.PAGE_CHANGED: Meaning("The page is not the one that was meant.", "Observe again."),
        Code.DOCUMENT_GONE: Meaning("The document was replaced.", "Observe again."),
        Code.DOCUMENT_NOT_READY: Meaning("The document is not there yet.", "Wait, then observe."),
        Code.NAVIGATION_FAILED: Meaning("The document could not be loaded.", "Check the address and the network."),
        Code.DEADLINE_EXCEEDED: Meaning("A bounded wait ran out.", "Look before repeating: it may have happened."),
        Code.DRIVER_FAILED: Meaning("The driver or its browser failed.", "Open another session."),
        Code.UNSAFE_URL: Meaning("The address is not a plain http(s) URL.", "Use one without user information."),
        Code.ORIGIN_NOT_ALLOWED: Meaning("The origin is denied, or not on the allowlist.", "Ask the operator."),
        Code.STORAGE_STATE_REJECTED: Meaning("The storage state holds origins that are not allowed.", "Leave them out."),
        Code.ACTION_INVALID: Meaning("The action does not fit its schema.", "Correct it: ues schema action."),
        Code.UNKNOWN_VERB: Meaning("No such verb; it counts as the riskiest class.", "Use a verb of the taxonomy."),
        Code.REF_INVALID: Meaning("The ref is no ref.", "Take refs out of an observation only."),
        Code.REF_UNKNOWN: Meaning("The session does not know the ref.", "Observe again."),
        Code.REF_OTHER_OWNER: Meaning("The ref belongs to another owner.", "Use your own session's refs."),
        Code.REF_OTHER_SESSION: Meaning("The ref belongs to another session.", "Observe in this session."),
        Code.REF_OTHER_HOST: Meaning("The ref belongs to another host process.", "Observe again."),
        Code.REF_CONSUMED: Meaning("A newer observation replaced the ref.", "Observe again."),
        Code.REF_SUSPENDED: Meaning("An action was dispatched since the observation.", "Observe again."),
        Code.REF_EXPIRED: Meaning("The observation is too old to act on.", "Observe again."),
        Code.OBSERVATION_REQUIRED: Meaning("There is no observation to act on.", "Observe first."),
        Code.OBSERVATION_STALE: Meaning("The observation that was named is not the latest.", "Observe again."),
        Code.SCOPE_UNAVAILABLE: Meaning("The scope no longer exists.", "Observe the page."),
        Code.WITHIN_NOT_ELEMENT: Meaning("The scope is not an element.", "Name an element, or observe the page."),
        Code.ANCHOR_UNAVAILABLE: Meaning("There is no acted-on node to anchor to.", "Act first, or do not ask for an anchor."),
        Code.TARGET_GONE: Meaning("The node is no longer in the document.", "Observe again."),
        Code.TARGET_CHANGED: Meaning(
            "The node is another one than was observed.", "Observe again; the receipt names the fields."
        ),
        Code.TARGET_UNBINDABLE: Meaning("The node was observed but cannot be acted on.", "Choose another node."),
        Code.TARGET_NOT_INTERACTIVE: Meaning("The node takes no input.", "Choose a control."),
        Code.TARGET_DISABLED: Meaning("The control is disabled.", "Find out what enables it."),
        Code.TARGET_NOT_EDITABLE: Meaning("The node takes no text.", "Choose an editable one."),
        Code.TARGET_NOT_VISIBLE: Meaning("The node is not visible.", "Make it visible first."),
        Code.TARGET_OFF_VIEWPORT: Meaning("The node is outside of the viewport.", "Scroll it into view."),
        Code.TARGET_OCCLUDED: Meaning("Something covers the node.", "The receipt says what; move or close that."),
        Code.TEXT_INVALID: Meaning("The text is too long or holds characters that cannot be typed.", "Correct the text."),
        Code.KEY_INVALID: Meaning("No such key or chord.", "Use names such as Enter or Control+a."),
        Code.OPTION_MISSING: Meaning("The list has no such option.", "Choose one that the observation lists."),
        Code.OPTION_AMBIGUOUS: Meaning("More than one option fits.", "Name the option's exact value."),
        Code.OPTION_NOT_SELECTED: Meaning("The option was not selected afterwards.", "Observe and look why."),
        Code.NOT_A_SELECT: Meaning("The node is no native list.", "Click it and choose from what opens."),
        Code.VALUE_MISMATCH: Meaning(
            "The field holds something else than was filled in.", "Observe; the page may reformat it."
        ),
        Code.SCROLL_TARGET_UNREACHABLE: Meaning("The node could not be scrolled into view.", "Scroll its container."),
        Code.DIALOG_UNKNOWN: Meaning("No such dialog is open.", "Look at the observation's dialogs."),
        Code.DIALOG_OPEN: Meaning("A dialog is open and blocks the page.", "Answer it first."),
        Code.LANDED_ELSEWHERE: Meaning("The input reached another node than was meant, or would have.", "Observe again."),
        Code.DISPATCH_OUTCOME_UNKNOWN: Meaning("Whether the input landed is unknown.", "Observe; never repeat it blindly."),
        Code.CREDENTIAL_ENTRY: Meaning("The field takes a secret.", "A person has to type it."),
        Code.FILE_UPLOAD: Meaning("The control takes files.", "Use upload, with an approval."),
        Code.DOWNLOAD: Meaning("The control downloads something.", "Needs an approval."),
        Code.DANGEROUS_KEY: Meaning("The key could act outside of the page or submit.", "Use another way."),
        Code.DESTRUCTIVE_TARGET: Meaning("The control seems to destroy something.", "Needs an approval."),
        Code.FINANCIAL_TARGET: Meaning("The control seems to move money.", "Needs an approval."),
        Code.EXTERNAL_COMMIT_TARGET: Meaning("The control seems to send or publish something.", "Needs an approval."),
        Code.SECURITY_TARGET: Meaning("The control seems to change security or an account.", "Needs an approval."),
        Code.HUMAN_VERIFICATION: Meaning("The page asks for proof of a human.", "A person has to do it."),
        Code.APPROVAL_REQUIRED: Meaning(
            "The action needs the host's approval.", "Ask the host's user; host.approve grants one use."
        ),
        Code.APPROVAL_UNKNOWN: Meaning("No such approval.", "Ask for a new one."),
        Code.APPROVAL_EXPIRED: Meaning("The approval has expired.", "Ask for a new one."),
        Code.APPROVAL_USED: Meaning("The approval was used.", "Ask for a new one."),
        Code.APPROVAL_MISMATCH: Meaning("The approval is for something else.", "Ask for one for exactly this."),
        Code.DUPLICATE_SIDE_EFFECT: Meaning(
            "This side effect was attempted before.", "Check what came of it; it is not repeated."
        ),
        Code.OPEN_INTENT: Meaning("An earlier attempt has no known end.", "Check by hand whether it happened."),
        Code.BUDGET_EXHAUSTED: Meaning("The session's or host's budget is used up.", "Stop, or raise the budget."),
        Code.CAPTURE_EMPTY: Meaning("The picture shows nothing.", "Wait, then take it again."),
        Code.CAPTURE_TOO_LARGE: Meaning("The picture would be too large.", "Picture a part."),
        Code.LEDGER_FAILED: Meaning(
            "The ledger could not be written, or does not verify.", "Nothing external is done without it."
        ),
        Code.KEY_UNREADABLE: Meaning("The signing key cannot be read.", "Check the state directory's rights."),
        Code.PACKET_OVERFLOW: Meaning(
            "Even the essential sections do not fit the budget.", "Shorten the task or raise the budget."
        ),
        Code.SECRET_OUTBOUND: Meaning("A secret was found in what would leave.", "Nothing was sent; remove it."),
        Code.REPOSITORY_UNREADABLE: Meaning("The repository cannot be read.", "Check its path and rights."),
        Code.WEB_REASONING_UNAVAILABLE: Meaning("Nobody could be consulted.", "Go on without a second opinion."),
        Code.NO_PROVIDER: Meaning("No provider was chosen; there is no default.", "Choose one, or go on without."),
        Code.PROVIDER_FAILED: Meaning("The provider failed.", "Go on without; look at the reason."),
        Code.PROVIDER_GONE: Meaning("The provider's process ended by itself.", "Go on without; open it again if you want to."),
        Code.PROVIDER_GARBAGE: Meaning(
            "The provider's process wrote what is no message, or data outside of the contract, and was ended.",
            "Go on without; report it to the provider's authors.",
        ),
        Code.PROVIDER_FLOOD: Meaning(
            "The provider's process said too much, too large or too often, and was ended.",
            "Go on without; report it to the provider's authors.",
        ),
        Code.PROVIDER_HUNG: Meaning(
            "The provider's process neither answered in time nor took the cancellation, and was ended.",
            "Go on without; open it again if you want to.",
        ),
        Code.PROVIDER_OVER_LIMIT: Meaning(
            "The provider's process used more memory, threads or processes than it may, and was ended.",
            "Go on without; raise its limits only if you trust it.",
        ),
        Code.PROVIDER_UNTRUSTED: Meaning(
            "Nobody agreed to the place where the provider sends prompts.", "Look at it and agree: ues providers trust NAME."
        ),
        Code.SEAL_INCOMPLETE: Meaning(
            "The provider's process could not be sealed as strictly as was asked, so nothing of the provider ran.",
            "Run it on a system that can, or do without `strict`.",
        ),
        Code.CONSULTATION_CLOSED: Meaning("The consultation has ended.", "Start another one."),
        Code.CONSULTATION_UNKNOWN: Meaning("No such consultation is kept.", "Look at ues consultations list."),
        Code.CONSULTATION_EXPIRED: Meaning("The consultation is too old to be followed up.", "Start another one."),
        Code.RESUME_REFUSED: Meaning(
            "The conversation could not be taken up again, and no fresh one was started instead.", "Start another consultation."
        ),
        Code.PROVIDER_CHANGED: Meaning(
            "The provider is not the one that held the conversation: another version, profile or package.",
            "Start another consultation.",
        ),
        Code.OTHER_REPOSITORY: Meaning(
            "The consultation was about another repository.", "Go to its repository, or start another consultation."
        ),
        Code.FRESH_EVIDENCE_REQUIRED: Meaning(
            "A follow-up needs evidence that the last packet had not.", "Bring some, or stop."
        ),
        Code.ANSWER_EMPTY: Meaning("The answer is empty.", "Go on without."),
        Code.ANSWER_NOT_JSON: Meaning("The answer is not one JSON object.", "Go on without."),
        Code.ANSWER_SCHEMA_INVALID: Meaning("The answer does not fit the schema.", "Go on without: ues schema advice."),
        Code.ANSWER_OVERSIZE: Meaning("The answer is too large.", "Go on without."),
        Code.ANSWER_DUPLICATE_KEY: Meaning("The answer has a key twice.", "Go on without."),
        Code.ANSWER_TOO_DEEP: Meaning("The answer nests too deeply.", "Go on without."),
        Code.ANSWER_NOT_FINITE: Meaning("The answer holds a number that is none.", "Go on without."),
        Code.ANSWER_BAD_UNICODE: Meaning("The answer holds broken text.", "Go on without."),
        Code.ANSWER_NONCE_MISMATCH: Meaning("The answer belongs to another exchange.", "Go on without."),
        Code.ANSWER_IS_PROMPT: Meaning("The answer is the question itself.", "Paste the answer, not the prompt."),
        Code.ANSWER_CLAIMS_AUTHORITY: Meaning(
            "The answer claims to decide, permit or command.", "It was rejected; decide locally."
        ),
        Code.ANSWER_UNVERIFIABLE: Meaning("The answer makes no claim that can be checked.", "Treat it as an idea only."),
        Code.ANSWER_NOT_GROUNDED: Meaning("The answer's claims do not hold here.", "Decide locally."),
        Code.ANSWER_LOW_CONFIDENCE: Meaning("The consultant is unsure.", "Treat it as an idea only."),
        Code.ANSWER_STALE: Meaning("The repository changed since the packet.", "Bind again, or ask again."),
    }
)
"""Every code. A test keeps it complete."""
