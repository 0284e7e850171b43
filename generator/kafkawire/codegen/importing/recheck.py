"""Verifies the merge again, from the committed files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.merge.difference import Difference
from kafkawire.codegen.merge.layout_digest import layout_digest
from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import FieldLayout, MessageLayouts, StructLayout


def recheck(messages: Iterable[MessageDefinition], versions: Iterable[ReleasedVersion]) -> tuple[str, ...]:
    """Compare definitions with the record of the releases that they come from.

    Every version of every release must exist with the layout of that release, after later renames and new tagged fields
    are undone.

    Returns:
        a text for each difference.
    """
    layouts = {message.name: resolve_message(message) for message in messages}
    problems = (_problem(version, layouts) for version in versions if version.version >= 0)
    return tuple(problem for problem in problems if problem)


def _problem(version: ReleasedVersion, layouts: Mapping[str, MessageLayouts]) -> str | None:
    subject = f"{version.release} {version.message} {version.version}"
    found = layouts.get(version.merged_message)
    if found is None or version.merged_version not in found.by_version:
        return f"{subject}: there is no version {version.merged_version} of {version.merged_message}"
    if version.relation == "replaced":
        return None
    try:
        before = undo(found.of_version(version.merged_version), version.differences)
    except ValueError as error:
        return f"{subject}: {error}"
    if layout_digest(before) != version.layout:
        return f"{subject}: the layout of {version.merged_message} {version.merged_version} is not that of the release"
    return None


def undo(layout: StructLayout, differences: Iterable[Difference]) -> StructLayout:
    """The layout before fields were renamed and tagged fields were added.

    Args:
        layout: the newer layout.
        differences: from `layout_differences`, which has a struct before its fields, so that the names in each path are
            already undone.

    Raises:
        ValueError: for a difference of another kind, or one that the layout does not show.
    """
    for difference in differences:
        if difference.kind not in ("renamed", "added-tag"):
            raise ValueError(f"cannot be undone: {difference}")
        layout = _undo(layout, difference.path.split("."), difference)
    return layout


def _undo(layout: StructLayout, path: list[str], difference: Difference) -> StructLayout:
    # The layout has a renamed field under its newer name, which is not the last part of the path.
    name = difference.newer if len(path) == 1 and difference.kind == "renamed" else path[0]
    field = next((f for f in layout.fields if f.name == name and f.presence != "absent"), None)
    if field is None:
        raise ValueError(f"the layout of {layout.name} has no field {name}")
    return msgspec.structs.replace(layout, fields=_without(layout.fields, field, path, difference))


def _without(
    fields: tuple[FieldLayout, ...], field: FieldLayout, path: list[str], difference: Difference
) -> tuple[FieldLayout, ...]:
    if len(path) > 1:
        if field.struct is None:
            raise ValueError(f"{field.name} is not a struct, so there is no {difference.path}")
        changed = msgspec.structs.replace(field, struct=_undo(field.struct, path[1:], difference))
    elif difference.kind == "renamed":
        changed = msgspec.structs.replace(field, name=path[0])
    else:
        return tuple(other for other in fields if other is not field)
    return tuple(changed if other is field else other for other in fields)
