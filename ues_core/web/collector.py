"""The page-side collector as one script: the modules in ``js/``, each in a scope of its own, joined in a fixed order."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

from ues_core.web.verification import LEAVE

WORLD: Final = "ues"
"""Name of the isolated world in which the collector lives."""

BINDING: Final = "__ues_tell"
"""The function of that world through which the landing guard reports at once."""

MODULES: Final = (
    "dom",
    "run",
    "sheets",
    "pointed",
    "labels",
    "text",
    "keys",
    "secrets",
    "internals",
    "roles",
    "areas",
    "frames",
    "clipping",
    "geometry",
    "css_text",
    "names",
    "groups",
    "states",
    "facts",
    "forms",
    "guard",
    "act",
    "candidates",
    "find",
    "closed",
    "collect",
    "reading",
    "read",
    "waiting",
    "api",
)
"""The modules, each after those that it imports."""

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([a-z_]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:const|let|class|function|async function) ([A-Za-z_$][\w$]*)", re.MULTILINE)


def module_source(name: str) -> str:
    """The text of one module as it lies in the package."""
    return (resources.files("ues_core.web") / "js" / f"{name}.js").read_text(encoding="utf-8")


@cache
def bundle() -> str:
    """The script that installs the collector in the world it runs in, once per document."""
    parts = [_scoped(name, module_source(name)) for name in MODULES]
    return f'(() => {{\n"use strict";\n{LEAVE}' + "".join(parts) + "$api.install();\n})();\n"


def _scoped(name: str, source: str) -> str:
    imports = "".join(f"const {{ {_flat(names)} }} = ${module};\n" for names, module in _IMPORT.findall(source))
    exports = ", ".join(_EXPORT.findall(source))
    body = re.sub(r"^export ", "", _IMPORT.sub("", source), flags=re.MULTILINE)
    return f"const ${name} = (() => {{\n{imports}{body}return {{ {exports} }};\n}})();\n"


def _flat(names: str) -> str:
    return " ".join(names.split())
