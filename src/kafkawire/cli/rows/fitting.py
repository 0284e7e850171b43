"""The columns of a table that fit on a terminal, and their widths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import takewhile
from typing import Final

from kafkawire.cli.rows.folding import as_wide_as, folded, widest_line
from kafkawire.column_roles import ColumnRole

_ORDER: Final = {role: rank for rank, role in enumerate(ColumnRole)}
_INFORMATIVE: Final = frozenset({ColumnRole.PLACE, ColumnRole.TIME, ColumnRole.ERROR, ColumnRole.KEY})
"""Roles of which all columns are shown, narrower if need be, before one is left out.

So is the first column of values; where no column is a key, all values together identify a row.
"""

LEFT_TO_WIDE: Final = frozenset({ColumnRole.DETAIL, ColumnRole.ORIGIN})
"""Roles of columns that are only shown where there is room for all."""

_GAP: Final = 2
_MOST_LINES: Final = 8
"""Of a cell; longer texts are cut."""

_NARROWEST_CONTENT: Final = 40
_USUAL_CONTENT: Final = 60
_DATA: Final = '"data":'
"""Begins the part of a record's JSON that other columns do not have."""

_SECONDS: Final = len("2026-03-01T12:30:00")


@dataclass(frozen=True)
class _Narrowing:
    """How columns become narrower.

    Attributes:
        widest: of texts and of headings.
        seconds: whether times have no fractions of seconds.
        two_lines: whether times have their date above the time of day.
    """

    widest: int
    seconds: bool = True
    two_lines: bool = False


_NARROWINGS: Final = (
    _Narrowing(30, seconds=False),
    _Narrowing(30),
    _Narrowing(18),
    _Narrowing(18, two_lines=True),
    _Narrowing(13, two_lines=True),
    _Narrowing(11, two_lines=True),
    _Narrowing(9, two_lines=True),
)
"""Tried in this order until the informative columns fit."""


class CellKind(Enum):
    """What the cells of a column are, as far as it matters for their widths."""

    TEXT = "text"
    """They are folded."""

    NUMBER = "number"
    """They are never folded."""

    TIME = "time"
    """They lose their fractions of seconds, and take two lines at last."""

    BYTES = "bytes"
    """They are cut."""


@dataclass(frozen=True)
class ShownColumn:
    """A column as it is shown.

    Attributes:
        name: of the column.
        role: what it says about a row.
        kind: what its cells are.
        heading: its name, which may take several lines.
        cells: its texts, which may take several lines.
    """

    name: str
    role: ColumnRole
    kind: CellKind
    heading: str
    cells: Sequence[str]

    @cached_property
    def width(self) -> int:
        """Of the widest line."""
        return max(map(widest_line, (self.heading, *self.cells)))

    def narrowed(self, to: _Narrowing) -> ShownColumn:
        """The same, narrower."""
        heading = folded(self.name, to.widest, only_at_marks=True)
        if self.kind is CellKind.TIME:
            cells = [_time(cell, to) for cell in self.cells]
        elif self.kind is CellKind.BYTES:
            cells = [as_wide_as(cell, max(to.widest, widest_line(heading))) for cell in self.cells]
        elif self.kind is CellKind.NUMBER or self.role is ColumnRole.CONTENT:
            cells = list(self.cells)
        else:
            width = max(to.widest, widest_line(heading))
            cells = [folded(cell, width, most_lines=_MOST_LINES) for cell in self.cells]
        return ShownColumn(self.name, self.role, self.kind, heading, cells)

    def cut(self, width: int, lines: int) -> ShownColumn:
        """The same with texts cut after some lines of a width, marked by ``…``; they begin with their data then."""
        cells = self.cells
        if self.width > width:
            cells = [folded(_from_data(cell), width, most_lines=lines) for cell in self.cells]
        return ShownColumn(self.name, self.role, self.kind, self.heading, cells)


def in_order(columns: Sequence[ShownColumn]) -> Sequence[ShownColumn]:
    """The columns by the importance of their roles; those of one role keep their order."""
    return sorted(columns, key=lambda each: _ORDER[each.role])


