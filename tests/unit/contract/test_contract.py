"""The contract: a stable public face, frozen models, data only, and nothing of the kit imported by it."""

from __future__ import annotations

import ast
import collections.abc
import inspect
import json
import subprocess
import sys
import typing
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ues_core import contract
from ues_core.contract import ACTION_ADAPTER, Action, AdviceAnswer, Code, Model, UesError, Verb
from ues_core.contract.schema import json_schema, schema_name, schema_names

FOLDER = Path(contract.__file__).parent


def modules() -> list[str]:
    return [path.stem for path in sorted(FOLDER.glob("*.py")) if path.stem not in ("__init__", "schema", "meanings")]


def models() -> list[type[Model]]:
    """Every model of every module of the contract, private bases too."""
    found: dict[str, type[Model]] = {}
    for name in modules():
        module = __import__(f"ues_core.contract.{name}", fromlist=["x"])
        for value in vars(module).values():
            if inspect.isclass(value) and issubclass(value, Model) and value.__module__ == module.__name__:
                found[value.__qualname__] = value
    return list(found.values())


def test_all_is_sorted_unique_and_equal_to_the_public_names() -> None:
    public = {name for name, value in vars(contract).items() if not name.startswith("_") and not inspect.ismodule(value)}
    public.discard("annotations")
    assert set(contract.__all__) == public
    assert len(contract.__all__) == len(set(contract.__all__))


def test_every_public_class_of_a_module_is_exported() -> None:
    missing = []
    for name in modules():
        module = __import__(f"ues_core.contract.{name}", fromlist=["x"])
        missing += [
            f"{name}.{key}"
            for key, value in vars(module).items()
            if inspect.isclass(value)
            and value.__module__ == module.__name__
            and not key.startswith("_")
            and key not in contract.__all__
        ]
    assert missing == []


@pytest.mark.parametrize("model", models(), ids=lambda m: m.__qualname__)
def test_every_model_is_frozen_strict_about_fields_and_documented(model: type[Model]) -> None:
    assert model.model_config.get("frozen") is True
    assert model.model_config.get("extra") == "forbid"
    assert model.__name__.startswith("_") or inspect.getdoc(model)


PLAIN = (str, int, float, bool, bytes, type(None), Any, object)


def forbidden(annotation: Any, seen: frozenset[Any] = frozenset()) -> Iterator[Any]:
    """The parts of a type that are not plain data: callables, handles, protocols, classes of the outside."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation in seen or annotation in PLAIN or annotation is Ellipsis:
        return
    if origin is collections.abc.Callable:
        yield annotation
    elif origin is typing.Literal:
        return
    elif args:
        for part in args[:1] if origin is typing.Annotated else args:
            yield from forbidden(part, seen | {annotation})
    elif inspect.isclass(annotation) and issubclass(annotation, Model):
        for field in annotation.model_fields.values():
            yield from forbidden(field.annotation, seen | {annotation})
    elif not (inspect.isclass(annotation) and issubclass(annotation, StrEnum)):
        yield annotation


def test_the_walk_would_notice_a_callable() -> None:
    class Bad(Model):
        hook: collections.abc.Callable[[], int]

    class Worse(Model):
        path: Path
        inner: tuple[Bad | None, ...] = ()

    assert len(list(forbidden(Bad))) == 1
    assert len(list(forbidden(Worse))) == 2


@pytest.mark.parametrize("model", models(), ids=lambda m: m.__qualname__)
def test_no_model_carries_a_callable_or_a_handle(model: type[Model]) -> None:
    assert list(forbidden(model)) == []


def test_the_union_of_actions_covers_every_verb() -> None:
    union = typing.get_args(typing.get_args(Action)[0])
    verbs = [member.model_fields["verb"].default for member in union]
    assert sorted(verbs) == sorted(Verb)


def test_an_unknown_verb_and_an_unknown_field_are_refused() -> None:
    assert ACTION_ADAPTER.validate_python({"verb": "fill", "ref": "r", "text": "x"}).verb is Verb.FILL
    for bad in ({"verb": "explode"}, {"verb": "click", "ref": "r", "selector": "#x"}):
        with pytest.raises(ValidationError):
            ACTION_ADAPTER.validate_python(bad)


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_exports_as_json(name: str) -> None:
    schema = json_schema(name)
    assert json.loads(json.dumps(schema))["$schema"].endswith("2020-12/schema")


def test_schemas_are_named_as_people_say_them() -> None:
    names = schema_names()
    assert {"action", "advice", "observation", "receipt", "packet", "site", "claim", "open-spec"} <= set(names)


def test_a_schema_is_found_by_its_model_s_class_name_too() -> None:
    assert [schema_name(asked) for asked in ("receipt", "Receipt", "DriverInfo")] == ["receipt", "receipt", "driver-info"]
    assert schema_name("Advice") == "bound-advice", "'advice' is what an answer must fit, AdviceAnswer"
    assert schema_name("AdviceAnswer") == "advice"
    assert schema_name("Nobody") is None


def test_the_advice_schema_has_the_keys_of_the_wire() -> None:
    properties = json_schema("advice")["properties"]
    assert "recommendedApproach" in properties
    assert "verificationSuggestions" in properties
    assert not any("_" in key for key in properties)
    assert json_schema("advice")["additionalProperties"] is False
    assert set(properties) == {f.alias for f in AdviceAnswer.model_fields.values()}


def test_the_action_schema_lists_every_verb() -> None:
    mapping = json_schema("action")["discriminator"]["mapping"]
    assert set(mapping) == {str(v) for v in Verb}


def test_every_error_has_a_docstring_a_code_and_a_fault() -> None:
    errors = [v for v in vars(contract).values() if inspect.isclass(v) and issubclass(v, UesError)]
    assert len(errors) > 10
    for error in errors:
        made = error("It broke.", next_step="Mend it.")
        assert inspect.getdoc(error)
        assert made.as_dict()["code"] in {str(c) for c in Code}
        assert str(made) == f"It broke. [{made.code}] Mend it."


def test_words_are_kebab_case_but_for_one() -> None:
    assert [str(c) for c in Code if str(c) != str(c).lower()] == ["WEB_REASONING_UNAVAILABLE"]
    assert len({str(c) for c in Code}) == len(list(Code))


def test_the_contract_imports_nothing_of_the_kit() -> None:
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert not name.startswith("ues_core.") or name.startswith("ues_core.contract"), f"{path.name}: {name}"


def test_importing_the_package_and_the_contract_loads_no_plugin_browser_or_shell_library() -> None:
    heavy = ["playwright", "websockets", "click", "rich", "stevedore", "ues_driver_playwright", "ues_provider_double"]
    code = f"import sys, ues_core, ues_core.contract; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_models_survive_a_round_trip_through_json() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(contract.OpenSpec)
    spec = contract.OpenSpec(target=contract.Attach(endpoint="http://127.0.0.1:1"), url="https://a.example")
    assert adapter.validate_json(adapter.dump_json(spec)) == spec
