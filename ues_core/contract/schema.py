"""JSON Schema of every model that crosses a border, by name: what another language validates against."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

from pydantic import ConfigDict, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from ues_core import contract
from ues_core.contract._base import CONTRACT_VERSION, Model
from ues_core.contract.action import ACTION_ADAPTER
from ues_core.contract.advice import Advice, AdviceAnswer
from ues_core.contract.driver import Gesture
from ues_core.contract.packet import Row
from ues_core.contract.receipt import AnyReceipt
from ues_core.contract.site import WebChatSite

DIALECT: Final = GenerateJsonSchema.schema_dialect
"""The dialect of every schema: draft 2020-12."""

_LATER: Final = ConfigDict(defer_build=True)
_SHORT: Final[dict[str, Any]] = {
    "action": ACTION_ADAPTER,
    "advice": AdviceAnswer,
    "any-receipt": TypeAdapter(AnyReceipt, config=_LATER),
    "bound-advice": Advice,
    "gesture": TypeAdapter(Gesture, config=_LATER),
    "packet-row": TypeAdapter(Row, config=_LATER),
    "site": WebChatSite,
}
"""Names that are not simply a model's own. ``advice`` is what an answer must fit; what becomes of it is ``bound-advice``."""


def schema_names() -> tuple[str, ...]:
    """Every name that ``json_schema`` knows, sorted."""
    return tuple(sorted(_schemas()))


def schema_name(asked: str) -> str | None:
    """The name that is meant by a schema's own name or by a model's class name (``DriverInfo``); ``None`` when there is none."""
    sources = _schemas()
    if asked in sources:
        return asked
    return next((name for name, source in sources.items() if inspect.isclass(source) and source.__name__ == asked), None)


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one model, or of a union (``action``, ``gesture``, ``any-receipt``). ``KeyError`` when unknown."""
    source = _schemas()[name]
    adapter = source if isinstance(source, TypeAdapter) else TypeAdapter(source)
    body = adapter.json_schema(by_alias=True)
    return {"$schema": DIALECT, "$comment": f"UES contract version {CONTRACT_VERSION}", "title": name, **body}


def _schemas() -> dict[str, Any]:
    models = {
        _kebab(name): value
        for name, value in vars(contract).items()
        if name in contract.__all__ and inspect.isclass(value) and issubclass(value, Model) and value is not Model
    }
    return {**models, **_SHORT}


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
