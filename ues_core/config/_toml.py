"""Reading one ``ues.toml``: bounded, parsed, and with the line of every key for the error that may follow."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from ues_core.contract import Code, ConfigError

FILE_NAME: Final = "ues.toml"
SIZE_LIMIT: Final = 1_048_576
"""Bytes of a configuration file; a larger one is a mistake."""

_HEADER = re.compile(r"^\s*\[{1,2}\s*([^\]]+?)\s*\]{1,2}\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=""")
_POSITION = re.compile(r"\(at line (\d+), column \d+\)")


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """The file as data, and its text. Raises ``ConfigError`` with file, line and what was expected."""
    try:
        if not path.is_file():
            raise OSError("it is not a file" if path.exists() else "there is no such file")
        if path.stat().st_size > SIZE_LIMIT:
            raise OSError(f"it is larger than {SIZE_LIMIT} bytes")
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(path, f"it is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from None
    except ValueError as error:  # a path that no file can have
        raise _unreadable(path, str(error)) from None
    try:
        return tomllib.loads(text), text
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _POSITION.search(str(error))
        line = int(found.group(1)) if found else max(1, len(text.splitlines()))
        what = _POSITION.sub("", str(error)).strip()
        raise ConfigError(
            f"{path}, line {line}: not valid TOML: {what}.",
            next_step="Correct that line; nothing was started.",
            details={"file": str(path), "line": str(line), "key": "", "expected": "TOML 1.0"},
        ) from None


def _unreadable(path: Path, why: str) -> ConfigError:
    return ConfigError(
        f"{path} cannot be read: {why}.",
        code=Code.CONFIG_UNREADABLE,
        next_step="Correct the path or the file; nothing was started.",
        details={"file": str(path), "expected": "a readable UTF-8 file"},
    )


def line_of(text: str, key: str) -> int:
    """The line (from 1) on which ``key`` (dotted) is set: the assignment itself, else the table around it, else 1."""
    wanted = key.split(".")
    best, best_depth = 1, 0
    for number, path in _assignments(text):
        depth = _common(path, wanted)
        if depth == len(path) and depth > best_depth:
            best, best_depth = number, depth
    return best


def _common(path: list[str], wanted: list[str]) -> int:
    return len(path) if path == wanted[: len(path)] else 0


def _assignments(text: str) -> list[tuple[int, list[str]]]:
    """Every header and assignment with its line, multi-line strings skipped."""
    found: list[tuple[int, list[str]]] = []
    table: list[str] = []
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        if inside:
            if inside in line:
                inside = ""
            continue
        if header := _HEADER.match(line):
            table = _split(header.group(1))
            found.append((number, table))
        elif assignment := _ASSIGNMENT.match(line):
            found.append((number, table + _split(assignment.group(1))))
            for quote in ('"""', "'''"):
                if line.count(quote) % 2:
                    inside = quote
    return found


def _split(dotted: str) -> list[str]:
    return [part.strip().strip("\"'") for part in dotted.split(".")]
