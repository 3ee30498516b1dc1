"""Discovery: entry points out of the metadata of what is installed. Nothing is imported here."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata


@dataclass(frozen=True, slots=True)
class Found:
    """One entry point and the distribution that brings it."""

    entry_point: metadata.EntryPoint
    distribution: str
    version: str

    @property
    def name(self) -> str:
        """The entry point's name: the plugin's."""
        return self.entry_point.name

    @property
    def owner(self) -> str:
        """Distribution and version, for messages."""
        return f"{self.distribution} {self.version}"

    def matches(self, names: Sequence[str]) -> bool:
        """Whether a configured list names this plugin or its distribution."""
        return self.name in names or canonical(self.distribution) in {canonical(n) for n in names}


def canonical(distribution: str) -> str:
    """A distribution's name as packaging tools compare it: lower case, runs of ``-_.`` as one dash."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def find(group: str, path: Sequence[str] | None = None) -> tuple[Found, ...]:
    """The entry points of a group, sorted by name and distribution.

    ``path`` is where to look, default: ``sys.path``. A distribution that stands on the path twice counts once, the first
    time, as it does for imports. Metadata that cannot be read belongs to no distribution and is passed over.
    """
    found = [
        Found(entry, name, version)
        for dist, name, version in _distributions(path)
        for entry in _entry_points(dist)
        if entry.group == group
    ]
    return tuple(sorted(found, key=lambda f: (f.name, canonical(f.distribution), f.entry_point.value)))


def is_installed(distribution: str, path: Sequence[str] | None = None) -> bool:
    """Whether a distribution of that name is installed."""
    return any(canonical(name) == canonical(distribution) for _, name, _ in _distributions(path))


def _distributions(path: Sequence[str] | None) -> Iterator[tuple[metadata.Distribution, str, str]]:
    seen: set[str] = set()
    candidates = metadata.distributions() if path is None else metadata.distributions(path=list(path))
    for dist in candidates:
        try:
            name, version = dist.metadata["Name"], dist.version
        except Exception:  # noqa: BLE001 - a damaged installation of something unrelated must not hide the plugins
            continue
        if isinstance(name, str) and name and canonical(name) not in seen:
            seen.add(canonical(name))
            yield dist, name, version or "unknown"


def _entry_points(dist: metadata.Distribution) -> Sequence[metadata.EntryPoint]:
    try:
        return tuple(dist.entry_points)
    except Exception:  # noqa: BLE001 - see above: an unreadable entry_points.txt declares nothing
        return ()
