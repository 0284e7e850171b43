"""What histories of the metadata log could not read, as rows: whoever has only the rows sees that some are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from kafkawire.logs.histories.columns import Columns, record_batch

__all__ = ["ERROR", "Loss", "loss_rows"]

ERROR: Final = "_error"


class Loss(NamedTuple):
    """Records that are missing in a history, or are not as they should be.

    Attributes:
        code: one of ``FLAW_CODES``.
        from_offset: the first of them, or None if it is not known.
        to_offset: the one after the last of them, or None.
        time: of the last record before them, in milliseconds since the epoch; None if there is none.
    """

    code: str
    from_offset: int | None
    to_offset: int | None
    time: int | None


def loss_rows(losses: Sequence[Loss], schema: pa.Schema, own: Columns) -> pa.RecordBatch:
    """A row for each loss: its place and its code. It begins and ends at its time, and so is true at none.

    Args:
        losses: what is missing.
        schema: of the history.
        own: what other columns say.
    """
    times = [loss.time for loss in losses]
    columns = {
        **{name: [None] * len(losses) for name in schema.names},
        **own,
        "valid_from": times,
        "valid_to": times,
        "from_offset": [loss.from_offset for loss in losses],
        "to_offset": [loss.to_offset for loss in losses],
        ERROR: [loss.code for loss in losses],
    }
    return record_batch(schema, columns)
