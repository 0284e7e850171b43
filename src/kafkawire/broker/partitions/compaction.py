"""Compaction of a log by key, batch by batch, as Kafka's log cleaner does it.

Batches keep their offsets, sequences and epochs. A batch in which a tombstone is left gets a delete horizon, after
which the tombstone goes too. So does a marker of a transaction of which nothing is left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.partitions.cleaned_transactions import CleanedTransactions
from kafkawire.broker.partitions.producers import LastBatch
from kafkawire.wire.batches import Record, RecordBatch, TimestampType, decode_records, encode_batch, read_batches, seal
from kafkawire.wire.batches.batch import CONTROL, LOG_APPEND_TIME, NO_TIMESTAMP, TRANSACTIONAL
from kafkawire.wire.message import Struct

_DIGEST_BYTES: Final = 16
_KEPT_BY_EMPTY_BATCHES: Final = LOG_APPEND_TIME | TRANSACTIONAL | CONTROL


class Round(Struct, frozen=True):
    """What compaction needs to know of a log.

    Attributes:
        newest: the newest offset of each key, by its digest.
        end_offset: after the last batch of the round; that batch stays, if only as an empty one.
        last_batches: the last batch of each producer, by its id; they stay for their sequences and epochs.
        now_ms: milliseconds since the epoch.
        tombstones_ms: for how long tombstones and markers stay.
    """

    newest: Mapping[bytes, int]
    end_offset: int
    last_batches: Mapping[int, LastBatch]
    now_ms: int
    tombstones_ms: int


def note_keys(batches: Iterable[RecordBatch], transactions: CleanedTransactions, newest: dict[bytes, int]) -> None:
    """Note the offset of the newest record of each key.

    Args:
        batches: in order.
        transactions: of the batches; records of aborted ones do not count.
        newest: digest of a key to its offset.

    Raises:
        DecodeError: a record cannot be read.
    """
    for batch in batches:
        if not transactions.is_removable(batch) and not batch.is_control:
            for record in decode_records(batch):
                if record.key is not None:
                    newest[_digest(record.key)] = record.offset


def compacted(batches: Iterable[RecordBatch], transactions: CleanedTransactions, known: Round) -> Iterator[RecordBatch]:
    """The batches that are left of a log, with those of their records that are left.

    Args:
        batches: in order.
        transactions: of the batches.
        known: of the log.

    Raises:
        DecodeError: a record cannot be read.
    """
    for batch in batches:
        is_removable = transactions.is_removable(batch)
        kept = _kept_marker(batch, known, is_removable) if batch.is_control else _kept(batch, known, is_removable)
        if kept is None:
            yield batch
        elif kept:
            yield _rewritten(batch, kept, known, needs_horizon=batch.is_control)
        elif _is_last(batch, known):
            yield _empty(batch)


def _is_last(batch: RecordBatch, known: Round) -> bool:
    """Whether a batch stays though it is empty."""
    if batch.last_offset + 1 == known.end_offset:
        return True
    last = known.last_batches.get(batch.producer_id)
    if last is None:
        return False
    if last.offset is None:
        return batch.is_control and batch.producer_epoch == last.epoch
    return batch.last_offset == last.offset


def _kept_marker(batch: RecordBatch, known: Round, is_removable: bool) -> Sequence[Record] | None:
    """The marker, if it is left; None for the batch as it is.

    A marker that ends nothing gets a delete horizon first, and goes when that has passed.
    """
    if not is_removable:
        return None
    if not batch.records_count:
        return ()
    horizon_ms = batch.delete_horizon_ms
    if horizon_ms is None:
        return decode_records(batch)
    return () if horizon_ms <= known.now_ms else None


def _kept(batch: RecordBatch, known: Round, is_aborted: bool) -> Sequence[Record] | None:
    """The records that are left; None for the batch as it is."""
    if is_aborted:
        return ()
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


def _rewritten(batch: RecordBatch, kept: Sequence[Record], known: Round, *, needs_horizon: bool) -> RecordBatch:
    horizon_ms = batch.delete_horizon_ms
    if horizon_ms is None and (needs_horizon or any(record.value is None for record in kept)):
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
        control=batch.is_control,
        log_append_time=batch.max_timestamp if has_broker_time else None,
        delete_horizon_ms=horizon_ms,
        last_offset=batch.last_offset,
    )
    return next(read_batches(encoded, check_crc=False))


def _empty(batch: RecordBatch) -> RecordBatch:
    attributes = batch.attributes & _KEPT_BY_EMPTY_BATCHES
    return seal(replace(batch, attributes=attributes, base_timestamp=NO_TIMESTAMP, records_count=0, payload=b""))


def _digest(key: bytes) -> bytes:
    return blake2b(key, digest_size=_DIGEST_BYTES).digest()
