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

from typing import Final

from pydantic import BaseModel, ConfigDict

CONTRACT_VERSION: Final = 1
"""The version of the contract that this core speaks."""

OLDEST_ACCEPTED_VERSION: Final = 1
"""The oldest contract version whose plugins this core still accepts."""


class Model(BaseModel):
    """A frozen value that crosses a border: unknown fields are errors, nothing mutates, no callable, no live handle."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        ser_json_bytes="base64",
        val_json_bytes="base64",
    )
