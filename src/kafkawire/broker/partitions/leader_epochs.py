"""The leader epochs in requests, beside those of a partition (KIP-320)."""

from __future__ import annotations

from typing import Final

from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.protocol.error_codes import ErrorCode

_NO_EPOCH: Final = -1
_NO_OFFSET: Final = -1


def leader_epoch_error(requested: int, epoch: int) -> ErrorCode:
    """The error for the leader epoch in a request; NONE if it is the current one, or -1 for none.

    Args:
        requested: the leader epoch in the request.
        epoch: the partition's.
    """
    if requested in {_NO_EPOCH, epoch}:
        return ErrorCode.NONE
    return ErrorCode.FENCED_LEADER_EPOCH if requested < epoch else ErrorCode.UNKNOWN_LEADER_EPOCH


def end_of_epoch(log: PartitionLog, asked: int, current: int) -> tuple[int, int]:
    """The last epoch of a partition that is not above the one asked for, and the offset after its records.

    Args:
        log: of the partition.
        asked: the epoch; -1 for none.
        current: of the partition.

    Returns:
        -1 and -1 if it is unknown: none, or a later one than all.

    Raises:
        StorageError, OSError: the file with the epochs of earlier starts of the broker cannot be read.
    """
    starts = {current: log.end_offset} | log.epoch_starts()
    last = max(starts)
    if asked == _NO_EPOCH or asked > last:
        return _NO_EPOCH, _NO_OFFSET
    if asked == last:
        return asked, log.end_offset
    following = min(epoch for epoch in starts if epoch > asked)
    is_deleted = starts[following] <= log.start_offset
    earlier = [] if is_deleted else [epoch for epoch in starts if epoch <= asked]
    return max(earlier, default=asked), max(starts[following], log.start_offset)
