"""Which field of a record becomes which column of its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from kafkawire.logs.tables.enum_columns import enum_names

__all__ = ["OutputColumn"]


@dataclass(frozen=True)
class OutputColumn:
    """A column of a typed table.

    Attributes:
        field: name and type of the column.
        side: ``key`` or ``value``: the message that has the field.
        index: of the field in the columns of the message.
        names: of the numbers, if the column has names in place of numbers.
        masked: what takes the place of values that are kept from readers, if there are such.
    """

    field: pa.Field
    side: str
    index: int
    names: Mapping[int, str] | None = None
    masked: Callable[[Sequence[pa.Array]], pa.Array] | None = None

    def of(self, arrays: Sequence[pa.Array]) -> pa.Array:
        """The column, from those of the message."""
        if self.masked is not None:
            return self.masked(arrays)
        array = arrays[self.index]
        return array if self.names is None else enum_names(array, self.names)
