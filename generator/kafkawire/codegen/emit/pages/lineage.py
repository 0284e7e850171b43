"""Where each version of a message comes from: the releases that have it, or the proposal that asks for it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.codegen.specs_tree import LoadedSpecs
from kafkawire.codegen.versions import NO_VERSIONS, Versions


@dataclass(frozen=True, slots=True)
class Lineage:
    """The origin of one version.

    Attributes:
        releases: the releases that have it, oldest first.
        proposal: the proposal that it belongs to, or empty.
        differences: release to what changed in place after it, in words.
    """

    releases: tuple[str, ...] = ()
    proposal: str = ""
    differences: tuple[tuple[str, tuple[str, ...]], ...] = ()


def lineages(specs: LoadedSpecs) -> Mapping[str, Mapping[int, Lineage]]:
    """Message name to version to origin. Definitions that were imported from nowhere have none."""
    found: dict[str, dict[int, Lineage]] = {}
    for released in specs.released:
        if released.version < 0:
            continue
        versions = found.setdefault(released.merged_message, {})
        known = versions.get(released.merged_version, Lineage())
        differences = known.differences
        if released.differences:
            differences += ((released.release, tuple(map(str, released.differences))),)
        versions[released.merged_version] = Lineage((*known.releases, released.release), "", differences)
    for name, proposed in specs.proposed.items():
        versions = found.setdefault(name, {})
        versions.update({version: Lineage(proposal=proposal) for version, proposal in proposed.items()})
    return found


def unpublished_folders(released: Iterable[ReleasedVersion]) -> Mapping[str, frozenset[str]]:
    """Folder of definitions to the later releases that did not publish it, so that nothing is known of its messages."""
    folders: dict[str, dict[str, None]] = {}
    for version in released:
        folders.setdefault(version.release, {})[version.group] = None
    known: set[str] = set()
    missing: dict[str, set[str]] = {}
    for release, published in folders.items():
        for folder in known - published.keys():
            missing.setdefault(folder, set()).add(release)
        known |= published.keys()
    return {folder: frozenset(releases) for folder, releases in missing.items()}


def lineage_text(lineage: Lineage, releases: Sequence[str]) -> str:
    """The releases that have a version, ``all`` or ``4.3.1, 4.4.0``, or its proposal; empty if nothing is known.

    Args:
        lineage: of the version.
        releases: all that are known, oldest first.
    """
    if lineage.proposal:
        return f"proposal {lineage.proposal}"
    return "all" if lineage.releases and lineage.releases == tuple(releases) else ", ".join(lineage.releases)


def versions_by_release(
    lineage: Mapping[int, Lineage], releases: Sequence[str], unpublished: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Each release with the versions that it has of a message; ``none`` and ``not published`` included."""
    return tuple(
        (
            name,
            "not published"
            if name in unpublished
            else _range(version for version, line in lineage.items() if name in line.releases),
        )
        for name in releases
    )


def proposed_versions(lineage: Mapping[int, Lineage]) -> str:
    """The versions that proposals add, ``4 (kip-888)``; empty if there are none."""
    by_proposal: dict[str, list[int]] = {}
    for version, line in lineage.items():
        if line.proposal:
            by_proposal.setdefault(line.proposal, []).append(version)
    return ", ".join(f"{_range(versions)} ({proposal})" for proposal, versions in by_proposal.items())


def _range(versions: Iterable[int]) -> str:
    present = list(versions)
    return str(Versions(min(present), max(present)) if present else NO_VERSIONS)
