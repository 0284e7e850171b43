"""Rows of one record type of a coordinator's log."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Final, cast

import pyarrow as pa

from kafkawire.columns import MessageColumns
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.logs.tables.message_rows import (
    DecodedMessages,
    Frame,
    RowFault,
    decode_messages,
    decode_repeated,
)
from kafkawire.logs.tables.output_columns import OutputColumn
from kafkawire.logs.tables.row_table import Converted, RecordFlaw
from kafkawire.logs.tables.rows import PendingRows
from kafkawire.wire.record_types import CoordinatorRecordType

__all__ = ["CoordinatorRows"]

_PREFIX_SIZE: Final = 2


class CoordinatorRows:
    """The records of one type.

    Args:
        known: the type.
        key: columns of the key.
        value: columns of the value.
        outputs: the columns of the table.
        options: how to read.
    """

    def __init__(
        self,
        known: CoordinatorRecordType,
        key: MessageColumns,
        value: MessageColumns,
        outputs: Sequence[OutputColumn],
        options: ReadOptions,
    ) -> None:
        self._prefix = known.number.to_bytes(_PREFIX_SIZE, "big")
        self._key = key
        self._key_frame: Frame = known.key_version, _PREFIX_SIZE
        self._value = value
        self._outputs = outputs
        # What no column needs is not decoded.
        wanted = {each.side for each in outputs if options.columns is None or each.field.name in options.columns}
        errors = options.columns is None or "_error" in options.columns
        self._wants_key = errors or "key" in wanted
        self._wants_value = errors or "value" in wanted

    def chosen(self, opened: OpenedBatch, kept: Sequence[int] | None, accounts: Accounts) -> Sequence[int] | None:
        """See ``RowSource``."""
        keys = opened.records.keys
        numbers = range(len(keys)) if kept is None else kept
        if opened.batch.is_control:
            accounts.dropped("control", len(numbers))
            return ()
        prefix = self._prefix
        if kept is None and None not in keys and all(map(bytes.startswith, cast("list[bytes]", keys), repeat(prefix))):
            return None
        chosen = [number for number in numbers if (key := keys[number]) is not None and key[:_PREFIX_SIZE] == prefix]
        accounts.dropped("other_type", len(numbers) - len(chosen))
        return None if len(chosen) == len(keys) else chosen

    def convert(self, rows: PendingRows, names: Sequence[str]) -> Converted:
        """See ``RowSource``."""
        heads = _Heads()
        codes = [0 if value is None else heads[value[:_PREFIX_SIZE]] for value in rows.values]
        versions = [None, *map(_version, heads)]
        flaws: dict[int, RecordFlaw] = {}
        decoded: dict[str, DecodedMessages] = {}
        if self._wants_value:
            found = decode_messages(self._value, rows.values, [self._frame(each) for each in versions], codes)
            decoded["value"] = found
            found.faults.update(self._version_faults(codes, versions))
            flaws |= {row: RecordFlaw(code, rows.values[row], why) for row, (code, why) in found.faults.items()}
        if self._wants_key:
            found = decode_repeated(self._key, rows.keys, self._key_frame)
            decoded["key"] = found
            flaws |= {row: RecordFlaw(code, rows.keys[row], why) for row, (code, why) in found.faults.items()}
        columns = {
            each.field.name: each.of(decoded[each.side].arrays) for each in self._outputs if each.field.name in names
        }
        of_rows = pa.array(codes, pa.int32())
        if "record_version" in names:
            columns["record_version"] = pa.array(versions, pa.int16()).take(of_rows)
        if "tombstone" in names:
            columns["tombstone"] = pa.array([code == 0 for code in range(len(versions))], pa.bool_()).take(of_rows)
        return Converted(columns, flaws)

    def _frame(self, version: int | None) -> Frame | None:
        return (version, _PREFIX_SIZE) if version is not None and version in self._value.versions else None

    def _version_faults(self, codes: Sequence[int], versions: Sequence[int | None]) -> dict[int, RowFault]:
        known = self._value.versions
        wrong = {code for code, version in enumerate(versions) if code and version not in known}
        if not wrong:
            return {}
        return {row: _version_fault(versions[code], known) for row, code in enumerate(codes) if code in wrong}


class _Heads(dict[bytes, int]):
    """The beginnings of values, numbered from 1 as they come; 0 is for tombstones."""

    def __missing__(self, head: bytes) -> int:
        number = self[head] = len(self) + 1
        return number


def _version(head: bytes) -> int | None:
    return int.from_bytes(head, "big", signed=True) if len(head) == _PREFIX_SIZE else None


def _version_fault(version: int | None, known: range) -> RowFault:
    if version is None:
        return "decode_error", "the value is too short to have a version"
    return "unsupported_version", f"version {version}; {known.start} to {known.stop - 1} are known"
