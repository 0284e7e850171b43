"""Record batches of magic 2 as values (batch-header).

Reading is lazy: a batch keeps its payload unchanged, and ``reader.decode_records`` decodes the records. ``writer``
encodes them.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final, TypeAlias

import crc32c

from kafkawire.wire.batches.framing import (
    ATTRIBUTES_OFFSET,
    BATCH_MAGIC,
    CRC_OFFSET,
    HEADER,
    HEADER_FIELDS,
    HEADER_SIZE,
    LENGTH_COUNTS_FROM,
    MAGIC_OFFSET,
    EntryFrame,
    corrupt_batch,
    frame_at,
)
from kafkawire.wire.compression import Codec
from kafkawire.wire.message import Octets, Struct

NO_TIMESTAMP: Final = -1
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_PARTITION_LEADER_EPOCH: Final = -1

CODEC_MASK: Final = 0b0000_0111
LOG_APPEND_TIME: Final = 0b0000_1000
TRANSACTIONAL: Final = 0b0001_0000
CONTROL: Final = 0b0010_0000
_DELETE_HORIZON: Final = 0b0100_0000
_SEQUENCE_SPAN: Final = 1 << 31
_CODECS: Final = tuple(Codec)


class TimestampType(enum.IntEnum):
    """The meaning of the timestamps of a batch: bit 3 of its attributes."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class Header(Struct, frozen=True, gc=False):
    """A header of a record; ``value`` may be null."""

    key: str
    value: bytes | None = None


class Record(Struct, frozen=True, gc=False):
    """A record, of any format.

    Attributes:
        offset: in the log; for a record yet to be written, -1 is "after the one before".
        timestamp: milliseconds since the epoch, -1 for none.
        key: null for records without key.
        value: null for a tombstone.
        headers: in order; keys may repeat.
    """

    offset: int = -1
    timestamp: int = NO_TIMESTAMP
    key: bytes | None = None
    value: bytes | None = None
    headers: Sequence[Header] = ()


_HeaderFields: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, int]


class RecordBatch(Struct, frozen=True, gc=False):
    """A batch: the fields of its header, and the encoded records.

    Attributes:
        base_offset: offset of the first record as it was produced; producers send 0.
        partition_leader_epoch: epoch of the leader that appended the batch; -1 from producers. Not covered by the CRC.
        crc: the CRC-32C in the header; ``crc_is_valid`` compares it with the bytes.
        attributes: codec, timestamp type and flags as on the wire; the properties below decode them.
        last_offset_delta: offset of the last record minus ``base_offset``, kept by compaction.
        base_timestamp: milliseconds; of the first record, or the delete horizon; -1 if none.
        max_timestamp: milliseconds; the highest, or with log-append time the one that all records have.
        producer_id, producer_epoch, base_sequence: -1 if none.
        records_count: the number of records in the header.
        payload: the records, compressed if there is a codec.
        position: where the batch begins in the buffer that it was read from; 0 for a new batch.
    """

    base_offset: int
    partition_leader_epoch: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int
    payload: bytes
    position: int = 0

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return HEADER_SIZE + len(self.payload)

    @property
    def codec(self) -> Codec:
        """How the payload is compressed.

        Raises:
            CorruptBatchError: kind ``compression``: codes 5 to 7 are undefined.
        """
        code = self.attributes & CODEC_MASK
        try:
            return _CODECS[code]
        except IndexError:
            reason = f"compression codec {code}; 0 to 4 are known"
            raise corrupt_batch("compression", reason, self.position + ATTRIBUTES_OFFSET) from None

    @property
    def is_compressed(self) -> bool:
        """Whether the batch names a codec."""
        return bool(self.attributes & CODEC_MASK)

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the timestamps are from the producer or from the broker."""
        return TimestampType.LOG_APPEND_TIME if self.attributes & LOG_APPEND_TIME else TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        """Whether the records are control records, which consumers never see (control-records)."""
        return bool(self.attributes & CONTROL)

    @property
    def delete_horizon_ms(self) -> int | None:
        """When compaction may remove the tombstones of the batch, in milliseconds, or None."""
        return self.base_timestamp if self.attributes & _DELETE_HORIZON else None

    @property
    def last_offset(self) -> int:
        """Offset of the last record as it was produced (record-offset)."""
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """Sequence of the last record as it was produced, -1 if none (record-sequence)."""
        return self.sequence_of(self.last_offset)

    def sequence_of(self, offset: int) -> int:
        """Sequence of the record at an offset, -1 if the batch has none; after 2147483647 comes 0 (record-sequence)."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + offset - self.base_offset) % _SEQUENCE_SPAN

    @property
    def crc_is_valid(self) -> bool:
        """Whether the CRC in the header is that of the bytes from the attributes on."""
        return self.crc == checksum(self)

    def to_bytes(self) -> bytes:
        """The encoded batch, with ``crc`` as it is.

        Raises:
            struct.error: a field is outside its width.
        """
        return _header(self) + self.payload


