"""The cryptography: opaque refs, signed and chained records, the ledger."""

from __future__ import annotations

from ues_core.seal.history import OpenIntent, chain_files, open_intents
from ues_core.seal.keys import PublicKey, SigningKey, load_or_create_key, load_public_key, parse_public_key, read_public_key
from ues_core.seal.ledger import Ledger
from ues_core.seal.records import Head, Record, decode_record, digest_of
from ues_core.seal.refs import DEFAULT_TTL_SECONDS, Entropy, HostTags, RefEntry, RefTable, draw_tag
from ues_core.seal.verify import LedgerReport, verify_chain

__all__ = [
    "DEFAULT_TTL_SECONDS",
    "Entropy",
    "Head",
    "HostTags",
    "Ledger",
    "LedgerReport",
    "OpenIntent",
    "PublicKey",
    "Record",
    "RefEntry",
    "RefTable",
    "SigningKey",
    "chain_files",
    "decode_record",
    "digest_of",
    "draw_tag",
    "load_or_create_key",
    "load_public_key",
    "open_intents",
    "parse_public_key",
    "read_public_key",
    "verify_chain",
]
