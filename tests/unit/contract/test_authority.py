"""Authority: one frozen word. Whatever says, could say or comes to say another one is refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ues_core.contract import Authority, ChannelKind, PluginError, ProviderInfo, check_authority, checked_info


class Good:
    @property
    def info(self) -> ProviderInfo:
        return ProviderInfo(name="good", channel=ChannelKind.NONE)

    @property
    def authority(self) -> Authority:
        return Authority.CONSULTANT_ONLY


class Slotted:
    __slots__ = ()
    authority = Authority.CONSULTANT_ONLY


@dataclasses.dataclass(frozen=True)
class FrozenData:
    name: str = "x"
    authority = Authority.CONSULTANT_ONLY


class Inheriting(Good):
    """Adds nothing about authority."""


@pytest.mark.parametrize("kind", [Good, Slotted, FrozenData, Inheriting])
def test_a_consultant_is_accepted(kind: type) -> None:
    check_authority(kind())


class Judge:
    @property
    def authority(self) -> str:
        return "judge"


class Silent:
    pass


class OnTheClass:
    authority = Authority.CONSULTANT_ONLY


class OnTheInstance:
    def __init__(self) -> None:
        self.authority = Authority.CONSULTANT_ONLY


class WithSetter:
    def __init__(self) -> None:
        self._word: Any = Authority.CONSULTANT_ONLY

    @property
    def authority(self) -> Any:
        return self._word

    @authority.setter
    def authority(self, value: Any) -> None:
        self._word = value


class WithDeleter(Good):
    authority = property(lambda self: Authority.CONSULTANT_ONLY, None, lambda self: None)


class WithSetattr(Good):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


class WithGetattribute(Good):
    def __getattribute__(self, name: str) -> Any:
        return "judge" if name == "authority" else object.__getattribute__(self, name)


class Alternating:
    def __init__(self) -> None:
        self.reads = 0

    @property
    def authority(self) -> str:
        self.reads += 1
        return "consultant-only" if self.reads % 2 else "judge"


class EqualToAll(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("consultant-only")


class Pretending:
    @property
    def authority(self) -> str:
        return EqualToAll("judge")


class Raising:
    @property
    def authority(self) -> str:
        raise SystemExit


class SubclassedAround(Good):
    @property
    def authority(self) -> Any:
        return "verdict"


class SubclassedByConstant(Good):
    authority = "consultant-only"  # type: ignore[assignment]


class Descriptor:
    def __get__(self, instance: object, owner: type) -> str:
        return "consultant-only"


class ByDescriptor:
    authority = Descriptor()


class OwnProperty(property):
    pass


class ByOwnProperty:
    authority = OwnProperty(lambda self: Authority.CONSULTANT_ONLY)


class Thawed(FrozenData):
    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)


class JudgingInfo(ProviderInfo):
    authority: Any = "judge"


class ByInfo(Good):
    @property
    def info(self) -> ProviderInfo:
        return JudgingInfo(name="x", channel=ChannelKind.NONE)


class ByUnvalidatedInfo(Good):
    @property
    def info(self) -> ProviderInfo:
        values: dict[str, Any] = {"name": "x", "channel": ChannelKind.NONE, "authority": "judge"}
        return ProviderInfo.model_construct(**values)


@pytest.mark.parametrize(
    "kind",
    [
        Judge,
        Silent,
        OnTheClass,
        OnTheInstance,
        WithSetter,
        WithDeleter,
        WithSetattr,
        WithGetattribute,
        Alternating,
        Pretending,
        Raising,
        SubclassedAround,
        SubclassedByConstant,
        ByDescriptor,
        ByOwnProperty,
        Thawed,
        ByInfo,
        ByUnvalidatedInfo,
    ],
)
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_anything_else_is_refused_with_the_code(kind: type) -> None:
    with pytest.raises(PluginError) as caught:
        check_authority(kind())
    assert caught.value.code == "authority-violation"
    assert kind.__name__ in caught.value.sentence
    assert "property" in caught.value.next_step


def test_a_class_instead_of_an_instance_is_refused() -> None:
    with pytest.raises(PluginError, match="not an instance"):
        check_authority(Good)


def test_a_word_that_changes_later_is_caught_by_the_next_check() -> None:
    class Later(Good):
        grown = False

        @property
        def authority(self) -> Any:
            return "judge" if self.grown else Authority.CONSULTANT_ONLY

    provider = Later()
    check_authority(provider)
    provider.grown = True
    with pytest.raises(PluginError):
        check_authority(provider)


def test_info_is_read_as_plain_data() -> None:
    info = checked_info(Good())
    assert type(info) is ProviderInfo
    assert info.name == "good"


def test_an_info_of_another_kind_is_invalid_data() -> None:
    class Loose(Good):
        info = {"name": "x"}  # type: ignore[assignment]

    with pytest.raises(PluginError) as caught:
        check_authority(Loose())
    assert caught.value.code == "plugin-data-invalid"
