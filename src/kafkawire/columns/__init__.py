"""Records of Kafka's own logs as Arrow columns, without an object for each message; needs ``pyarrow``.

The generator prints a decoder for each record type beside its class; ``record_columns(name)`` of a generated package's
module of that name gives it. ::

    rows = record_columns("OffsetCommitValue").rows()
    done = rows.extend(3, values, 2)  # behind the version in front of each value
    arrays, bad_text = rows.take()

Where many messages have the same shape, as in a log, ``columns.alike`` reads them by Arrow's kernels, and ``rows`` the
rest; ``decode_record_arrays`` does the same for the records of batches.
"""

from __future__ import annotations

from kafkawire.columns.alike import AlikeMessages
from kafkawire.columns.message_columns import MessageColumns
from kafkawire.columns.record_arrays import RecordArrays, decode_record_arrays
from kafkawire.columns.rows import Rows

__all__ = ["AlikeMessages", "MessageColumns", "RecordArrays", "Rows", "decode_record_arrays"]
