"""The collector's script: joined the same way every time, every import answered, nothing left of the module syntax."""

from __future__ import annotations

import re
from importlib import resources

from ues_core.web.collector import MODULES, bundle, module_source

IMPORT = re.compile(r'import \{([^}]*)\} from "\./([a-z_]+)\.js";')
EXPORT = re.compile(r"^export (?:const|let|class|function|async function) ([\w$]+)", re.MULTILINE)


def test_every_module_file_is_in_the_script_and_comes_after_what_it_imports() -> None:
    files = {
        entry.name.removesuffix(".js")
        for entry in (resources.files("ues_core.web") / "js").iterdir()
        if entry.name.endswith(".js")
    }
    assert files == set(MODULES)
    for place, name in enumerate(MODULES):
        for _, imported in IMPORT.findall(module_source(name)):
            assert MODULES.index(imported) < place, f"{name} imports {imported}"


def test_every_imported_name_is_exported() -> None:
    for name in MODULES:
        for names, imported in IMPORT.findall(module_source(name)):
            wanted = {part.strip() for part in names.split(",") if part.strip()}
            assert wanted <= set(EXPORT.findall(module_source(imported))), f"{name} from {imported}"


def test_the_script_is_deterministic_and_plain() -> None:
    assert bundle() == bundle()
    assert not re.search(r"^(?:import|export) ", bundle(), re.MULTILINE)
    assert bundle().isascii() or bundle().encode("utf-8")


def test_no_module_reads_through_a_clobberable_element() -> None:
    """A named form field shadows these on its form; they must be read by the saved accessors of dom.js."""
    shadowed = re.compile(
        r"\b(?:el|node|form|child|parent|host|hit|root|control|label)\.(?:getAttribute|parentNode|parentElement|children|"
        r"childNodes|querySelector|matches|closest|tagName|nodeType|shadowRoot|value|elements|action|textContent)\b"
    )
    for name in MODULES:
        if name != "dom":
            assert not shadowed.findall(module_source(name)), name
