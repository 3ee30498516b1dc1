"""Where a sealed process begins: take the channel, read what to seal, seal, measure, tell, and only then serve.

Run as a script by ``python -I -S`` with an empty environment in an empty folder. Nothing of the kit but the modules of this
folder is imported before the seal is closed, and nothing of the plugin before the host has read the report.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any

_ROOMS = ("ues_core", "ues_core.reasoning", "ues_core.reasoning.sealed")
_CONFIG_BYTES = 4_000_000


def _stand_in(core: str) -> None:
    """Empty packages in the place of the real ones, so that reaching this folder does not import the host's side."""
    folders = (core, os.path.join(core, "reasoning"), os.path.join(core, "reasoning", "sealed"))
    for name, folder in zip(_ROOMS, folders, strict=True):
        module = types.ModuleType(name)
        module.__path__ = [folder]
        sys.modules[name] = module


def _take_channel() -> tuple[int, int]:
    """Descriptors of the channel out of the way of ``print`` and ``input``, which get the errors' pipe and nothing."""
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return reading, writing


def main() -> None:
    """The whole life of the process."""
    core = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
    _stand_in(core)
    from ues_core.reasoning.sealed.child import finder, measure, seal, wire

    header = _exactly(0, wire.HEADER_BYTES)
    size = wire.length(header)
    if size > _CONFIG_BYTES:
        raise SystemExit(2)
    config: dict[str, Any] = wire.decode(_exactly(0, size))["params"]
    # The channel moves to the lowest free descriptors; everything above is closed with the seal.
    reading, writing = _take_channel()
    places = {**finder.standard_places(), **config["places"]}
    sys.dont_write_bytecode = True
    readable = [*seal.interpreter_places(), *config["readable"]]
    sealed = seal.close(config["limits"], readable, config["targets"]["parent"], keep=(reading, writing))
    sealed["probes"] = measure.measure(config["targets"])
    os.write(writing, wire.encode({"method": "sealed", "params": sealed}))

    sys.meta_path.insert(2, finder.PlacesFinder(places, config["metadata"]))
    sys.path_importer_cache.clear()
    del sys.modules["ues_core"]
    from ues_core.reasoning.sealed.child import serve

    serve.serve(reading, writing)


def _exactly(descriptor: int, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = os.read(descriptor, size - len(data))
        if not more:
            raise SystemExit(2)
        data += more
    return data


if __name__ == "__main__":
    main()
