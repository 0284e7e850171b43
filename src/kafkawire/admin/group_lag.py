"""How far groups are from the ends of the partitions that they read."""

from __future__ import annotations

import msgspec

from kafkawire.admin.results import Results
from kafkawire.model.groups.descriptions import GroupState, GroupType
from kafkawire.model.partitions import TopicPartition


class PartitionLag(msgspec.Struct, frozen=True):
    """How far a group is from the end of a partition.

    Attributes:
        current_offset: offset of the next record that the group reads: what it has committed, or the start offset of a
            share group. None if it has neither; then ``auto.offset.reset`` of its members decides where they begin.
        log_start_offset: offset of the first record that the partition still has.
        log_end_offset: offset of the next record to be written; with `IsolationLevel.READ_COMMITTED` the last stable
            offset.
        lag: how many offsets the group has to go. Of consumers and streams the distance from ``current_offset`` to
            ``log_end_offset``, 0 if the group is beyond the end; of share groups the records that are not yet
            acknowledged, as the broker counts them (KIP-1226). None for consumers and share groups without a
            ``current_offset``, and for share groups at brokers before 4.2. Streams without one have all offsets to go:
            Kafka Streams begins at the first one by default, and ``kafka-streams-groups`` counts so too.
        member_ids: ids of the members that have the partition; several in share groups only.
    """

    current_offset: int | None
    log_start_offset: int
    log_end_offset: int
    lag: int | None
    member_ids: tuple[str, ...] = ()

    @property
    def lost(self) -> int:
        """How many offsets of the lag are below ``log_start_offset``: the group can no longer read them."""
        if self.current_offset is None:
            return 0
        return max(0, min(self.log_start_offset, self.log_end_offset) - self.current_offset)


class GroupLag(msgspec.Struct, frozen=True):
    """How far a group is from the ends of its partitions.

    Attributes:
        group_id: its id.
        type: its protocol.
        state: what it is doing.
        partitions: partition to its lag, or to what went wrong with the partition.
    """

    group_id: str
    type: GroupType
    state: GroupState
    partitions: Results[TopicPartition, PartitionLag]

    @property
    def total(self) -> int:
        """The sum of the lags that are known."""
        return sum(each.lag for each in self.partitions.values().values() if each.lag is not None)
