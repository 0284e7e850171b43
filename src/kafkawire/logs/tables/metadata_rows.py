"""Rows of one record type of the metadata log."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from kafkawire.columns import MessageColumns
from kafkawire.logs.accounts import Accounts
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.scanning.found import OpenedBatch
from kafkawire.logs.tables.message_rows import Frame, RowFault, decode_messages
from kafkawire.logs.tables.output_columns import OutputColumn
from kafkawire.logs.tables.record_types import FRAME_VERSION, read_metadata_frame
from kafkawire.logs.tables.row_table import Converted, RecordFlaw
from kafkawire.logs.tables.rows import PendingRows
from kafkawire.wire import DecodeError

__all__ = ["MetadataRows"]


class MetadataRows:
    """The records of one id.

    Args:
        number: the id.
        columns: of the message.
        outputs: the columns of the table.
        options: how to read.
    """

    def __init__(
        self, number: int, columns: MessageColumns, outputs: Sequence[OutputColumn], options: ReadOptions
    ) -> None:
        self._number = number
        self._columns = columns
        self._outputs = outputs
        shows_all = len({each.index for each in outputs}) == len(columns.schema)
        hides_some = not shows_all or any(each.masked for each in outputs)
        self._shows_octets = options.secrets or not hides_some

    def chosen(self, opened: OpenedBatch, kept: Sequence[int] | None, accounts: Accounts) -> Sequence[int] | None:
        """See ``RowSource``."""
        values = opened.records.values
        numbers = range(len(values)) if kept is None else kept
        if opened.batch.is_control:
            accounts.dropped("control", len(numbers))
            return ()
        chosen = [number for number in numbers if _id_of(values[number]) == self._number]
        accounts.dropped("other_type", len(numbers) - len(chosen))
        return None if len(chosen) == len(values) else chosen

    def convert(self, rows: PendingRows, names: Sequence[str]) -> Converted:
        """See ``RowSource``."""
        frames: list[Frame | None] = [None]
        code_of: dict[Frame, int] = {}
        codes = []
        versions = []
        faults: dict[int, RowFault] = {}
        known = self._columns.versions
        for row, value in enumerate(rows.values):
            _, version, start = read_metadata_frame(value or b"")
            versions.append(version)
            if version not in known:
                codes.append(0)
                faults[row] = "unsupported_version", f"version {version}; {known.start} to {known.stop - 1} are known"
                continue
            frame = version, start
            if frame not in code_of:
                code_of[frame] = len(frames)
                frames.append(frame)
            codes.append(code_of[frame])
        decoded = decode_messages(self._columns, rows.values, frames, codes)
        columns = {each.field.name: each.of(decoded.arrays) for each in self._outputs if each.field.name in names}
        columns["record_version"] = pa.array(versions, pa.int16())
        return Converted(
            columns,
            {
                row: RecordFlaw(code, rows.values[row] if self._shows_octets else None, reason)
                for row, (code, reason) in {**decoded.faults, **faults}.items()
            },
        )


def _id_of(value: bytes | None) -> int | None:
    """The id of the record in a value, or None if it has none."""
    if value is None:
        return None
    if len(value) > 2 and value[0] == FRAME_VERSION and value[1] < 128 and value[2] < 128:
        return value[1]
    try:
        return read_metadata_frame(value)[0]
    except DecodeError:
        return None
