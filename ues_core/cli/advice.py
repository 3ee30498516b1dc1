"""``ues advice``: judge raw answers and texts without asking anybody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO

import click

from ues_core.cli._output import FAILED, json_option, print_json, print_table, say


@click.group("advice")
def command() -> None:
    """Judge what a consultant wrote."""


@command.command("check")
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), show_default="this folder", help="The repository.")
@click.option("--request-id", default="", help="The request that it answers; only repeated in the result.")
@click.option("--nonce", help="The request's nonce. Without it, whose answer this is stays unchecked.")
@click.argument("file", type=click.File("r", errors="surrogateescape"))
@json_option
def check(repo: Path, request_id: str, nonce: str | None, file: IO[str], as_json: bool) -> int:
    """Read a whole raw answer from FILE (- for standard input) and print outcome, code and the binding of every claim."""
    from ues_core.contract import Code, ConsultOutcome, UsageError
    from ues_core.reasoning.answer import ANSWER_CHARS
    from ues_core.reasoning.judge import judge_text
    from ues_core.reasoning.report import advice_report

    if not repo.is_dir():
        raise UsageError(f"There is no folder '{repo}'.", code=Code.REPOSITORY_UNREADABLE, next_step="Name an existing folder.")
    judged = judge_text(file.read(ANSWER_CHARS + 1), nonce=nonce, root=repo.resolve(), request_id=request_id)
    result = {
        "request_id": request_id,
        "nonce_checked": nonce is not None,
        "outcome": str(judged.outcome),
        "code": str(judged.code),
        "reason": judged.reason,
        "authority_findings": [f.model_dump(mode="json") for f in judged.findings],
        "advice": advice_report(judged.advice) if judged.advice is not None else None,
    }
    if as_json:
        print_json(result)
    else:
        say(f"{judged.outcome}: {judged.reason} [{judged.code}]")
        if judged.advice is not None:
            rows = [(b.claim, b.status, b.path, b.detail) for b in judged.advice.bindings]
            print_table(("claim", "binding", "path", "detail"), rows)
        for finding in judged.findings:
            say(f"claims authority ({finding.category}) in {finding.field}: {finding.quote}")
    return 0 if judged.outcome is ConsultOutcome.ANSWERED else FAILED


@command.command("scan")
@click.option(
    "--jsonl",
    "file",
    type=click.File("r", encoding="utf-8", errors="replace"),
    is_flag=False,
    flag_value="-",
    default="-",
    help="A file with one {id, text} a line; - or nothing: standard input.",
)
def scan(file: IO[str]) -> int:
    """Scan texts for claims of authority: one {id, text} a line in, one {id, flags} a line out.

    A line that is no such object yields {id: null, error}, and the exit code is 1 in the end.
    """
    from ues_core.reasoning.authority import scan as scan_texts

    code = 0
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            key, text = row["id"], row["text"]
            if not isinstance(text, str):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            _print_line({"id": None, "error": f"line {number} is no object with an 'id' and a 'text'"})
            code = FAILED
            continue
        _print_line({"id": key, "flags": [{"category": str(f.category), "quote": f.quote} for f in scan_texts(text)]})
    return code


def _print_line(row: object) -> None:
    """One JSON value; what is not printable stands as an escape, so that quotes are exact and cannot steer a terminal."""
    text = json.dumps(row, ensure_ascii=False)
    say(text if text.isprintable() else json.dumps(row))
