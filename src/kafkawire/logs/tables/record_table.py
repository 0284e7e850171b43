"""Tables with a row for each record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import pyarrow as pa

from kafkawire.column_roles import ColumnRole
from kafkawire.columns.arrow_types import ArrowArray, ArrowField
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.filters import BatchFilter
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.limits import LARGEST_ROW_BATCH, SHOWN_CORRUPT_OCTETS
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.records.scanning import scan_groups
from kafkawire.logs.tables.rows import PendingRows, RawRows, flaw_columns
from kafkawire.logs.tables.secret_records import shows_broken_bytes
from kafkawire.logs.tables.table import (
    PROVENANCE,
    PROVENANCE_ROLES,
    Part,
    chosen_schema,
    error_fields,
    last_roles,
)

_PROVENANCE_NAMES: Final = frozenset(field.name for field in PROVENANCE)


@dataclass(frozen=True)
class RecordFlaw:
    """An error in one record.

    Attributes:
        code: one of ``FLAW_CODES``.
        raw: the bytes of the record.
        reason: the error in one sentence.
    """

    code: str
    raw: bytes | None
    reason: str


@dataclass(frozen=True)
class Converted:
    """Columns of records, and the errors of some of them by row."""

    columns: Mapping[str, ArrowArray]
    flaws: Mapping[int, RecordFlaw]


def record_flaws(faults: Mapping[int, tuple[str, str]], octets: ArrowArray) -> dict[int, RecordFlaw]:
    """Errors by row, from their codes and reasons, with the bytes of the rows."""
    return {row: RecordFlaw(code, octets[row].as_py(), reason) for row, (code, reason) in faults.items()}


class RecordConverter(Protocol):
    """Makes the columns of one table."""

    def chosen(self, rows: RawRows, accounts: Accounts) -> RawRows:
        """The records that become rows. The others are counted as dropped."""

    def convert(self, rows: RawRows, names: Sequence[str]) -> Converted:
        """The columns with these names."""


class RecordTable:
    """A table with a row for each record that a converter chooses."""

    splittable = True
    spans_logs = False

    def __init__(
        self,
        name: str,
        logs: frozenset[str],
        fields: Sequence[tuple[ArrowField, ColumnRole]],
        converter: RecordConverter,
        options: ReadOptions,
    ) -> None:
        self.name = name
        self.logs = logs
        own, roles = tuple(field for field, _ in fields), {field.name: role for field, role in fields}
        self.roles: Mapping[str, ColumnRole] = {**PROVENANCE_ROLES, **roles, **last_roles(options)}
        self.schema: pa.Schema = chosen_schema(name, (*PROVENANCE, *own, *error_fields(options)), options)
        self._converter = converter
        self._errors = frozenset(field.name for field in error_fields(options))
        self._names = [
            field.name
            for field in self.schema
            if field.name not in _PROVENANCE_NAMES and field.name not in self._errors
        ]

    def read(self, part: Part, options: ReadOptions, accounts: Accounts, store: FileStore) -> Iterator[pa.RecordBatch]:
        """See ``Table``."""
        for file_range in part.files:
            limits = BatchFilter(options, file_range.file)
            pending = PendingRows(file_range.file)
            flaws, octets_lost = list[Flaw](), 0
            for found in scan_groups(file_range, options, accounts, store):
                if isinstance(found, Flaw):
                    yield from self._all_rows(pending.rest(), options, accounts)
                    flaws.append(found)
                    octets_lost += len(found.raw or b"")
                    if len(flaws) == LARGEST_ROW_BATCH or octets_lost >= SHOWN_CORRUPT_OCTETS:
                        yield from self._flaw_rows(flaws, options, accounts)
                        flaws, octets_lost = [], 0
                    continue
                yield from self._flaw_rows(flaws, options, accounts)
                flaws, octets_lost = [], 0
                accounts.records_read += len(found)
                rows = RawRows.of(found)
                kept = limits.kept(found.records.offsets, found.records.timestamps)
                if kept is not None:
                    rows = rows.where(kept)
                    accounts.dropped("filtered", len(found) - len(rows))
                chosen = self._converter.chosen(rows, accounts)
                yield from self._all_rows(pending.add(chosen), options, accounts)
            yield from self._flaw_rows(flaws, options, accounts)
            yield from self._all_rows(pending.rest(), options, accounts)

    def _all_rows(
        self, pieces: Iterable[RawRows], options: ReadOptions, accounts: Accounts
    ) -> Iterator[pa.RecordBatch]:
        for piece in pieces:
            yield from self._rows(piece, options, accounts)

    def _rows(self, rows: RawRows, options: ReadOptions, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        converted = self._converter.convert(rows, self._names)
        flaws = converted.flaws
        for row, flaw in sorted(flaws.items()):
            accounts.failed(flaw.code)
            if options.mode is ReadMode.FAILFAST:
                raise _error(rows, row, flaw)
        arrays = [
            rows.column(name, options)
            if name in _PROVENANCE_NAMES
            else self._error_column(name, rows, flaws, options)
            if name in self._errors
            else converted.columns[name]
            for name in self.schema.names
        ]
        made = pa.RecordBatch.from_arrays(arrays, schema=self.schema)
        if flaws and options.mode is ReadMode.DROPMALFORMED:
            made = made.filter(pa.array([row not in flaws for row in range(len(rows))]))
            for flaw in flaws.values():
                accounts.dropped(flaw.code, 1)
        for start in range(0, made.num_rows, LARGEST_ROW_BATCH):
            piece = made.slice(start, LARGEST_ROW_BATCH)
            accounts.rows += piece.num_rows
            yield piece

    def _error_column(
        self, name: str, rows: RawRows, flaws: Mapping[int, RecordFlaw], options: ReadOptions
    ) -> ArrowArray:
        kind = self.schema.field(name).type
        column: ArrowArray
        if flaws and (name == "_error" or shows_broken_bytes(rows.file, options)):
            found = [flaws.get(row) for row in range(len(rows))]
            column = pa.array([flaw and (flaw.code if name == "_error" else flaw.raw) for flaw in found], kind)
        else:
            column = pa.nulls(len(rows), kind)
        return column

    def _flaw_rows(self, flaws: Sequence[Flaw], options: ReadOptions, accounts: Accounts) -> Iterator[pa.RecordBatch]:
        if flaws and options.mode is ReadMode.PERMISSIVE:
            accounts.flaw_rows += len(flaws)
            yield flaw_columns(flaws, self.schema, options)


def _error(rows: RawRows, row: int, flaw: RecordFlaw) -> LogReadError:
    position, offset = (rows.columns.column(name)[row].as_py() for name in ("batch_position", "log_offset"))
    return LogReadError(flaw.code, rows.file.path, flaw.reason, position=position, offset=offset)
