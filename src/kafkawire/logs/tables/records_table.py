"""Table ``records``: all records of all logs in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.column_roles import ColumnRole
from kafkawire.columns.arrow_types import ArrowArray
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.logs.tables.described_records import Description, describe_record
from kafkawire.logs.tables.record_table import Converted, RecordTable, record_flaws
from kafkawire.logs.tables.record_types import upper_snake_case
from kafkawire.logs.tables.rows import RawRows
from kafkawire.logs.tables.secret_records import secret_values
from kafkawire.logs.tables.table import Part
from kafkawire.logs.tables.txn_outcomes import TxnOutcomes
from kafkawire.records.framed_records import FRAME_VERSION

_NO_OP: Final = "NO_OP_RECORD"
_ONE_BYTE: Final = 128
"""Record ids below this take one byte in the frame."""
_HEAD: Final = 2
"""Size of the frame version and such an id."""
_FIELDS: Final = (
    (pa.field("record_type", pa.string()), ColumnRole.KEY),
    (pa.field("record_version", pa.int16()), ColumnRole.DETAIL),
    (pa.field("key", pa.binary()), ColumnRole.VALUE),
    (pa.field("value", pa.binary()), ColumnRole.VALUE),
    (pa.field("tombstone", pa.bool_()), ColumnRole.VALUE),
    (pa.field("json", pa.string()), ColumnRole.CONTENT),
    (pa.field("txn_outcome", pa.string()), ColumnRole.VALUE),
)


class RecordsTable:
    """The table. Parts can be read in parallel.

    Raises:
        UnknownColumnError: the options choose a column that the table does not have.
    """

    name = "records"
    splittable = True
    spans_logs = False
    logs: frozenset[str] = frozenset()

    def __init__(self, options: ReadOptions) -> None:
        self._options = options
        rows = self._rows(TxnOutcomes(options))
        self.schema: pa.Schema = rows.schema
        self.roles: Mapping[str, ColumnRole] = rows.roles
        self._kept: list[TxnOutcomes] = []

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """See ``Table``."""
        outcomes = self._outcomes()
        rows = self._rows(outcomes)
        for file_range in part.files:
            outcomes.enter(file_range, store)
            yield from rows.read(Part((file_range,)), options, accounts, store)
        self._kept.append(outcomes)

    def _rows(self, outcomes: TxnOutcomes) -> RecordTable:
        return RecordTable(self.name, self.logs, _FIELDS, _AllRecords(self._options, outcomes), self._options)

    def _outcomes(self) -> TxnOutcomes:
        """The outcomes from an earlier part, to continue with, or new ones."""
        try:
            return self._kept.pop()
        except IndexError:
            return TxnOutcomes(self._options)


class _AllRecords:
    def __init__(self, options: ReadOptions, outcomes: TxnOutcomes) -> None:
        self._outcomes = outcomes
        self._registry = options.registry
        self._secrets = options.secrets
        self._types = None if options.record_types is None else frozenset(options.record_types)
        self._no_ops = options.keeps_no_ops
        no_ops = {number for number, name in options.registry.metadata.items() if upper_snake_case(name) == _NO_OP}
        self._usual_heads = frozenset(
            bytes((FRAME_VERSION, number)) for number in range(_ONE_BYTE) if number not in no_ops
        )
        self._full = options.wants_errors or (options.columns is not None and "json" in options.columns)

    def chosen(self, rows: RawRows, accounts: Accounts) -> RawRows:
        """See ``RecordConverter``."""
        if self._types is None and (
            self._no_ops or rows.file.topic != METADATA_TOPIC or not self._may_have_no_ops(rows)
        ):
            return rows
        types = [each.type for each in self._descriptions(rows, full=False)]
        chosen = [(self._no_ops or name != _NO_OP) and (self._types is None or name in self._types) for name in types]
        no_ops = 0 if self._no_ops else types.count(_NO_OP)
        accounts.dropped("no_op", no_ops)
        accounts.dropped("other_type", chosen.count(False) - no_ops)
        return rows.where(pa.array(chosen, pa.bool_()))

    def _may_have_no_ops(self, rows: RawRows) -> bool:
        """Whether a record begins like a no-op, or in an unusual way."""
        heads = pc.unique(pc.binary_slice(rows.values.filter(pc.invert(rows.control)), 0, _HEAD)).to_pylist()
        return not self._usual_heads.issuperset(heads)

    def convert(self, rows: RawRows, names: Sequence[str]) -> Converted:
        """See ``RecordConverter``."""
        shows_bytes = self._secrets or {"key", "value"}.isdisjoint(names)
        is_metadata = rows.file.topic == METADATA_TOPIC
        described = self._descriptions(rows, full=self._full or (is_metadata and not shows_bytes))
        columns: dict[str, ArrowArray] = {
            "record_type": pa.array([each.type for each in described], pa.string()),
            "record_version": pa.array([each.version for each in described], pa.int16()),
            "key": rows.keys,
            "value": rows.values,
            "tombstone": rows.values.is_null(),
            "json": pa.array([each.json for each in described], pa.string()),
        }
        if not shows_bytes:
            secret = self._secret(rows, described)
            columns["key"], columns["value"] = _without(rows.keys, secret), _without(rows.values, secret)
        if "txn_outcome" in names:
            columns["txn_outcome"] = self._outcomes.column(rows)
        faults = {row: (each.code, each.reason) for row, each in enumerate(described) if each.code}
        flaws = record_flaws(faults, pc.coalesce(rows.values, rows.keys))
        return Converted({name: columns[name] for name in names}, flaws)

    def _secret(self, rows: RawRows, described: Sequence[Description]) -> pa.BooleanArray:
        """The records whose bytes are hidden."""
        if rows.file.topic == METADATA_TOPIC:
            return pa.array([each.secret for each in described], pa.bool_())
        return secret_values(rows.values, named=rows.file.topic is not None)

    def _descriptions(self, rows: RawRows, *, full: bool) -> list[Description]:
        topic, registry = rows.file.topic, self._registry
        control = cast("list[bool]", rows.control.to_pylist())
        return [
            describe_record(topic, key, value, registry, control=is_control, full=full, secrets=self._secrets)
            for key, value, is_control in zip(rows.keys.to_pylist(), rows.values.to_pylist(), control, strict=True)
        ]


def _without(octets: pa.BinaryArray, secret: pa.BooleanArray) -> ArrowArray:
    """Byte strings, with null in place of the secret ones."""
    if not pc.any(secret).as_py():
        return octets
    shown: ArrowArray = pc.if_else(secret, pa.scalar(None, pa.binary()), octets)
    return shown
