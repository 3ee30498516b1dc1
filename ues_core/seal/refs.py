"""Opaque refs: one ref means one node of one document of one observation of one session, and nothing else.

The text of a ref has a fixed width and no separators, so that it survives any tool that splits or trims::

    r  HHH  SSS  EEE  MMMMMMMMMMMM      22 characters, base62 (0-9 A-Z a-z) after the leading r
       |    |    |    |
       |    |    |    MAC, 12 characters = 71 bits of HMAC-SHA-256
       |    |    tag of the observation (epoch) that minted it
       |    tag of the session
       tag of the host

The tags are random and public: they only let a refusal say *why* a ref is not this session's. The MAC is what cannot be
guessed: HMAC-SHA-256 under a random 32-byte key of the session, held in memory only, over the length-prefixed session tag,
page, document, epoch number, node key and the node's identity digest at minting. A ref is accepted only if it equals one of
the session's live refs; the comparison walks the whole table with ``hmac.compare_digest``, so its time says nothing about how
much of a guess fits.

Time and randomness are passed in: ``now`` and ``expires_at`` are seconds on any one clock, ``entropy(n)`` returns ``n``
random bytes.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from ues_core.contract.codes import Code
from ues_core.contract.errors import RefRefusal, UesError
from ues_core.contract.node import Identity
from ues_core.contract.surface import NodeKey

Entropy = Callable[[int], bytes]
"""``entropy(n)`` returns ``n`` unpredictable bytes (``secrets.token_bytes``, or a fixed stream in tests)."""

TAG_WIDTH: Final = 3
"""Characters of a tag: 238,328 values, re-drawn on collision."""
MAC_WIDTH: Final = 12
"""Characters of the MAC: log2(62 ** 12) = 71 bits."""
REF_WIDTH: Final = 1 + 3 * TAG_WIDTH + MAC_WIDTH
"""Characters of a ref: 22."""
KEY_BYTES: Final = 32
"""Bytes of a session's key."""
DEFAULT_TTL_SECONDS: Final = 30.0
"""How long an observation's refs stay good (reference: contract v9 of the browser seed, 30,000 ms)."""

_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_DIGITS: Final = frozenset(_ALPHABET)
_PAIRS: Final = tuple(a + b for a in _ALPHABET for b in _ALPHABET)
_TAG_SPACE: Final = len(_ALPHABET) ** TAG_WIDTH
_PAIR_SPACE: Final = len(_PAIRS)
_HALVES: Final = struct.Struct(">QQ")
_DRAWS: Final = 256
"""Draws of a tag before giving up: with nine tags in ten taken, all fail less often than once in 10 ** 11."""
_KEPT_SESSIONS: Final = 50_000
"""Session tags a host remembers, closed ones too; beyond it the oldest is forgotten: its refs become ``ref-unknown``."""


class RefEntry(NamedTuple):
    """What a live ref stands for."""

    ref: str
    key: NodeKey
    page: str
    document: str
    """The page's main document at minting."""
    epoch: int
    """The observation that minted it; smaller than the table's epoch for a ref that a delta kept."""
    minted_digest: str
    """Identity digest at minting; part of the MAC, never changes."""
    identity: Identity | None
    """The identity that the host has seen last: at minting, or in the delta that kept the ref."""
    parent: str | None
    """Ref of the nearest emitted ancestor."""


def draw_tag(entropy: Entropy, taken: Iterable[str] = ()) -> str:
    """A random public tag that is not among ``taken``.

    Raises ``UesError`` (``internal``) when no free tag turns up in a bounded number of draws.
    """
    used = taken if isinstance(taken, (dict, set, frozenset)) else frozenset(taken)
    for _ in range(_DRAWS):
        value = int.from_bytes(entropy(8), "big") % _TAG_SPACE
        high, low = divmod(value, _PAIR_SPACE)
        tag = _ALPHABET[high] + _PAIRS[low]
        if tag not in used:
            return tag
    raise UesError("No free tag could be drawn.", next_step="Close this session or host and open a new one.")


class HostTags:
    """The public tags of one Host: its own, and which owner each of its sessions belongs to.

    It holds no secrets. A tag stays known after its session closed, so that a late ref is still refused for the right reason.
    """

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._owners: dict[str, str] = {}
        self.host_tag: Final = draw_tag(entropy)

    def register(self, owner: str) -> str:
        """A fresh session tag for ``owner``."""
        tag = draw_tag(self._entropy, self._owners)
        self._owners[tag] = owner
        while len(self._owners) > _KEPT_SESSIONS:
            del self._owners[next(iter(self._owners))]
        return tag

    def owner_of(self, session_tag: str) -> str | None:
        """The owner of a session of this host, open or closed; ``None`` for a tag that this host never gave out."""
        return self._owners.get(session_tag)


