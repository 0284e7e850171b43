"""How far groups have come in partitions."""

from __future__ import annotations

import msgspec


class CommittedOffset(msgspec.Struct, frozen=True):
    """Where a group goes on in a partition.

    Attributes:
        offset: that of the next record to be read.
        leader_epoch: that the record before it was written in; None if it is not known.
        metadata: what the consumer wanted to remember with it.
    """

    offset: int
    leader_epoch: int | None = None
    metadata: str = ""


class SharePartitionOffset(msgspec.Struct, frozen=True):
    """Where a share group goes on in a partition.

    Attributes:
        start_offset: that of the first record that may still be delivered.
        leader_epoch: the leader epoch of the partition; None if it is not known.
        lag: how many records are left (KIP-1226); None from brokers that do not tell.
    """

    start_offset: int
    leader_epoch: int | None = None
    lag: int | None = None
