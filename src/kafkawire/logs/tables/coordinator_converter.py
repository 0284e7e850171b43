"""The columns of one record type of a coordinator's log."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Final, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns import MessageColumns
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.tables.decoded_messages import (
    DecodedMessages,
    Frame,
    RowFault,
    decode_framed,
    decode_messages,
    version_faults,
)
from kafkawire.logs.tables.output_columns import OutputColumn
from kafkawire.logs.tables.record_table import Converted, RecordFlaw, record_flaws
from kafkawire.logs.tables.rows import RawRows
from kafkawire.wire.record_types import CoordinatorRecordType

_PREFIX_SIZE: Final = 2


class CoordinatorConverter:
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
        self._prefix = pa.scalar(known.number.to_bytes(_PREFIX_SIZE, "big"), pa.binary())
        self._key = key
        self._key_frame: Frame = known.key_version, _PREFIX_SIZE
        self._value = value
        self._outputs = outputs
        # A message that no column needs is not decoded.
        wanted = {each.side for each in outputs if options.columns is None or each.field.name in options.columns}
        self._wants_key = options.wants_errors or "key" in wanted
        self._wants_value = options.wants_errors or "value" in wanted

    def chosen(self, rows: RawRows, accounts: Accounts) -> RawRows:
        """See ``RecordConverter``."""
        records = rows.without_control_records(accounts)
        chosen = records.where(pc.equal(pc.binary_slice(records.keys, 0, _PREFIX_SIZE), self._prefix))
        accounts.dropped("other_type", len(records) - len(chosen))
        return chosen

    def convert(self, rows: RawRows, names: Sequence[str]) -> Converted:
        """See ``RecordConverter``."""
        heads = pc.binary_slice(rows.values, 0, _PREFIX_SIZE).dictionary_encode()
        codes = cast("pa.Int32Array", heads.indices)
        versions = [_version(head) for head in cast("list[bytes]", heads.dictionary.to_pylist())]
        flaws: dict[int, RecordFlaw] = {}
        decoded: dict[str, DecodedMessages] = {}
        if self._wants_value:
            found = decode_messages(self._value, rows.values, [self._frame(each) for each in versions], codes)
            decoded["value"] = found
            found.faults.update(version_faults(codes, versions, self._value.message.VERSIONS))
            flaws |= record_flaws(found.faults, rows.values)
        if self._wants_key:
            found = decode_framed(self._key, rows.keys, self._key_frame)
            decoded["key"] = found
            flaws |= record_flaws(_graver(found.faults, flaws), rows.keys)
        columns = {
            each.field.name: each.of(decoded[each.side].arrays) for each in self._outputs if each.field.name in names
        }
        if "record_version" in names:
            columns["record_version"] = pa.array(versions, pa.int16()).take(codes)
        if "tombstone" in names:
            columns["tombstone"] = rows.values.is_null()
        return Converted(columns, flaws)

    def _frame(self, version: int | None) -> Frame | None:
        return None if version is None or version not in self._value.message.VERSIONS else (version, _PREFIX_SIZE)


def _graver(faults: Mapping[int, RowFault], others: Container[int]) -> dict[int, RowFault]:
    """The errors that replace another error of the row: an undecodable key is worse than trailing bytes."""
    return {row: fault for row, fault in faults.items() if fault[0] != "trailing_bytes" or row not in others}


def _version(head: bytes) -> int | None:
    return int.from_bytes(head, "big", signed=True) if len(head) == _PREFIX_SIZE else None
