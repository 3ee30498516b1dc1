"""What a process pays for the contract when it starts, and that nothing is lost by paying later."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Barrier, Thread

from pydantic import Field

from ues_core.contract import Model
from ues_core.contract._base import field_docstrings
from ues_core.contract.schema import json_schema, schema_names


class Below(Model):
    first: int = 1
    """Inherited."""


class Above(Below):
    # no docstring below this one
    second: str = ""
    third: str = Field(default="", alias="thirdOne")
    """On two
    lines."""


def test_importing_the_contract_builds_validators_of_nothing_but_defaults() -> None:
    script = (
        "import json, ues_core.contract as c;"
        "models = [v for n in c.__all__ if isinstance(v := getattr(c, n), type) and issubclass(v, c.Model)];"
        "print(json.dumps([m.__name__ for m in models if m is not c.Model and m.__pydantic_complete__]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    built = set(json.loads(done.stdout))
    assert len(built) < 20
    assert built.isdisjoint({"Advice", "Node", "Observation", "OpenSpec", "Packet", "Receipt"})


def test_many_threads_may_need_the_same_model_first() -> None:
    class Fresh(Model):
        numbers: tuple[int, ...] = ()

    start, failed = Barrier(8), []

    def use() -> None:
        start.wait()
        try:
            assert Fresh.model_validate_json('{"numbers": [1, 2]}').model_dump_json() == '{"numbers":[1,2]}'
        except Exception as error:
            failed.append(error)
            raise

    threads = [Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failed == []


def test_docstrings_of_fields_are_read_from_the_source_also_inherited_ones() -> None:
    assert field_docstrings(Above) == {"first": "Inherited.", "third": "On two\nlines."}
    shown = Above.model_json_schema()["properties"]
    assert {name: field.get("description") for name, field in shown.items()} == {
        "first": "Inherited.",
        "second": None,
        "thirdOne": "On two\nlines.",
    }


def test_a_model_without_source_has_no_descriptions() -> None:
    space: dict[str, type[Model]] = {}
    exec("from ues_core.contract import Model\nclass Made(Model):\n    one: int = 1\n    'Not kept.'\n", space)
    assert field_docstrings(space["Made"]) == {}
    assert space["Made"].model_json_schema()["properties"]["one"]["type"] == "integer"


def test_the_schemas_of_the_contract_are_described() -> None:
    """So that losing the docstrings is noticed: 230 fields had one when this was written."""
    fields = [f for name in schema_names() for f in json_schema(name).get("properties", {}).values()]
    assert sum("description" in f for f in fields) >= 200