class RefTable:
    """The live refs of one session. Not thread-safe: it belongs to the session's event loop.

    ``key``  32 random bytes; copied into a buffer that :meth:`close` overwrites. The caller should drop its own copy.
    """

    def __init__(self, key: bytes, host_tag: str, session_tag: str, owner: str, *, tags: HostTags | None = None) -> None:
        if len(key) != KEY_BYTES:
            raise ValueError(f"a ref key has {KEY_BYTES} bytes, not {len(key)}")
        self._key = bytearray(key)
        self._tags = tags
        self.host_tag: Final = host_tag
        self.session_tag: Final = session_tag
        self.owner: Final = owner
        self._entries: dict[str, RefEntry] = {}
        self._by_key: dict[tuple[str, str, str, int], str] = {}
        self._epochs: dict[str, int] = {}
        self._epoch = 0
        self._epoch_tag = ""
        self._prefix = ""
        self._expires_at = 0.0
        self._live = False
        self._suspended = False
        self._closed = False

    @classmethod
    def open(cls, tags: HostTags, owner: str, entropy: Entropy) -> RefTable:
        """A table with a fresh key and a fresh session tag registered for ``owner``."""
        return cls(entropy(KEY_BYTES), tags.host_tag, tags.register(owner), owner, tags=tags)

    # -- state -------------------------------------------------------------------------------------------------------

    @property
    def epoch(self) -> int:
        """Number of the latest observation; 0 before the first."""
        return self._epoch

    @property
    def suspended(self) -> bool:
        """Whether an action was dispatched since the latest observation."""
        return self._suspended

    @property
    def expires_at(self) -> float:
        """When the live refs expire, on the caller's clock; 0 before the first observation."""
        return self._expires_at

    def __len__(self) -> int:
        return len(self._entries)

    def entries(self) -> tuple[RefEntry, ...]:
        """The live entries, suspended ones included, in order of minting."""
        return tuple(self._entries.values())

    def ref_of(self, key: NodeKey) -> str | None:
        """The live ref of a node, or ``None``."""
        return self._by_key.get((key.page, key.frame, key.document, key.n))

    def __repr__(self) -> str:
        return f"<RefTable session={self.session_tag} epoch={self._epoch} refs={len(self._entries)}>"

    # -- minting -----------------------------------------------------------------------------------------------------

    def draw_epoch_tag(self, entropy: Entropy) -> str:
        """A tag that no earlier observation of this session used."""
        return draw_tag(entropy, self._epochs)

    def begin_epoch(self, epoch: int, epoch_tag: str, *, expires_at: float, keep: Iterable[str] = ()) -> None:
        """Start an observation.

        A full observation keeps nothing: every older ref is dropped. A delta passes in ``keep`` the refs of the nodes that
        live; those are revived, everything else is dropped. Refs expire when ``now`` is strictly past ``expires_at``.
        """
        self._must_be_open()
        if epoch <= self._epoch:
            raise ValueError(f"epoch {epoch} is not after epoch {self._epoch}")
        if epoch_tag in self._epochs or not _is_tag(epoch_tag):
            raise ValueError("the epoch tag is malformed or was used before in this session")
        kept = [self._entries[ref] for ref in dict.fromkeys(keep) if ref in self._entries]
        self._set_entries(kept)
        self._epoch, self._epoch_tag = epoch, epoch_tag
        self._epochs[epoch_tag] = epoch
        self._prefix = f"r{self.host_tag}{self.session_tag}{epoch_tag}"
        self._expires_at = expires_at
        self._live = True
        self._suspended = False

    def mint(
        self,
        page: str,
        document: str,
        key: NodeKey,
        identity_digest: str,
        *,
        identity: Identity | None = None,
        parent: str | None = None,
    ) -> str:
        """The ref of a node in the current observation.

        A node that already has a live ref (kept by a delta, or minted twice) keeps it; its ``identity`` and ``parent`` are
        brought up to date, its MAC stays the one of minting.
        """
        if not self._live or self._suspended:
            self._must_be_open()
            raise ValueError("mint needs a begun, unsuspended epoch")
        place = (key.page, key.frame, key.document, key.n)
        known = self._by_key.get(place)
        if known is not None:
            self._entries[known] = self._entries[known]._replace(identity=identity, parent=parent)
            return known
        ref = self._prefix + self._mac(page, document, self._epoch, key, identity_digest)
        if ref in self._entries:
            raise UesError("Two nodes have the same ref.", next_step="Observe again.")
        self._entries[ref] = RefEntry(ref, key, page, document, self._epoch, identity_digest, identity, parent)
        self._by_key[place] = ref
        return ref

    # -- resolving ---------------------------------------------------------------------------------------------------

    def resolve(self, ref: str, now: float) -> RefEntry:
        """The live entry of a ref, or ``RefRefusal`` with the code that says why there is none. Changes nothing."""
        if self._closed:
            raise _refusal(Code.SESSION_CLOSED)
        if not _is_ref(ref):
            raise _refusal(Code.REF_INVALID)
        host, session, epoch_tag = ref[1:4], ref[4:7], ref[7:10]
        if host != self.host_tag:
            raise _refusal(Code.REF_OTHER_HOST)
        if session != self.session_tag:
            owner = self._tags.owner_of(session) if self._tags else None
            if owner is None:
                raise _refusal(Code.REF_UNKNOWN)
            raise _refusal(Code.REF_OTHER_SESSION if owner == self.owner else Code.REF_OTHER_OWNER)
        entry = self._match(ref)
        if entry is None:
            if epoch_tag in self._epochs and (epoch_tag != self._epoch_tag or not self._live):
                raise _refusal(Code.REF_CONSUMED)
            raise _refusal(Code.REF_UNKNOWN if self._live else Code.OBSERVATION_REQUIRED)
        if self._suspended:
            raise _refusal(Code.REF_SUSPENDED)
        if now > self._expires_at:
            raise _refusal(Code.REF_EXPIRED)
        return entry

    # -- after an action ---------------------------------------------------------------------------------------------

    def suspend(self) -> None:
        """An action was dispatched: no ref resolves until the next observation revives or drops it."""
        self._suspended = True

    def revive(self, refs: Iterable[str], *, expires_at: float | None = None) -> None:
        """Make exactly these refs usable again and drop the others, without a new observation number."""
        self._must_be_open()
        self._set_entries([self._entries[ref] for ref in dict.fromkeys(refs) if ref in self._entries])
        self._suspended = False
        if expires_at is not None:
            self._expires_at = expires_at

    def drop(self) -> None:
        """Forget every ref: until the next observation nothing resolves."""
        self._set_entries([])
        self._live = False
        self._suspended = False

    def close(self) -> None:
        """Forget every ref and overwrite the key, as far as Python can. Idempotent."""
        self.drop()
        for i in range(len(self._key)):
            self._key[i] = 0
        self._closed = True

    # -- private -----------------------------------------------------------------------------------------------------

    def _must_be_open(self) -> None:
        if self._closed:
            raise _refusal(Code.SESSION_CLOSED)

    def _set_entries(self, entries: list[RefEntry]) -> None:
        self._entries = {e.ref: e for e in entries}
        self._by_key = {(e.key.page, e.key.frame, e.key.document, e.key.n): e.ref for e in entries}

    def _match(self, ref: str) -> RefEntry | None:
        wanted = ref.encode("ascii")
        found: RefEntry | None = None
        for entry in self._entries.values():
            if hmac.compare_digest(entry.ref.encode("ascii"), wanted):
                found = entry
        if found is None:
            return None
        mac = self._mac(found.page, found.document, found.epoch, found.key, found.minted_digest)
        return found if hmac.compare_digest(mac.encode("ascii"), wanted[-MAC_WIDTH:]) else None

    def _mac(self, page: str, document: str, epoch: int, key: NodeKey, identity_digest: str) -> str:
        kp, kf, kd = key.page, key.frame, key.document
        message = (
            f"{self.session_tag}{len(page)}:{page}{len(document)}:{document}{epoch};"
            f"{len(kp)}:{kp}{len(kf)}:{kf}{len(kd)}:{kd}{key.n};{len(identity_digest)}:{identity_digest}"
        )
        digest = hmac.digest(self._key, message.encode("utf-8", "surrogatepass"), "sha256")
        first, second = _HALVES.unpack_from(digest)
        return _six(first) + _six(second)


