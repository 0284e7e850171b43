"""What brokers of past releases of Apache Kafka answer to ApiVersions, recorded from such brokers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from kafkawire.model.acls.hosts import RANGES_SINCE
from kafkawire.protocol.api_table import APIS
from kafkawire.wire.message import Struct

_FILE: Final = "version_tables.json"


class VersionTable(Struct, frozen=True):
    """The answer of a new broker of one release.

    Attributes:
        release: of Apache Kafka, with the patch version.
        apis: name of each API to its lowest and highest version.
        supported: name of each feature to its lowest and highest level; releases before 3.9 leave out those from 0 on.
        finalized: name of each finalized feature to its level.
    """

    release: str
    apis: Mapping[str, tuple[int, int]]
    supported: Mapping[str, tuple[int, int]]
    finalized: Mapping[str, int]

    @property
    def has_ranges(self) -> bool:
        """Whether ACLs of a range of addresses have clients (A23)."""
        return self.finalized["metadata.version"] >= RANGES_SINCE

    @property
    def has_later_streams(self) -> bool:
        """Whether streams groups follow the rules of 4.4."""
        return self.apis.get("StreamsGroupHeartbeat", (0, 0))[1] > 0

    def limited(self, offered: Mapping[int, range]) -> Mapping[int, range]:
        """Of the versions that are offered, by API key, those that the release has."""
        limited = {}
        for key, versions in offered.items():
            lowest, highest = self.apis.get(APIS[key].name, (0, -1))
            both = range(max(versions[0], lowest), min(versions[-1], highest) + 1)
            if both:
                limited[key] = both
        return limited


def version_table(release: str) -> VersionTable:
    """The table of a release.

    Args:
        release: without the patch version, ``3.9``.

    Raises:
        ValueError: there is no such table; the text lists those that there are.
    """
    table = _tables().get(release)
    if table is None:
        raise ValueError(f"release {release!r} is not known; there are {', '.join(_tables())}")
    return table


def known_releases() -> tuple[str, ...]:
    """The releases with a table, oldest first."""
    return tuple(_tables())


@cache
def _tables() -> Mapping[str, VersionTable]:
    text = files("kafkawire.broker").joinpath(_FILE).read_bytes()
    return msgspec.json.decode(text, type=dict[str, VersionTable])