def _header(batch: RecordBatch) -> bytes:
    return HEADER.pack(
        batch.base_offset,
        batch.size - LENGTH_COUNTS_FROM,
        batch.partition_leader_epoch,
        BATCH_MAGIC,
        batch.crc,
        batch.attributes,
        batch.last_offset_delta,
        batch.base_timestamp,
        batch.max_timestamp,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.records_count,
    )


def checksum(batch: RecordBatch) -> int:
    """CRC-32C of the batch from its attributes to its end (batch-crc)."""
    return crc32c.crc32c(batch.payload, crc32c.crc32c(_header(batch)[ATTRIBUTES_OFFSET:]))


def batch_attributes(
    codec: Codec,
    timestamp_type: TimestampType,
    *,
    transactional: bool = False,
    control: bool = False,
    delete_horizon: bool = False,
) -> int:
    """The attribute bits of a batch."""
    return (
        codec
        | (LOG_APPEND_TIME if timestamp_type is TimestampType.LOG_APPEND_TIME else 0)
        | (TRANSACTIONAL if transactional else 0)
        | (CONTROL if control else 0)
        | (_DELETE_HORIZON if delete_horizon else 0)
    )


def batch_at(buffer: Octets, frame: EntryFrame, *, check_crc: bool) -> RecordBatch:
    """The batch of a frame.

    Raises:
        CorruptBatchError: kind ``version`` (the frame holds a legacy message) or ``crc``.
    """
    start = frame.position
    if frame.magic != BATCH_MAGIC:
        reason = f"magic {frame.magic} is a legacy message, not a batch"
        raise corrupt_batch("version", reason, start + MAGIC_OFFSET)
    batch = whole_batch(buffer, start, frame.size, start)
    if check_crc and not batch.crc_is_valid:
        reason = f"the batch states CRC {batch.crc:#010x}, its bytes have {checksum(batch):#010x}"
        raise corrupt_batch("crc", reason, start + CRC_OFFSET)
    return batch


def whole_batch(buffer: Octets, start: int, size: int, position: int) -> RecordBatch:
    """The batch of magic 2 that takes ``size`` bytes of a buffer; its CRC is not checked.

    Args:
        buffer: has the whole batch.
        start: where the batch begins in the buffer.
        size: of the batch, from its header; ``HEADER_SIZE`` at least.
        position: what the batch states as its position, such as that in the file that the buffer is a part of.
    """
    fields: _HeaderFields = HEADER_FIELDS.unpack_from(buffer, start)
    return RecordBatch(*fields, bytes(buffer[start + HEADER_SIZE : start + size]), position)


class BatchReader:
    """Iterates over the batches of a buffer.

    It ends at the end of the buffer, or before an incomplete batch there (records-partial-tail); see ``bytes_left``.
    After a CRC error, the next step continues after the broken batch. After any other error the reader does not move,
    since the position of the next batch is unknown.
    """

    def __init__(self, buffer: Octets, *, position: int = 0, check_crc: bool = True) -> None:
        self._buffer = buffer
        self._check_crc = check_crc
        self.position: int = position

    @property
    def bytes_left(self) -> int:
        """Bytes after the last batch that was read."""
        return len(self._buffer) - self.position

    def __iter__(self) -> BatchReader:
        return self

    def __next__(self) -> RecordBatch:
        frame = frame_at(self._buffer, self.position)
        if frame is None:
            raise StopIteration
        if frame.magic == BATCH_MAGIC:
            self.position += frame.size
        return batch_at(self._buffer, frame, check_crc=self._check_crc)


def read_batches(buffer: Octets, *, position: int = 0, check_crc: bool = True) -> BatchReader:
    """Read the batches of a ``records`` field, a segment or a snapshot, lazily.

    Args:
        buffer: zero or more batches of magic 2; the last one may be incomplete.
        position: where to begin.
        check_crc: whether a wrong CRC is an error. If not, see ``crc_is_valid`` of each batch.

    Raises:
        CorruptBatchError: from the iterator: kind ``length``, ``version`` or ``crc``.

    Example:
        ```python
        from kafkawire.wire.batches import Record, encode_batch, read_batches

        octets = encode_batch([Record(value=b"paid")]) + encode_batch([Record(value=b"open")], base_offset=1)
        for batch in read_batches(octets):
            print(batch.base_offset, batch.records_count, batch.codec.name)
        ```
    """
    return BatchReader(buffer, position=position, check_crc=check_crc)