def _six(value: int) -> str:
    """Six base62 characters of a 64-bit number; the modulo's bias is below 2 ** -28."""
    value, a = divmod(value, _PAIR_SPACE)
    value, b = divmod(value, _PAIR_SPACE)
    return _PAIRS[a] + _PAIRS[b] + _PAIRS[value % _PAIR_SPACE]


def _is_tag(text: str) -> bool:
    return len(text) == TAG_WIDTH and _DIGITS.issuperset(text)


def _is_ref(ref: object) -> bool:
    return isinstance(ref, str) and len(ref) == REF_WIDTH and ref[0] == "r" and _DIGITS.issuperset(ref)


_OBSERVE: Final = "Observe and use a ref of that observation."
_SENTENCES: Final[dict[Code, tuple[str, str]]] = {
    Code.REF_INVALID: ("This is not a ref.", "Copy a ref from the latest observation, unchanged."),
    Code.REF_OTHER_HOST: ("The ref was minted by another host, or by an earlier run.", _OBSERVE),
    Code.REF_OTHER_OWNER: ("The ref belongs to a session of another owner.", "Use only refs that your own session was given."),
    Code.REF_OTHER_SESSION: ("The ref belongs to another session of this owner.", "Use it in the session that it came from."),
    Code.REF_CONSUMED: ("The ref comes from an older observation.", _OBSERVE),
    Code.REF_SUSPENDED: ("An action was dispatched since the ref was observed.", "Observe again; with since= it may live on."),
    Code.REF_UNKNOWN: ("The ref is in no observation of this session.", _OBSERVE),
    Code.REF_EXPIRED: ("The observation that the ref comes from has expired.", "Observe again."),
    Code.OBSERVATION_REQUIRED: ("There is no live observation that a ref could come from.", "Observe first."),
    Code.SESSION_CLOSED: ("The session is closed; its refs mean nothing.", "Open a new session."),
}


def _refusal(code: Code) -> RefRefusal:
    sentence, next_step = _SENTENCES[code]
    return RefRefusal(sentence, code=code, next_step=next_step)
