"""``ues receipts``: read the ledgers of a state directory, and verify them offline."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ues_core.cli._output import json_option, note, print_json, print_table, say

if TYPE_CHECKING:
    from ues_core.seal import LedgerReport, PublicKey, Record

EXIT_CODES: Final[Mapping[str, int]] = {
    "ok": 0,
    "bad-signature": 10,
    "broken-chain": 11,
    "gap": 12,
    "missing-end": 13,
    "unknown-key": 14,
    "malformed": 15,
}
"""Verdict -> exit code of ``ues receipts verify`` and ``head``."""

_GRAVITY: Final = ("ok", "missing-end", "unknown-key", "malformed", "gap", "broken-chain", "bad-signature")
"""Of several chains, the gravest verdict decides the exit code; the last is the gravest."""

_EXIT_CODE_HELP: Final = """\b
Exit codes:
   0  ok             every line is what the host wrote, in order, up to the end
  10  bad-signature  a line's signature does not fit its bytes: it was changed
  11  broken-chain   a genuine line stands where it does not belong
  12  gap            lines are missing in between
  13  missing-end    no terminal (the host still runs, was killed, or the file
                     was cut short), or the pinned head is not reached
  14  unknown-key    signed by a key that was not given
  15  malformed      a line is no record at all
   1  something else failed (no key, no such chain, no chain at all);
   2  wrong command line
"""

_Command = Callable[..., int | None]


def _state_option(command_: _Command) -> _Command:
    return click.option(
        "--state-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="The state directory; else UES_STATE_DIR, the configuration, or the platform's own place.",
    )(command_)


@click.group("receipts")
def command() -> None:
    """Read and verify the signed records that hosts leave behind.

    Every host writes one chain of records - intents, receipts, a terminal - to one file in the state directory. A chain is named
    by its id, the file's name without its ending; a unique beginning of it is enough, and `latest` is the newest chain.

    \b
    ues receipts list             the chains
    ues receipts show             the records of the newest chain
    ues receipts show act-1f..    one receipt in full
    ues receipts verify           are they what was written?
    ues receipts key > key.pem    the public key: keep it elsewhere
    ues receipts head             the newest chain's end: keep it elsewhere

    `list` and `show` read without verifying; only `verify` and `head` check signatures.
    """


@command.command("list")
@_state_option
@json_option
def list_chains(state_dir: Path | None, as_json: bool) -> None:
    """List the chains, oldest first. Reads them without verifying."""
    rows = [_summary(path) for path in _chains(_state(state_dir))]
    if as_json:
        print_json({"chains": rows})
    elif not rows:
        say("There are no chains yet: no host ran with this state directory.")
    else:
        print_table(
            ("chain", "began", "records", "end", "open intents"),
            [(r["chain"], r["began"][:19], r["records"], r["end"], len(r["open_intents"])) for r in rows],
        )


@command.command("show")
@click.argument("target", default="latest")
@_state_option
@json_option
def show(target: str, state_dir: Path | None, as_json: bool) -> None:
    """Show a chain's records, or one receipt or intent in full. Reads without verifying.

    TARGET is a file, a chain id, `latest` (the default), or the id of a receipt or intent.
    """
    state = _state(state_dir)
    path = _find(state, target)
    if path is None:
        found = _record_by_id(state, target)
        if found is None:
            raise _unknown(state, target)
        print_json(found)
        return
    records = list(_records(path))
    if as_json:
        print_json({"chain": path.stem, "file": str(path), "records": [r.model_dump(mode="json") for r in records]})
    elif not records:
        say(f"{path} holds no record that can be read.")
    else:
        rows = [(r.seq, r.at[11:23], r.kind, _what(r.body), _outcome(r.body), r.body_id) for r in records]
        print_table(("seq", "time (UTC)", "kind", "what", "outcome", "id"), rows, title=path.stem)


@command.command("verify", epilog=_EXIT_CODE_HELP)
@click.argument("target", required=False)
@click.option("--key", "keys", multiple=True, metavar="FILE|HEX", help="Believe this public key and no other; may be repeated.")
@click.option(
    "--head", "head_digest", metavar="DIGEST", help="A digest pinned earlier: the chain must contain it. One chain only."
)
@_state_option
@json_option
def verify(target: str | None, keys: tuple[str, ...], head_digest: str | None, state_dir: Path | None, as_json: bool) -> int:
    """Verify one chain, or without TARGET all of them. Offline; nothing is read but the files and a public key.

    TARGET is a file, a chain id, or `latest`. Without --key the state directory's own key is believed: that shows damage, and
    tampering by whoever lacks the private key. Against whoever can use that key, pin the key (--key) and the chain's end
    (--head) somewhere they cannot write.
    """
    from ues_core.seal import verify_chain

    state = _state(state_dir)
    if target is not None:
        path = _find(state, target)
        if path is None:
            raise _unknown(state, target)
        paths: tuple[Path, ...] = (path,)
    else:
        paths = _chains(state)
    if not paths:
        raise _nothing(state)
    if head_digest is not None and len(paths) != 1:
        raise click.UsageError("--head is the end of one chain: name the chain or file.")
    believed = _keys(state, keys)
    reports = [verify_chain(path, believed, head_digest) for path in paths]
    worst = max((str(r.verdict) for r in reports), key=_GRAVITY.index)
    if as_json:
        print_json({"ok": worst == "ok", "exit_code": EXIT_CODES[worst], "chains": reports})
        return EXIT_CODES[worst]
    for report in reports:
        _say_report(report)
    if not keys and worst == "ok":
        note("Checked against the state directory's own key. Pin it elsewhere (ues receipts key) and pass it with --key.")
    if worst == "missing-end":
        note("A chain has no end while its host runs, after its host was killed, or when it was cut off; the rest verifies.")
    return EXIT_CODES[worst]


@command.command("key")
@_state_option
@json_option
def key(state_dir: Path | None, as_json: bool) -> None:
    """Print the public key, PEM, to be kept where the host's user cannot write. Its id goes to standard error."""
    from ues_core.seal import load_public_key

    state = _state(state_dir)
    public = load_public_key(state)
    if as_json:
        print_json({"key_id": public.key_id, "hex": public.raw.hex(), "pem": public.pem})
    else:
        say(public.pem.rstrip("\n"))
        note(f"Key id {public.key_id}, hex {public.raw.hex()}")


