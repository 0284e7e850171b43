"""Rows of Arrow as a table on a terminal, limited to a readable number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import pyarrow as pa

from kafkawire.cli.rows.cells import shown, shown_time
from kafkawire.cli.rows.fitting import CellKind, ShownColumn
from kafkawire.cli.rows.terminal_table import TerminalTable
from kafkawire.cli.tables.cells import as_plain_columns
from kafkawire.column_roles import ColumnRole

MAXIMUM_ROWS: Final = 1_000
"""Maximum rows of the table; the other formats have all rows."""


def terminal_table(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    roles: Mapping[str, ColumnRole],
    *,
    are_chosen: bool = False,
) -> TerminalTable:
    """The table of the first rows.

    Args:
        batches: the rows.
        schema: their columns.
        roles: of the columns, the most important first within a role.
        are_chosen: whether the user chose these columns: then all are shown, in their order.
    """
    kept: list[pa.RecordBatch] = []
    total = rows = 0
    for batch in batches:
        total += batch.num_rows
        shown_rows = batch.slice(0, MAXIMUM_ROWS - rows)
        rows += shown_rows.num_rows
        kept += [shown_rows] if shown_rows.num_rows else []
    columns = list(_columns(kept, schema, roles))
    if not are_chosen:
        order = {name: place for place, name in enumerate(roles)}
        columns.sort(key=lambda each: order[each.name])
    return TerminalTable(columns, left_out_rows=total - rows, are_chosen=are_chosen)


def _columns(
    batches: Sequence[pa.RecordBatch], schema: pa.Schema, roles: Mapping[str, ColumnRole]
) -> Iterator[ShownColumn]:
    plain = [as_plain_columns(batch) for batch in batches]
    for position, field in enumerate(schema):
        cells = [shown(cell) for batch in plain for cell in batch.column(position).to_pylist()]
        kind = _kind(field.type)
        if kind is CellKind.TIME:
            cells = list(map(shown_time, cells))
        yield ShownColumn(field.name, roles[field.name], kind, field.name, cells)


def _kind(of: pa.DataType) -> CellKind:
    if pa.types.is_timestamp(of):
        return CellKind.TIME
    if pa.types.is_integer(of) or pa.types.is_floating(of):
        return CellKind.NUMBER
    if pa.types.is_binary(of) or pa.types.is_large_binary(of):
        return CellKind.BYTES
    return CellKind.TEXT
