"""Table ``records``: all records of all logs in one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.logs.tables.described_records import Description, describe_record
from kafkawire.logs.tables.record_types import FRAME_VERSION, upper_snake_case
from kafkawire.logs.tables.row_table import Converted, RecordFlaw, RowTable
from kafkawire.logs.tables.rows import PendingRows
from kafkawire.logs.tables.table import Part
from kafkawire.logs.tables.txn_outcomes import TxnOutcomes

__all__ = ["RecordsTable"]

_NO_OP: Final = "NO_OP_RECORD"
_ONE_BYTE: Final = 128
"""Numbers below it take one byte in front of a record."""
_FIELDS: Final = (
    pa.field("record_type", pa.string()),
    pa.field("record_version", pa.int16()),
    pa.field("key", pa.binary()),
    pa.field("value", pa.binary()),
    pa.field("tombstone", pa.bool_()),
    pa.field("json", pa.string()),
    pa.field("txn_outcome", pa.string()),
)
_TYPES: Final = {field.name: field.type for field in _FIELDS}


class RecordsTable:
    """The table. Parts may be read side by side.

    Raises:
        UnknownColumnError: the options choose a column that there is not.
    """

    name = "records"
    splittable = True
    logs: frozenset[str] = frozenset()

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        self.schema = self._rows(TxnOutcomes(options)).schema
        self._kept: list[TxnOutcomes] = []

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """See ``Table``."""
        outcomes = self._outcomes()
        rows = self._rows(outcomes)
        for file_range in part.files:
            outcomes.enter(file_range, store)
            yield from rows.read(Part((file_range,)), options, accounts, store)
        self._kept.append(outcomes)

    def _rows(self, outcomes: TxnOutcomes) -> RowTable:
        return RowTable(self.name, self.logs, _FIELDS, _AllRecords(self._options, outcomes), self._options)

    def _outcomes(self) -> TxnOutcomes:
        """What a reading that is over has found out, for the next one to go on with, or else something new."""
        try:
            return self._kept.pop()
        except IndexError:
            return TxnOutcomes(self._options)


class _AllRecords:
    def __init__(self, options: ReadOptions, outcomes: TxnOutcomes) -> None:
        self._outcomes = outcomes
        self._registry = options.registry
        self._types = None if options.record_types is None else frozenset(options.record_types)
        self._no_ops = options.no_ops
        no_ops = {number for number, name in options.registry.metadata.items() if upper_snake_case(name) == _NO_OP}
        self._usual_numbers = frozenset(range(_ONE_BYTE)) - no_ops
        self._full = options.columns is None or "json" in options.columns or "_error" in options.columns

    def chosen(self, opened: OpenedBatch, kept: Sequence[int] | None, accounts: Accounts) -> Sequence[int] | None:
        """See ``RowSource``."""
        records, topic, control = opened.records, opened.file.topic, opened.batch.is_control
        if self._types is None and (
            self._no_ops or topic != METADATA_TOPIC or not self._may_have_no_ops(records.values)
        ):
            return kept
        numbers = range(len(records)) if kept is None else kept
        types = [
            describe_record(
                topic, records.keys[each], records.values[each], self._registry, control=control, full=False
            ).type
            for each in numbers
        ]
        chosen = [
            number
            for number, name in zip(numbers, types, strict=True)
            if (self._no_ops or name != _NO_OP) and (self._types is None or name in self._types)
        ]
        no_ops = 0 if self._no_ops else types.count(_NO_OP)
        accounts.dropped("no_op", no_ops)
        accounts.dropped("other_type", len(numbers) - len(chosen) - no_ops)
        return None if len(chosen) == len(records) else chosen

    def _may_have_no_ops(self, values: Sequence[bytes | None]) -> bool:
        """Whether one of them begins as a no-op does, or not as records usually begin."""
        numbers = {
            value[1] if value and len(value) > 1 and value[0] == FRAME_VERSION else _ONE_BYTE for value in values
        }
        return not self._usual_numbers.issuperset(numbers)

    def convert(self, rows: PendingRows, names: Sequence[str]) -> Converted:
        """See ``RowSource``."""
        described = self._descriptions(rows)
        columns: dict[str, Sequence[object]] = {
            "record_type": [each.type for each in described],
            "record_version": [each.version for each in described],
            "key": rows.keys,
            "value": rows.values,
            "tombstone": [value is None for value in rows.values],
            "json": [each.json for each in described],
        }
        flaws = {
            row: RecordFlaw(
                each.code, rows.values[row] if rows.values[row] is not None else rows.keys[row], each.reason
            )
            for row, each in enumerate(described)
            if each.code
        }
        arrays: dict[str, ArrowArray] = {
            name: pa.array(cells, _TYPES[name]) for name, cells in columns.items() if name in names
        }
        if "txn_outcome" in names:
            arrays["txn_outcome"] = self._outcomes.column(rows)
        return Converted(arrays, flaws)

    def _descriptions(self, rows: PendingRows) -> list[Description]:
        found = []
        start = 0
        for batch, end in zip(rows.batches, rows.run_ends, strict=True):
            found += [
                describe_record(
                    rows.file.topic, rows.keys[row], rows.values[row], self._registry,
                    control=batch.is_control, full=self._full,
                )
                for row in range(start, end)
            ]  # fmt: skip
            start = end
        return found
