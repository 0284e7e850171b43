"""A merged layout turned back into the one that an older release had."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kafkawire.codegen.merge.difference import Difference
from kafkawire.layout import FieldLayout, StructLayout


def undo(layout: StructLayout, differences: Iterable[Difference]) -> StructLayout:
    """The layout before fields were renamed and tagged fields were added.

    Args:
        layout: the newer layout.
        differences: as `layout_differences` gives them for the two layouts: a struct before what is in it, so
            that the path of each leads through names that have been turned back already.

    Raises:
        ValueError: for a difference of another kind, or one that the layout does not show.
    """
    for difference in differences:
        if difference.kind not in ("renamed", "added-tag"):
            raise ValueError(f"cannot be undone: {difference}")
        layout = _undo(layout, difference.path.split("."), difference)
    return layout


def _undo(layout: StructLayout, path: list[str], difference: Difference) -> StructLayout:
    # A renamed field stands in the layout under its newer name, which is not the last part of the path.
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
            raise ValueError(f"{field.name} is no struct, so there is no {difference.path}")
        changed = msgspec.structs.replace(field, struct=_undo(field.struct, path[1:], difference))
    elif difference.kind == "renamed":
        changed = msgspec.structs.replace(field, name=path[0])
    else:
        return tuple(other for other in fields if other is not field)
    return tuple(changed if other is field else other for other in fields)
