"""Compaction of a log by key, batch by batch, as Kafka's log cleaner does it.

Batches keep their offsets, sequences and epochs. A batch in which a tombstone is left gets a delete horizon, after
which the tombstone goes too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from hashlib import blake2b
from typing import Final

from msgspec.structs import replace

from kafkawire.records.control_records import ControlRecord, ControlRecordType, decode_control_record
from kafkawire.wire.batches import Record, RecordBatch, TimestampType, decode_records, encode_batch, read_batches, seal
from kafkawire.wire.batches.batch import CONTROL, LOG_APPEND_TIME, NO_TIMESTAMP, TRANSACTIONAL
from kafkawire.wire.message import Struct

_DIGEST_BYTES: Final = 16
_KEPT_BY_EMPTY_BATCHES: Final = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL


class Transactions(Struct, frozen=True):
    """The transactions in a part of a log.

    Attributes:
        aborted: base offsets of batches of aborted transactions.
        first_open: the base offset of the first batch of an open transaction; None if there is none.
    """

    aborted: Set[int]
    first_open: int | None


class Round(Struct, frozen=True):
    """What compaction needs to know of a log.

    Attributes:
        newest: the newest offset of each key, by its digest.
        end_offset: after the last batch of the round; that batch stays, if only as an empty one.
        last_batches: base offsets of the last batch of each idempotent producer; they stay for their sequences.
        aborted: base offsets of batches of aborted transactions.
        now_ms: milliseconds since the epoch.
        tombstones_ms: for how long tombstones stay.
    """

    newest: Mapping[bytes, int]
    end_offset: int
    last_batches: Set[int]
    aborted: Set[int]
    now_ms: int
    tombstones_ms: int


def transactions_in(batches: Iterable[RecordBatch]) -> Transactions:
    """The outcomes of transactions.

    Raises:
        DecodeError: a marker cannot be read.
    """
    aborted: set[int] = set()
    begun: dict[int, list[int]] = {}
    for batch in batches:
        if batch.is_control:
            ended = begun.pop(batch.producer_id, [])
            aborted.update(ended if _aborts(batch) else ())
        elif batch.is_transactional:
            begun.setdefault(batch.producer_id, []).append(batch.base_offset)
    return Transactions(aborted, min((offsets[0] for offsets in begun.values()), default=None))


def note_keys(batches: Iterable[RecordBatch], aborted: Set[int], newest: dict[bytes, int]) -> None:
    """Note the offset of the newest record of each key.

    Args:
        batches: in order.
        aborted: base offsets of batches of aborted transactions, which do not count.
        newest: digest of a key to its offset.

    Raises:
        DecodeError: a record cannot be read.
    """
    for batch in batches:
        if not batch.is_control and batch.base_offset not in aborted:
            for record in decode_records(batch):
                if record.key is not None:
                    newest[_digest(record.key)] = record.offset


def compacted(batches: Iterable[RecordBatch], known: Round) -> Iterator[RecordBatch]:
    """The batches that are left of a log, with those of their records that are left.

    Args:
        batches: in order.
        known: of the log.

    Raises:
        DecodeError: a record cannot be read.
    """
    for batch in batches:
        kept = None if batch.is_control else _kept(batch, known)
        if kept is None:
            yield batch
        elif kept:
            yield _rewritten(batch, kept, known)
        elif batch.base_offset in known.last_batches or batch.last_offset + 1 == known.end_offset:
            yield _empty(batch)


def _kept(batch: RecordBatch, known: Round) -> list[Record] | None:
    """The records that are left; None for the batch as it is."""
    if batch.base_offset in known.aborted:
        return []
    horizon_ms = batch.delete_horizon_ms
    keeps_tombstones = horizon_ms is None or known.now_ms < horizon_ms
    records = decode_records(batch)
    kept = [
        record
        for record in records
        if record.key is not None
        and record.offset >= known.newest.get(_digest(record.key), -1)
        and (record.value is not None or keeps_tombstones)
    ]
    needs_horizon = horizon_ms is None and any(record.value is None for record in kept)
    return None if records and len(kept) == len(records) and not needs_horizon else kept


def _rewritten(batch: RecordBatch, kept: list[Record], known: Round) -> RecordBatch:
    horizon_ms = batch.delete_horizon_ms
    if horizon_ms is None and any(record.value is None for record in kept):
        horizon_ms = known.now_ms + known.tombstones_ms
    has_broker_time = batch.timestamp_type is TimestampType.LOG_APPEND_TIME
    encoded = encode_batch(
        kept,
        codec=batch.codec,
        base_offset=batch.base_offset,
        partition_leader_epoch=batch.partition_leader_epoch,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        transactional=batch.is_transactional,
        log_append_time=batch.max_timestamp if has_broker_time else None,
        delete_horizon_ms=horizon_ms,
        last_offset=batch.last_offset,
    )
    return next(read_batches(encoded, check_crc=False))


def _empty(batch: RecordBatch) -> RecordBatch:
    attributes = batch.attributes & _KEPT_BY_EMPTY_BATCHES
    return seal(replace(batch, attributes=attributes, base_timestamp=NO_TIMESTAMP, records_count=0, payload=b""))


def _aborts(batch: RecordBatch) -> bool:
    markers = (decode_control_record(record.key, record.value) for record in decode_records(batch))
    return any(isinstance(marker, ControlRecord) and marker.type is ControlRecordType.ABORT for marker in markers)


def _digest(key: bytes) -> bytes:
    return blake2b(key, digest_size=_DIGEST_BYTES).digest()
