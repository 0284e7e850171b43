"""The columns of a table that fit on a terminal, and their widths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import pyarrow as pa
from rich.cells import cell_len

_MOST_INFORMATIVE: Final = frozenset(
    {
        *("principal", "permission", "permission_type", "operation", "resource_type", "resource_name"),
        *("user", "client_id", "ip", "key", "value", "name", "partitions", "group_id", "topic", "partition"),
        *("committed_offset", "valid_from", "valid_to", "log_offset", "append_time", "record_type", "_error"),
    }
)
"""Columns that are shown first, folded and with times to the second if there is not enough room for all of them."""

_CUT_COLUMN: Final = "json"
"""The column that gets the remaining room and is cut there."""

_OF_RECORDS: Final = frozenset({"log_offset", "append_time"})
"""Columns that are less informative in rows with an interval."""

_SHOWN_LAST: Final = frozenset({"cluster", "file", "batch_position", "leader_epoch"})
"""Columns that are shown last: the origin of a row is least informative."""

_IDENTITIES: Final = frozenset({"id", "acl_id", "topic_id", "record_version"})
_WIDEST: Final = (30, 18, 13)
"""Maximum widths of a column, tried in this order until the most informative columns fit."""

_NARROWEST_CUT: Final = 40
_GAP: Final = 2
_SECONDS: Final = len("2026-03-01T12:30:00")


@dataclass(frozen=True)
class ShownColumn:
    """A column as it is shown.

    Attributes:
        name: its heading.
        cells: its texts.
        kind: its type.
        width: of its heading and its texts; longer texts are folded.
    """

    name: str
    cells: Sequence[str]
    kind: pa.DataType
    width: int

    @classmethod
    def of(cls, name: str, cells: Sequence[str], kind: pa.DataType) -> ShownColumn:
        """A column as wide as it is."""
        return cls(name, cells, kind, max(map(cell_len, (name, *cells))))

    def narrowed(self, widest: int) -> ShownColumn:
        """The same with a maximum width; a column of times without fractions of seconds."""
        if widest == _WIDEST[0] or not pa.types.is_timestamp(self.kind):
            return replace(self, width=max(cell_len(self.name), min(widest, self.width)))
        return ShownColumn.of(self.name, [f"{cell[:_SECONDS]}Z" if cell else "" for cell in self.cells], self.kind)

    def cut(self, width: int) -> ShownColumn:
        """The same with texts cut at the width, with three dots."""
        cells = [text if len(text) <= width else f"{text[: width - 1]}…" for text in self.cells]
        return ShownColumn.of(self.name, cells, self.kind)


_Chosen: TypeAlias = Mapping[str, ShownColumn]


def fitting_columns(columns: Sequence[ShownColumn], width: int) -> Sequence[ShownColumn]:
    """The most informative columns for which there is room, in their order; columns without any cell are omitted.

    Args:
        columns: all columns with their full widths.
        width: of the terminal.
    """
    names = {column.name for column in columns}
    ranks = {column.name: _rank(column, names) for column in columns}
    ranked = sorted([column for column in columns if any(column.cells)] or columns, key=lambda each: ranks[each.name])
    informative = {column.name for column in ranked if ranks[column.name] == 0}
    room = width - _GAP
    chosen: _Chosen = {}
    for widest in _WIDEST:
        chosen = {
            column.name: column for column in _chosen([each.narrowed(widest) for each in ranked], informative, room)
        }
        if informative <= chosen.keys():
            break
    widened = {column.name: column for column in _widened(chosen, ranked, room)}
    return [widened[column.name] for column in columns if column.name in widened]


def _chosen(ranked: Sequence[ShownColumn], informative: Set[str], room: int) -> Iterator[ShownColumn]:
    """As many columns as fit; if an informative one does not fit, no less informative one replaces it."""
    free, all_informative_fit = room, True
    for column in ranked:
        if not all_informative_fit and column.name not in informative:
            return
        shown = column.cut(free - _GAP) if column.name == _CUT_COLUMN and free >= _NARROWEST_CUT else column
        if shown.width + _GAP <= free or free == room:
            yield shown
            free -= shown.width + _GAP
        elif column.name in informative:
            all_informative_fit = False


def _widened(chosen: _Chosen, ranked: Sequence[ShownColumn], room: int) -> Iterator[ShownColumn]:
    """The chosen columns; the most informative ones get the remaining room first, times last."""
    free = room - sum(column.width + _GAP for column in chosen.values())
    times = []
    for whole in ranked:
        shown = chosen.get(whole.name)
        if shown is None:
            continue
        if pa.types.is_timestamp(whole.kind):
            times.append((shown, whole))
        elif shown.name == _CUT_COLUMN:
            yield shown
        else:
            widest = min(whole.narrowed(_WIDEST[0]).width, shown.width + max(free, 0))
            free -= widest - shown.width
            yield replace(whole, width=widest)
    fit = sum(whole.width - shown.width for shown, whole in times) <= free
    yield from (whole if fit else shown for shown, whole in times)


def _rank(column: ShownColumn, names: set[str]) -> int:
    """The rank of a column: low ranks are shown first."""
    name = column.name
    if name in _SHOWN_LAST or pa.types.is_binary(column.kind):
        return 4
    if name in _OF_RECORDS and "valid_from" in names:
        return 2
    if name in _MOST_INFORMATIVE:
        return 0
    if name == _CUT_COLUMN:
        return 1
    beside_its_name = name.endswith("_code") and name.removesuffix("_code") in names
    return 3 if beside_its_name or name in _IDENTITIES else 2