def fitting_columns(columns: Sequence[ShownColumn], width: int) -> Sequence[ShownColumn]:
    """The most informative columns for which there is room, the most informative first.

    Args:
        columns: all columns with their full widths, in the order of ``in_order``.
        width: of the terminal.
    """
    room = width + _GAP  # the last column needs no gap
    informative = [each.name for each in columns if each.role in _INFORMATIVE]
    roles = {each.role for each in columns}
    if ColumnRole.CONTENT not in roles:
        values = [each.name for each in columns if each.role is ColumnRole.VALUE]
        informative += values[:1] if ColumnRole.KEY in roles else values
    best: Sequence[ShownColumn] = ()
    most = (-1, -1)
    for to in _NARROWINGS:
        chosen = list(_chosen([each.narrowed(to) for each in columns], frozenset(informative), room))
        names = {each.name for each in chosen}
        first = sum(1 for _ in takewhile(names.__contains__, informative))
        count = first, len(names.intersection(informative))
        if count > most:
            best, most = chosen, count
        if first == len(informative):
            break
    return _widened(best, columns, room)


def _chosen(columns: Sequence[ShownColumn], informative: Set[str], room: int) -> Iterator[ShownColumn]:
    """As many columns as fit; if an informative one does not fit, no less informative one replaces it."""
    content = max((each.width for each in columns if each.role is ColumnRole.CONTENT), default=-_GAP) + _GAP
    free, all_informative_fit = room, True
    for column in columns:
        if column.role is ColumnRole.CONTENT:
            if free >= min(content, _NARROWEST_CONTENT + _GAP):
                yield column
            continue
        if not all_informative_fit and column.name not in informative:
            continue
        needed = column.width + _GAP
        if needed <= free - min(content, _kept_for_content(column, informative)) or free == room:
            yield column
            free -= needed
        elif column.name in informative:
            all_informative_fit = False


def _kept_for_content(column: ShownColumn, informative: Set[str]) -> int:
    """The most room that a column leaves to the content."""
    if column.name in informative:
        return _NARROWEST_CONTENT + _GAP
    return 1 << 20 if column.kind is CellKind.BYTES else _USUAL_CONTENT + _GAP


def _widened(chosen: Sequence[ShownColumn], whole: Sequence[ShownColumn], room: int) -> Sequence[ShownColumn]:
    """The chosen columns; the most informative ones get the remaining room first, then times, and the content all."""
    by_name = {each.name: each for each in whole}
    made = {each.name: each for each in chosen}
    content = next((each for each in chosen if each.role is ColumnRole.CONTENT), None)
    kept = 0 if content is None else min(content.width, _USUAL_CONTENT) + _GAP
    free = room - kept - sum(each.width + _GAP for each in chosen if each is not content)
    for column in chosen:
        if column.kind is not CellKind.TEXT or column is content or free <= 0:
            continue
        wider = by_name[column.name].narrowed(_Narrowing(column.width + free))
        free -= wider.width - column.width
        made[column.name] = wider
    times = [each.name for each in chosen if each.kind is CellKind.TIME]
    for to in reversed(_NARROWINGS):
        wider_times = {name: by_name[name].narrowed(to) for name in times}
        more = sum(each.width - made[name].width for name, each in wider_times.items())
        if 0 <= more <= free:
            made |= wider_times
            free -= more
    if content is not None:
        others = sum(each.width + _GAP for each in made.values() if each.role is not ColumnRole.CONTENT)
        lines = 2 if any("\n" in cell for name in times for cell in made[name].cells) else 1
        made[content.name] = by_name[content.name].cut(room - others - _GAP, lines)
    return list(made.values())


def _time(cell: str, to: _Narrowing) -> str:
    shown = f"{cell[:_SECONDS]}Z" if cell and to.seconds else cell
    return shown.replace("T", "\n") if to.two_lines else shown


def _from_data(text: str) -> str:
    _, found, rest = text.partition(_DATA)
    return f"…{rest}" if found else text
