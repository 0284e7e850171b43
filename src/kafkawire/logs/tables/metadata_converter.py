"""The columns of one record type of the metadata log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.columns import MessageColumns
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.tables.decoded_messages import decode_messages, version_faults
from kafkawire.logs.tables.output_columns import OutputColumn
from kafkawire.logs.tables.record_table import Converted, record_flaws
from kafkawire.logs.tables.rows import RawRows
from kafkawire.records.framed_records import METADATA_RECORD, read_frame
from kafkawire.wire import DecodeError

_Frame: TypeAlias = tuple[int, int, int]
"""Id and version of a record, and the position of its message."""

_USUAL_FRAME: Final = 3
_LARGEST_FRAME: Final = 15
"""Three numbers of one byte each, or of five."""


class MetadataConverter:
    """The records of one id.

    Args:
        number: the id.
        columns: of the message.
        outputs: the columns of the table.
    """

    def __init__(self, number: int, columns: MessageColumns, outputs: Sequence[OutputColumn]) -> None:
        self._number = number
        self._columns = columns
        self._outputs = outputs

    def chosen(self, rows: RawRows, accounts: Accounts) -> RawRows:
        """See ``RecordConverter``."""
        records = rows.without_control_records(accounts)
        codes, frames = _frames(records.values)
        of_type = pa.array([frame is not None and frame[0] == self._number for frame in frames], pa.bool_())
        chosen = records.where(of_type.take(codes))
        accounts.dropped("other_type", len(records) - len(chosen))
        return chosen

    def convert(self, rows: RawRows, names: Sequence[str]) -> Converted:
        """See ``RecordConverter``."""
        codes, frames = _frames(rows.values)
        versions = [None if frame is None else frame[1] for frame in frames]
        known = self._columns.message.VERSIONS
        readable = [frame[1:] if frame is not None and frame[1] in known else None for frame in frames]
        decoded = decode_messages(self._columns, rows.values, readable, codes)
        faults = decoded.faults | version_faults(codes, versions, known)
        columns = {each.field.name: each.of(decoded.arrays) for each in self._outputs if each.field.name in names}
        columns["record_version"] = pa.array(versions, pa.int16()).take(codes)
        return Converted(columns, record_flaws(faults, rows.values))


def _frames(values: pa.BinaryArray, size: int = _USUAL_FRAME) -> tuple[pa.Int32Array, list[_Frame | None]]:
    """The frames of values: an index for each value, and the distinct frames; None for invalid ones."""
    heads = pc.binary_slice(values, 0, size).dictionary_encode()
    frames = [_frame(head) for head in cast("list[bytes]", heads.dictionary.to_pylist())]
    if None in frames and size < _LARGEST_FRAME:
        return _frames(values, _LARGEST_FRAME)
    return cast("pa.Int32Array", heads.indices), frames


def _frame(head: bytes) -> _Frame | None:
    try:
        return read_frame(head, METADATA_RECORD)
    except DecodeError:
        return None
