"""Names that a source file defines and files that it imports: Python by its own parser, other languages by their keywords."""

from __future__ import annotations

import ast
import posixpath
import re
import warnings
from collections.abc import Iterator
from typing import Final, NamedTuple

PARSED_CHARS: Final = 400_000
SYMBOLS_KEPT: Final = 400

_DEFINITION: Final = re.compile(
    r"^[ \t]{0,16}+"
    r"(?:(?:export|default|public|private|protected|static|async|abstract|final|pub(?:\([a-z]{1,10}\))?|unsafe|inline)[ \t]++){0,5}"
    r"(?:function\*?|class|interface|type|enum|struct|trait|fn|func|def|module|namespace|object|protocol|const|let|var)[ \t]++"
    r"(?:\([^)\n]{0,120}+\)[ \t]*+)?(?P<name>[A-Za-z_$][\w$]{0,100}+)",
    re.MULTILINE,
)
_PYTHON_IMPORT: Final = re.compile(
    r"^[ \t]{0,16}+(?:import[ \t]++(?P<plain>[^\n#;]{1,400}+)"
    r"|from[ \t]++(?P<module>\.{0,8}+[\w.]{0,200}+)[ \t]++import[ \t]++(?:\((?P<many>[^)]{0,4000}+)|(?P<names>[^\n#;(]{1,400}+)))",
    re.MULTILINE,
)
_JS_IMPORT: Final = re.compile(r"""(?:from|import|require\()[ \t]{0,4}+["'](?P<path>\.{1,2}/[^"'\n]{1,200}+)["']""")
_JS_ENDINGS: Final = ("", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".vue", "/index.ts", "/index.tsx", "/index.js")


class Symbol(NamedTuple):
    """A definition: its name (``Class.method`` for methods) and its first and last line."""

    name: str
    start: int
    end: int


def symbols_of(path: str, text: str) -> list[Symbol]:
    """What ``text`` defines, in order; empty when nothing is recognised."""
    if len(text) > PARSED_CHARS:
        return []
    if path.endswith((".py", ".pyi")):
        tree = _parse(text)
        if tree is not None:
            return _python_symbols(tree)
    found: list[Symbol] = []
    line, at = 1, 0
    for match in _DEFINITION.finditer(text):
        line += text.count("\n", at, match.start("name"))
        at = match.start("name")
        found.append(Symbol(match["name"], line, line))
        if len(found) >= SYMBOLS_KEPT:
            break
    return found


def defined_names(text: str) -> Iterator[str]:
    """Names that a text defines, in any language, by keywords alone: fast enough for a whole repository."""
    return (match["name"] for match in _DEFINITION.finditer(text[:PARSED_CHARS]))


def _parse(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the repository's own invalid escapes are not ours to report
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _python_symbols(tree: ast.Module) -> list[Symbol]:
    found: list[Symbol] = []
    queue: list[tuple[str, ast.stmt]] = [("", node) for node in reversed(tree.body)]
    while queue and len(found) < SYMBOLS_KEPT:
        prefix, node = queue.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{node.name}"
            found.append(Symbol(name, node.lineno, node.end_lineno or node.lineno))
            if isinstance(node, ast.ClassDef):
                queue.extend((f"{name}.", child) for child in reversed(node.body))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found.extend(
                Symbol(f"{prefix}{t.id}", node.lineno, node.end_lineno or node.lineno)
                for t in targets
                if isinstance(t, ast.Name)
            )
        elif isinstance(node, ast.If | ast.Try):
            queue.extend((prefix, child) for child in reversed(node.body))
    return found


def imports_of(path: str, text: str, known: frozenset[str], modules: dict[str, str]) -> list[str]:
    """Known files that ``text`` imports, each once, in order. ``modules`` maps dotted Python names to paths."""
    if len(text) > PARSED_CHARS:
        return []
    found: dict[str, None] = {}
    if path.endswith((".py", ".pyi")):
        for name in _python_imports(path, text):
            while name:
                if name in modules:
                    found.setdefault(modules[name])
                    break
                name = name.rpartition(".")[0]
    else:
        folder = posixpath.dirname(path)
        for match in _JS_IMPORT.finditer(text):
            base = posixpath.normpath(posixpath.join(folder, match["path"]))
            stem = base.removesuffix(".js")
            target = next((c for ending in _JS_ENDINGS for c in (base + ending, stem + ending) if c in known), None)
            if target is not None:
                found.setdefault(target)
    found.pop(path, None)
    return list(found)


def _python_imports(path: str, text: str) -> Iterator[str]:
    """Dotted names that a Python file imports. Read line by line: a parser would take most of a build's time."""
    package = path.removesuffix("/__init__.py").split("/") if path.endswith("/__init__.py") else path.split("/")[:-1]
    for match in _PYTHON_IMPORT.finditer(text):
        if match["plain"] is not None:
            yield from (name.split()[0] for name in match["plain"].split(",") if name.strip())
            continue
        module = match["module"].lstrip(".")
        level = len(match["module"]) - len(module)
        base = package[: len(package) - level + 1] if level else []
        stem = ".".join((*base, *(module.split(".") if module else ())))
        for name in (match["many"] or match["names"] or "").split(","):
            if name.strip():
                word = name.split()[0]
                yield f"{stem}.{word}" if stem else word


def python_modules(paths: frozenset[str]) -> dict[str, str]:
    """Dotted names of Python files. A leading folder that is no package (``src``, a workspace member) is not part of the name."""
    modules: dict[str, str] = {}
    for path in sorted(paths):
        if not path.endswith(".py"):
            continue
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        start = 0
        while start < len(parts) - 1 and start < 4 and "/".join((*parts[: start + 1], "__init__.py")) not in paths:
            start += 1
        modules.setdefault(".".join(parts[start:]), path)
        modules.setdefault(".".join(parts), path)
    return modules
