"""Counts and changes of imported releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafkawire.codegen.merge.difference import Difference
from kafkawire.codegen.merge.released_versions import Relation, ReleasedVersion, releases_of
from kafkawire.codegen.versions import versions_text


@dataclass(frozen=True, slots=True)
class ReleaseCount:
    """Counts of a release.

    Attributes:
        release: its version.
        messages: definitions in it.
        retired: definitions without a valid version.
        versions: message versions in it.
        relations: the number of versions with each relation to the merged definitions.
    """

    release: str
    messages: int
    retired: int
    versions: int
    relations: Mapping[Relation, int]


def counts_of(versions: Iterable[ReleasedVersion]) -> tuple[ReleaseCount, ...]:
    """Counts of each release, oldest first."""
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


@dataclass(frozen=True, slots=True)
class ReleaseChange:
    """Changes that a newer release made to versions that an older one has too.

    Attributes:
        release: the older release.
        message: the name that it gives the message.
        versions: the versions as text, ``0-2, 5``.
        relation: how the merged layout relates to that of the release.
        differences: what differs.
    """

    release: str
    message: str
    versions: str
    relation: Relation
    differences: tuple[Difference, ...]


def changes_of(versions: Iterable[ReleasedVersion]) -> tuple[ReleaseChange, ...]:
    """All changes, in the order of the record; equal changes of several versions are one."""
    together: dict[tuple[str, str, Relation, tuple[Difference, ...]], set[int]] = {}
    for v in versions:
        if v.relation != "same":
            together.setdefault((v.release, v.message, v.relation, v.differences), set()).add(v.version)
    return tuple(
        ReleaseChange(release, message, versions_text(numbers), relation, differences)
        for (release, message, relation, differences), numbers in together.items()
    )
