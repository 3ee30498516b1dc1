"""The refusal for a name that nothing installed has."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence

from ues_core.contract import Code, PluginError, PluginKind


def unknown_plugin(kind: PluginKind, name: str, installed: Sequence[str], others: Mapping[str, Sequence[str]]) -> PluginError:
    """Lists what is installed and the nearest match; says when the name belongs to another kind, and how to install."""
    names = sorted(set(installed))
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    listed = f"Installed: {', '.join(names)}." if names else f"No {kind} is installed."
    elsewhere = next((other for other, its in others.items() if name in its), "")
    hint = f" Did you mean {near[0]}?" if near else ""
    if elsewhere:
        hint = f" There is a {elsewhere} of that name, which is something else."
    return PluginError(
        f"There is no {kind} named {name!r}. {listed}{hint}",
        code=Code.PLUGIN_UNKNOWN,
        next_step=f"Choose an installed one, or install the distribution that offers it (ours: pip install ues-{kind}-NAME).",
        details={"kind": str(kind), "asked": name, "installed": ", ".join(names), "nearest": near[0] if near else ""},
    )
