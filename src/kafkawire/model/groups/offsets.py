"""The offsets of groups in partitions."""

from __future__ import annotations

import msgspec


class CommittedOffset(msgspec.Struct, frozen=True):
    """The committed offset of a group in a partition.

    Attributes:
        offset: that of the next record to be read.
        leader_epoch: that the record before it was written in; None if it is not known.
        metadata: a text that the consumer committed with it.
    """

    offset: int
    leader_epoch: int | None = None
    metadata: str = ""


class SharePartitionOffset(msgspec.Struct, frozen=True):
    """The offset of a share group in a partition.

    Attributes:
        start_offset: that of the first record that may still be delivered.
        leader_epoch: the leader epoch of the partition; None if it is not known.
        lag: the number of remaining records (KIP-1226); None from brokers before 4.2.
    """

    start_offset: int
    leader_epoch: int | None = None
    lag: int | None = None
