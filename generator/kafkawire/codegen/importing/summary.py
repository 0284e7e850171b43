"""The import in figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafkawire.codegen.released_versions import Relation, ReleasedVersion, releases_of


@dataclass(frozen=True, slots=True)
class ReleaseCount:
    """Figures of one release.

    Attributes:
        release: its version.
        messages: definitions in it.
        retired: those of them without a valid version.
        versions: message versions in it.
        relations: how many of them relate to the merged definitions in each way.
    """

    release: str
    messages: int
    retired: int
    versions: int
    relations: Mapping[Relation, int]


def counts_of(versions: Iterable[ReleasedVersion]) -> tuple[ReleaseCount, ...]:
    """Figures of each release, oldest first."""
    versions = tuple(versions)
    counts = []
    for release in releases_of(versions):
        own = [version for version in versions if version.release == release]
        valid = [version for version in own if version.version >= 0]
        names = {(version.group, version.message) for version in own}
        counts.append(
            ReleaseCount(
                release, len(names), len(own) - len(valid), len(valid), Counter(version.relation for version in valid)
            )
        )
    return tuple(counts)
