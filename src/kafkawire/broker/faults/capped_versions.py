"""The versions of APIs that a broker offers, as far as faults let it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafkawire.broker.faults.faults import Faults


class CappedVersions(Mapping[int, range]):
    """The versions that a broker offers, limited by faults.

    Args:
        offered: API key to versions.
        faults: may limit them.
    """

    def __init__(self, offered: Mapping[int, range], faults: Faults) -> None:
        self._offered = offered
        self._faults = faults

    def __getitem__(self, key: int) -> range:
        versions = self._offered[key]
        highest = self._faults.cap(key) if self._faults else None
        if highest is None or highest >= versions[-1]:
            return versions
        if highest < versions[0]:
            raise KeyError(key)
        return range(versions[0], highest + 1)

    def __iter__(self) -> Iterator[int]:
        return (key for key in self._offered if key in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
