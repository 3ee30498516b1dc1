"""The base of every model that crosses a border, and the contract's version.

Compatibility rule
------------------
``CONTRACT_VERSION`` is one integer. Every change that is visible on the wire raises it by one. Fields are only ever *added*,
each with a default that means "as before"; nothing is renamed, removed or given another meaning within a major release of
``ues-core``. So the core accepts every plugin whose version lies in ``OLDEST_ACCEPTED_VERSION .. CONTRACT_VERSION``: an older
plugin's data still validates here. A plugin with a *newer* version is refused, because it may send fields this core would
have to ignore; the refusal says which side to upgrade.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic_core import CoreSchema

CONTRACT_VERSION: Final = 1
"""The version of the contract that this core speaks."""

OLDEST_ACCEPTED_VERSION: Final = 1
"""The oldest contract version whose plugins this core still accepts."""


class Model(BaseModel):
    """A frozen value that crosses a border: unknown fields are errors, nothing mutates, no callable, no live handle.

    Validators are built when they are first needed and descriptions are read when a schema is asked for: a process that uses
    five of the contract's models does not pay for all of them when it starts.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        defer_build=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The schema, with the docstrings of the fields as their descriptions."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        texts = field_docstrings(cls)
        for name, field in cls.model_fields.items():
            shown = properties.get(field.serialization_alias or field.alias or name, properties.get(name))
            if shown is not None and name in texts:
                shown.setdefault("description", texts[name])
        return schema


@lru_cache(maxsize=256)
def field_docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The docstring that stands below each field in the source, own fields and inherited ones; none where there is no source."""
    texts: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if owner is not BaseModel and issubclass(owner, BaseModel):
            texts.update(_own_docstrings(owner))
    return texts


def _own_docstrings(owner: type[BaseModel]) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    except (OSError, TypeError, SyntaxError):
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    texts = {}
    for field, below in pairwise(body):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(below, ast.Expr)
            and isinstance(below.value, ast.Constant)
            and isinstance(below.value.value, str)
        ):
            texts[field.target.id] = inspect.cleandoc(below.value.value)
    return texts
