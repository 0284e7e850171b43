"""Messages and record batches as Arrow columns; needs ``pyarrow``.

::

    columns = MessageColumns(OffsetCommitValue)
    arrays = columns.arrays(3, [OffsetCommitValue.decode(value, 3) for value in values])

``MessageColumns.of_same_shape`` reads messages of the same shape, as they are in logs, with Arrow's kernels and without
an object for each. ``decode_record_arrays`` does the same for the records of batches.
"""

from __future__ import annotations

from kafkawire.columns.message_columns import MessageColumns
from kafkawire.columns.record_arrays import RecordArrays, decode_record_arrays
from kafkawire.columns.same_shape import MessagesOfShape

__all__ = ["MessageColumns", "MessagesOfShape", "RecordArrays", "decode_record_arrays"]