@command.command("head", epilog=_EXIT_CODE_HELP)
@click.argument("target", default="latest")
@_state_option
@json_option
def head(target: str, state_dir: Path | None, as_json: bool) -> int:
    """Print the digest of a chain's last record, to be pinned elsewhere and passed to `verify --head` later.

    The chain is verified up to there; of a chain without its end (a running host) the last good record counts.
    """
    from ues_core.seal import verify_chain

    state = _state(state_dir)
    path = _find(state, target)
    if path is None:
        raise _unknown(state, target)
    report = verify_chain(path, _keys(state, ()))
    code = EXIT_CODES[str(report.verdict)]
    if code not in (EXIT_CODES["ok"], EXIT_CODES["missing-end"]) or report.head is None:
        if as_json:
            print_json({"ok": False, "exit_code": code, "chains": [report]})
        else:
            _say_report(report)
        return code
    if as_json:
        print_json({**report.head.model_dump(mode="json"), "terminal": report.terminal})
    else:
        say(report.head.digest)
        note(f"Chain {report.head.chain}, record {report.head.seq}{'' if report.terminal else ', not ended yet'}")
    return 0


# -- finding ---------------------------------------------------------------------------------------------------------


def _state(given: Path | None) -> Path:
    if given is not None:
        return given
    from ues_core.config import load_settings

    return load_settings(environ=os.environ).state_dir


def _chains(state: Path) -> tuple[Path, ...]:
    from ues_core.seal import chain_files

    return chain_files(state)


def _find(state: Path, target: str) -> Path | None:
    """The file that a target means; ``None`` when it means no chain."""
    if target == "latest":
        chains = _chains(state)
        return chains[-1] if chains else None
    as_file = Path(target)
    if as_file.is_file():
        return as_file
    matching = [path for path in _chains(state) if path.stem.startswith(target)] if target else []
    exact = [path for path in matching if path.stem == target]
    found = exact or matching
    if len(found) > 1:
        raise click.UsageError(f"{target!r} is the beginning of {len(found)} chains: give more of it.")
    return found[0] if found else None


