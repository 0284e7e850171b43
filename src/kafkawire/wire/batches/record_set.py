"""Reading ``records`` fields and old segments of any format; the magic byte says which one (records-magic)."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.wire.batches.batch import Record, RecordBatch, batch_at
from kafkawire.wire.batches.framing import BATCH_MAGIC, frame_at
from kafkawire.wire.batches.legacy_messages import LegacyMessage, legacy_message_at, legacy_records
from kafkawire.wire.batches.reader import decode_records
from kafkawire.wire.compression import DEFAULT_OUTPUT_LIMIT
from kafkawire.wire.message import Octets


def read_entries(buffer: Octets, *, position: int = 0, check_crc: bool = True) -> Iterator[RecordBatch | LegacyMessage]:
    """Batches and legacy messages in order, up to an incomplete entry (records-partial-tail).

    Raises:
        CorruptBatchError: an entry is broken.
    """
    while (frame := frame_at(buffer, position)) is not None:
        if frame.magic == BATCH_MAGIC:
            yield batch_at(buffer, frame, check_crc=check_crc)
        else:
            yield legacy_message_at(buffer, frame, check_crc=check_crc)
        position += frame.size


def read_records(
    buffer: Octets,
    *,
    position: int = 0,
    check_crc: bool = True,
    control: bool = False,
    limit: int = DEFAULT_OUTPUT_LIMIT,
) -> Iterator[Record]:
    """The records of a buffer of any format or several formats, as a consumer sees them.

    Args:
        buffer: zero or more batches and legacy messages; the last one may be incomplete.
        position: where to begin.
        check_crc: whether a wrong CRC is an error.
        control: whether to return control records too; consumers never see them (control-records).
        limit: largest decompressed size of one batch, in bytes.

    Raises:
        CorruptBatchError: an entry or its compression is broken.
        DecodeError: the records of a batch contradict its header.

    Example:
        ```python
        from kafkawire.wire.batches import Record, encode_batch, read_records

        batch = encode_batch([Record(key=b"42", value=b"paid"), Record(key=b"43", value=b"open")])
        assert [record.value for record in read_records(batch)] == [b"paid", b"open"]
        ```
    """
    for entry in read_entries(buffer, position=position, check_crc=check_crc):
        if isinstance(entry, LegacyMessage):
            yield from legacy_records(entry, limit=limit, check_crc=check_crc)
        elif control or not entry.is_control:
            yield from decode_records(entry, limit=limit)
