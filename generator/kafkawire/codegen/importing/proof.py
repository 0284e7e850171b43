"""Verifies the merge: compares each version of each release with the merged definition.

A version of a release must have the layout of the merged definition, except for changes that a newer release made:
another name for the same bytes, a new tagged field, or a change in place that a decision in ``sources.toml`` allows.
These are recorded beside the definitions (`ReleasedVersion`), so that `recheck` can verify the merge again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.importing.history import MessageHistory
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.sources import Decision
from kafkawire.codegen.merge.conflict import Conflict, Sides
from kafkawire.codegen.merge.difference import Difference, layout_differences
from kafkawire.codegen.merge.layout_digest import layout_digest
from kafkawire.codegen.merge.released_versions import Relation, ReleasedVersion
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import MessageLayouts, StructLayout


def prove(
    histories: Sequence[MessageHistory], releases: Sequence[str], decisions: Sequence[Decision]
) -> tuple[ReleasedVersion, ...]:
    """Compare every version of every release with the merged definitions.

    Args:
        histories: the merged messages.
        releases: the releases, oldest first.
        decisions: the changes in place that are allowed.

    Returns:
        one entry for each of them, sorted by release (oldest first), group, name and version.

    Raises:
        SpecsImportError: for every difference that is not allowed, and every decision without a difference.
    """
    proven: list[ReleasedVersion] = []
    conflicts: list[Conflict] = []
    needed: dict[Decision, None] = {}
    used: set[Decision] = set()
    for history in histories:
        layouts = resolve_message(history.message)
        for entry, newer in _entries(history, layouts):
            proven.append(entry)
            if entry.relation != "replaced":
                continue
            decision = _decision(decisions, entry, newer)
            if decision:
                used.add(decision)
                continue
            conflicts += _conflicts(entry, newer)
            if entry.release != newer:
                needed[Decision(entry.merged_message, entry.version, entry.release, newer, "")] = None
    unused = [decision for decision in decisions if decision not in used]
    problems = [str(conflict) for conflict in conflicts]
    problems += [_advice(needed)] if needed else []
    problems += [
        f"the decision about {d.message} {d.version} ({d.older}, {d.newer}) matches no difference: remove it"
        for d in unused
    ]
    if problems:
        raise SpecsImportError(*problems)
    return tuple(sorted(proven, key=lambda v: (releases.index(v.release), v.group, v.message, v.version)))


def _advice(needed: Iterable[Decision]) -> str:
    """The entries that would allow the changes, as TOML."""
    entries = "\n".join(
        f'\n[[decisions]]\nmessage = "{decision.message}"\nversion = {decision.version}\nolder = "{decision.older}"\n'
        f'newer = "{decision.newer}"\nreason = ""'
        for decision in needed
    )
    return f"If the newer layout may replace the older one, add to sources.toml, with the reason of each:\n{entries}\n"


def _entries(history: MessageHistory, layouts: MessageLayouts) -> Iterator[tuple[ReleasedVersion, str]]:
    """Each version of a message in each release, with the later release that changed it, or else its own."""
    later: dict[int, list[tuple[str, StructLayout]]] = {}
    for release, part in reversed(history.parts):
        own = resolve_message(part.source)
        if not part.source_versions:
            yield _retired(release, part.source, history.message.name), release
        for version, source_version in part.source_versions.items():
            layout = own.of_version(source_version)
            differences = _byte_differences(layout, layouts.of_version(version))
            governs = version not in later
            entry = ReleasedVersion(
                release, part.source.group, part.source.name, source_version, layout_digest(layout),
                history.message.name, version, _relation(differences, governs), differences,
            )  # fmt: skip
            yield entry, _changed_in(layout, later.get(version, ()), release)
            later.setdefault(version, []).insert(0, (release, layout))


def _changed_in(layout: StructLayout, later: Sequence[tuple[str, StructLayout]], release: str) -> str:
    """The first later release that has other bytes, or else the release itself."""
    for other, changed in later:
        if any(difference.kind == "wire" for difference in layout_differences(layout, changed)):
            return other
    return release


def _byte_differences(older: StructLayout, newer: StructLayout) -> tuple[Difference, ...]:
    return tuple(difference for difference in layout_differences(older, newer) if difference.kind != "attribute")


def _retired(release: str, source: MessageDefinition, merged_name: str) -> ReleasedVersion:
    return ReleasedVersion(release, source.group, source.name, -1, "", merged_name, -1, "same", ())


def _relation(differences: tuple[Difference, ...], governs: bool) -> Relation:
    kinds = {difference.kind for difference in differences}
    if not kinds:
        return "same"
    if governs or "wire" in kinds:
        return "replaced"
    return "renamed" if "renamed" in kinds else "extended"


def _decision(decisions: Sequence[Decision], entry: ReleasedVersion, newer: str) -> Decision | None:
    subject = (entry.merged_message, entry.version, entry.release, newer)
    return next((d for d in decisions if (d.message, d.version, d.older, d.newer) == subject), None)


def _conflicts(entry: ReleasedVersion, newer: str) -> list[Conflict]:
    sides = Sides(entry.release, newer)
    return [
        Conflict(sides, entry.message, str(entry.version), d.path, f"{d.older or 'absent'} and {d.newer or 'absent'}")
        for d in entry.differences
        if d.kind == "wire" or entry.release == newer
    ]