def _record_by_id(state: Path, wanted: str) -> Record | None:
    for path in reversed(_chains(state)):
        for record in _records(path):
            if record.body_id == wanted:
                return record
    return None


def _records(path: Path) -> Iterator[Record]:
    """The records of a file that can be read, whether genuine or not."""
    from ues_core.seal import decode_record
    from ues_core.seal.dsse import EnvelopeError

    passed_over = 0
    with path.open("rb") as file:
        for line in file:
            try:
                yield decode_record(line.removesuffix(b"\n"))[1]
            except EnvelopeError:
                passed_over += 1
    if passed_over:
        note(f"{path.name}: lines passed over that are no records: {passed_over}; 'ues receipts verify' says more.")


def _keys(state: Path, given: tuple[str, ...]) -> dict[str, PublicKey]:
    from ues_core.seal import load_public_key, parse_public_key, read_public_key

    if not given:
        public = [load_public_key(state)]
    else:
        public = [
            read_public_key(Path(text)) if Path(text).is_file() else parse_public_key(text, source=f"--key {text[:80]}")
            for text in given
        ]
    return {one.key_id: one for one in public}


def _nothing(state: Path) -> Exception:
    """Nothing was verified: no success, or whoever deletes the ledgers passes."""
    from ues_core.contract import UsageError

    return UsageError(
        f"There are no chains in {state}: nothing was verified.",
        next_step="No host ran with this state directory yet, or its ledgers were removed. Name another one with --state-dir.",
    )


def _unknown(state: Path, target: str) -> Exception:
    import difflib

    from ues_core.contract import UsageError

    names = [path.stem for path in _chains(state)]
    near = difflib.get_close_matches(target, names, n=1)
    if not names:
        hint = f"There are no chains in {state}: no host ran with this state directory."
    else:
        hint = f"Did you mean {near[0]}?" if near else "See: ues receipts list."
    return UsageError(f"{target!r} is no file, chain or receipt.", next_step=hint)


# -- showing ---------------------------------------------------------------------------------------------------------


def _summary(path: Path) -> dict[str, Any]:
    records = list(_records(path))
    last = records[-1] if records else None
    ended = last is not None and last.kind == "terminal"
    opened: dict[str, None] = {}
    for record in records:
        if record.kind == "intent":
            opened[record.body_id] = None
        else:
            opened.pop(str(record.body.get("intent_id", "")), None)
    return {
        "chain": path.stem,
        "file": str(path),
        "began": records[0].at if records else "",
        "records": len(records),
        "end": str(last.body.get("state", "")) if last is not None and ended else "none yet",
        "open_intents": list(opened),
    }


def _what(body: Mapping[str, object]) -> str:
    """What a record is about, in a few words."""
    target = body.get("target")
    name = target.get("name") if isinstance(target, dict) else None
    if "verb" in body:
        return f"{body['verb']} {name!r}" if name else str(body["verb"])
    parts = (body.get("kind"), body.get("event"), body.get("subject"), body.get("provider"), body.get("state"))
    return " ".join(str(part) for part in parts if part)


def _outcome(body: Mapping[str, object]) -> str:
    parts = [body.get("status"), body.get("outcome")]
    if "allowed" in body:
        parts.append("allowed" if body["allowed"] else "refused")
    code = body.get("code")
    if code not in (None, "ok"):
        parts.append(f"({code})")
    return " ".join(str(part) for part in parts if part)


def _say_report(report: LedgerReport) -> None:
    from ues_core.contract import TerminalState

    name = report.chain or Path(report.source).name
    if report.ok:
        digest = report.head.digest[:16] if report.head is not None else ""
        say(f"ok             {name}: {report.records} records, head {digest}")
        if report.end == TerminalState.INTERRUPTED:
            say("               ended interrupted: the host could not record or close everything; what is there is genuine")
    else:
        where = f" at line {report.first_bad_line}" if report.first_bad_line is not None else ""
        which = f" (receipt {report.receipt_id})" if report.receipt_id else ""
        say(f"{report.verdict:<14} {name}{where}{which}: {report.detail}; {report.records} records before it verify")
    if report.open_intents:
        say(f"               open intents, outcome not recorded: {', '.join(report.open_intents)}")
