"""Columns of typed tables, each made from a field of the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafkawire.column_roles import ColumnRole
from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.tables.enum_names import Names, enum_names


@dataclass(frozen=True)
class OutputColumn:
    """A column of a typed table.

    Attributes:
        field: name and type of the column.
        side: ``key`` or ``value``: the message that has the field.
        index: of the field in the columns of the message.
        names: the names of an enumeration, if the column has names in place of numbers.
        is_detail: whether other columns say it better: the number of a name, or the id of what has a name.
        masked: makes the column with secret values hidden, if it can have any.
    """

    field: ArrowField
    side: str
    index: int
    names: Names | None = None
    is_detail: bool = False
    masked: Callable[[Sequence[ArrowArray]], ArrowArray] | None = None

    @property
    def role(self) -> ColumnRole:
        """Its role: keys of coordinators identify what their values describe."""
        if self.is_detail:
            return ColumnRole.DETAIL
        return ColumnRole.KEY if self.side == "key" else ColumnRole.VALUE

    def of(self, arrays: Sequence[ArrowArray]) -> ArrowArray:
        """The column, made from the columns of the message."""
        if self.masked is not None:
            return self.masked(arrays)
        array = arrays[self.index]
        return array if self.names is None else enum_names(array, self.names)
