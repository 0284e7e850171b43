"""Messages and record batches as Arrow columns; needs ``pyarrow``.

::

    columns = MessageColumns(OffsetCommitValue)
    arrays = columns.arrays(3, [OffsetCommitValue.decode(value, 3) for value in values])

``MessageColumns.decode`` makes the columns of encoded messages, and ``decode_record_arrays`` those of the records of
batches; the native engine does it without an object for each.
"""

from __future__ import annotations

from kafkawire.columns.message_columns import DecodedColumns, MessageColumns
from kafkawire.columns.record_arrays import RecordArrays, decode_record_arrays

__all__ = ["DecodedColumns", "MessageColumns", "RecordArrays", "decode_record_arrays"]
