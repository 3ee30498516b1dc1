"""Write the reference pages that come from the code: ``python docs/_generate.py [--check]``.

``--check`` writes nothing and exits with 1 when a page is not what the code says.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from ues_core.config import SettingKey, setting_keys
from ues_core.contract import Code, codes, consulting_words, words
from ues_core.contract.meanings import MEANINGS

REFERENCE: Final = Path(__file__).parent / "reference"
GENERATED: Final = "<!-- Written by docs/_generate.py out of the code. Do not edit. -->"


def codes_page() -> str:
    """Every code with its meaning, and every other word that the interface uses."""
    lines = [
        "# Codes and words",
        "",
        GENERATED,
        "",
        "Every status, kind and code is an enumerated string of `ues_core.contract`. They are interface: new ones may be added,",
        "none changes its meaning within a major release.",
        "",
        "## Codes",
        "",
        "Errors, refusals and receipts carry one of these (`Code`).",
        "",
        "| code | what happened | what to do |",
        "|---|---|---|",
        *(f"| `{code}` | {MEANINGS[code].what} | {MEANINGS[code].next_step} |" for code in Code),
        "",
        "## Words",
        "",
    ]
    named = {**vars(codes), **vars(words), **vars(consulting_words)}
    for name, enum in named.items():
        if inspect.isclass(enum) and issubclass(enum, StrEnum) and enum not in (StrEnum, Code):
            lines += [f"### {name}", "", _markdown(inspect.getdoc(enum) or ""), "", ", ".join(f"`{m}`" for m in enum), ""]
    return "\n".join(lines).rstrip() + "\n"


REPOSITORY_RULES: Final[Mapping[str, str]] = {
    "never": "no",
    "choose": "among `allowed_plugins`",
    "towards-off": "towards `off`",
    "smaller": "smaller",
    "fewer": "fewer",
    "more": "more",
}


def configuration_page() -> str:
    """Every key of ``ues.toml`` with its values, default, variable and what a repository may do."""
    keys = setting_keys()
    lines = [
        "# Configuration",
        "",
        GENERATED,
        "",
        "One set of settings per host, in this order of precedence, the last one wins:",
        "",
        "1. defaults;",
        "2. the operator's file: `--config`, else `UES_CONFIG`, else `ues.toml` in the platform's configuration directory for",
        "   `ues` (`$XDG_CONFIG_HOME/ues/ues.toml`, usually `~/.config/ues/ues.toml`, on Linux);",
        "3. environment variables;",
        "4. arguments.",
        "",
        "`.env` files are never read. A wrong key or value is an error that names the file, the line, the key, what was expected",
        "and the nearest key; nothing starts half-configured. An unknown variable whose name begins with `UES_` is reported.",
        "",
        "## A repository's own file",
        "",
        "A `ues.toml` in the root of the repository is read too, but it is not trusted: it may only narrow, and choose among",
        "plugins that the operator listed in `allowed_plugins`. The last column says what it may do with each key. Whatever else",
        "it says is ignored, and `ues plugins list` and `Settings.ignored` name the key and the reason. Environment variables",
        "and arguments still win over it.",
        "",
    ]
    tables: dict[str, list[SettingKey]] = {}
    for key in keys:
        tables.setdefault(key.key.rpartition(".")[0], []).append(key)
    for table, members in tables.items():
        lines += [f"## `[{table}]`" if table else "## Top level", ""]
        lines += ["| key | values | default | variable | a repository may make it |", "|---|---|---|---|---|"]
        lines += [_row(key) for key in members]
        lines += ["", *(f"* `{key.key}`: {_markdown(key.description)}" for key in members if key.description), ""]
    lines += [
        "## Environment",
        "",
        "| variable | sets |",
        "|---|---|",
        "| `UES_CONFIG` | the operator's file itself |",
        *(f"| `{key.variable}` | `{key.key}` |" for key in keys if key.variable),
        "",
        "An empty variable counts as unset. `UES_PLUGINS` takes `all`, `none` or names with commas between them; switches take",
        "`1`, `true`, `yes`, `on` and `0`, `false`, `no`, `off`.",
    ]
    return "\n".join(lines).rstrip() + "\n"


def _markdown(text: str) -> str:
    return text.replace("``", "`")


def _row(key: SettingKey) -> str:
    default = f"`{key.default}`" if key.default and not key.default.startswith("(") else key.default.strip("()") or "unset"
    variable = f"`{key.variable}`" if key.variable else ""
    expects = key.expects.replace("|", "\\|")
    return f"| `{key.key.rpartition('.')[2]}` | {expects} | {default} | {variable} | {REPOSITORY_RULES[key.repository]} |"


PAGES: Final[Mapping[str, Callable[[], str]]] = {"codes.md": codes_page, "configuration.md": configuration_page}


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    stale = []
    for name, page in PAGES.items():
        path, text = REFERENCE / name, page()
        if "--check" in arguments:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.stderr.write(f"Not what the code says: {', '.join(stale)}. Run: python docs/_generate.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
