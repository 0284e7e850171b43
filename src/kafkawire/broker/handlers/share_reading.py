"""How the records of share partitions are read and acquired for ShareFetch, as in Kafka's ``DelayedShareFetch``."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from kafkawire.broker.share_coordinator.state import SharePartitionKey
from kafkawire.broker.shares.acquiring import Acquired, ReadRecords, Wanted, acquire
from kafkawire.broker.shares.live_shares import LiveShares
from kafkawire.broker.shares.share_partition import SharePartition
from kafkawire.broker.storage.errors import StorageError
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import RecordBatch, read_batches
from kafkawire.wire.message import Struct

_log = logging.getLogger(__name__)


class Reading(Struct, frozen=True):
    """What a request reads.

    Attributes:
        group_id: of the share group.
        partitions: the share partitions, in order.
        most_bytes: of all records.
        fewest_bytes: of all records, unless the client waits no longer.
    """

    group_id: str
    partitions: Mapping[SharePartitionKey, SharePartition]
    most_bytes: int
    fewest_bytes: int


class Found(Struct, frozen=True):
    """What was found in a share partition.

    Attributes:
        records: batches with the acquired records.
        acquired: what was acquired.
        code: the error.
    """

    records: bytes = b""
    acquired: Sequence[Acquired] = ()
    code: ErrorCode = ErrorCode.NONE


class ShareReader:
    """Reads records from the offsets at which share partitions have some to acquire.

    Args:
        shares: the share partitions.
    """

    def __init__(self, shares: LiveShares) -> None:
        self._shares = shares

    def has_enough(self, reading: Reading) -> bool:
        """Whether there are enough records to acquire, or an error to report."""
        acquirable = self._acquirable(reading)
        size = 0
        for key, most in _shares_of(reading.most_bytes, acquirable).items():
            offset, log = reading.partitions[key].next_offset(), self._shares.log(key)
            end = self._end(reading, key)
            if not log.start_offset <= offset <= log.high_watermark or offset > end:
                return True
            try:
                size += len(log.read(offset, most, at_least_one=not size, end=end))
            except (OSError, StorageError):
                return True  # acquired() reports it
        return bool(acquirable) and size >= reading.fewest_bytes

    def acquired(self, reading: Reading, wanted: Wanted) -> Mapping[SharePartitionKey, Found]:
        """Acquire what is there.

        Args:
            reading: the request.
            wanted: what the member wants of all share partitions together.
        """
        acquirable = self._acquirable(reading)
        found: dict[SharePartitionKey, Found] = {}
        left, is_first = wanted.most_records, True
        for key, most in _shares_of(reading.most_bytes, acquirable).items():
            own = Wanted(wanted.member_id, left, wanted.batch_size, wanted.is_strict)
            found[key] = self._acquired(reading, key, most, own, at_least_one=is_first)
            is_first = is_first and not found[key].records
            left -= sum(each.size for each in found[key].acquired)
        return found

    def _acquirable(self, reading: Reading) -> Sequence[SharePartitionKey]:
        pairs = reading.partitions.items()
        return [key for key, each in pairs if self._shares.uses(key, each) and each.can_acquire]

    def _acquired(
        self, reading: Reading, key: SharePartitionKey, most: int, wanted: Wanted, *, at_least_one: bool
    ) -> Found:
        partition, log = reading.partitions[key], self._shares.log(key)
        offset, is_committed = partition.next_offset(), partition.rules().is_committed
        if not log.start_offset <= offset <= log.high_watermark:
            partition.note_log_start(log.start_offset)
            return Found()
        try:
            records = log.read(offset, most, at_least_one=at_least_one, end=self._end(reading, key))
            batches = [*read_batches(records, check_crc=False)]
            aborted = log.aborted_by_read(offset, len(records)) if is_committed and batches else ()
        except (OSError, StorageError) as failure:
            _log.error("The records of %s cannot be read: %s", key.owner, failure)
            return Found(code=ErrorCode.KAFKA_STORAGE_ERROR)
        acquired = acquire(partition, wanted, ReadRecords(offset, batches, aborted))
        self._shares.acquired(key)
        return Found(_sliced(records, batches, acquired), acquired) if acquired else Found()

    def _end(self, reading: Reading, key: SharePartitionKey) -> int:
        """The offset below which members may read."""
        log = self._shares.log(key)
        return log.last_stable_offset if reading.partitions[key].rules().is_committed else log.high_watermark


def _shares_of(most_bytes: int, keys: Sequence[SharePartitionKey]) -> Mapping[SharePartitionKey, int]:
    """How many bytes each share partition may have: the same for all, and what is left over for the first."""
    if not keys:
        return {}
    each, left = divmod(most_bytes, len(keys))
    return {key: each + (left if key == keys[0] else 0) for key in keys}


def _sliced(records: bytes, batches: Sequence[RecordBatch], acquired: Sequence[Acquired]) -> bytes:
    """The records without the batches before and after those with acquired records."""
    first, last = acquired[0].first, acquired[-1].last
    if len(batches) < 2:
        return records
    within = [batch for batch in batches if batch.base_offset <= last]
    begin = max((at for at, batch in enumerate(within) if batch.base_offset <= first), default=0)
    start, end = within[begin].position, within[-1].position + within[-1].size
    return records if (start, end) == (0, len(records)) else records[start:end]
