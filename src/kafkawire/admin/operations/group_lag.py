"""The lag of groups, as ``kafka-consumer-groups --describe`` prints it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafkawire.admin.group_lag import GroupLag, PartitionLag
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.group_offsets import GroupSelection, wanted_of_each
from kafkawire.admin.operations.groups_of_any_kind import (
    DESCRIBING,
    FETCHING,
    CurrentOffset,
    CurrentOffsets,
    GroupsOfAnyKindFamily,
    KnownGroup,
)
from kafkawire.admin.operations.records import ListOffsets
from kafkawire.admin.operations.topic_offsets import PartitionsOfTopicsFamily
from kafkawire.admin.results import Results
from kafkawire.model.groups.descriptions import GroupType
from kafkawire.model.partitions import IsolationLevel, OffsetRange, TopicPartition
from kafkawire.protocol.errors import GroupIdNotFoundError, UnknownTopicOrPartitionError
from kafkawire.wire.kafka_errors import KafkaError

_NAME = "group_lag"


class GroupLagOperations(GroupsOfAnyKindFamily, PartitionsOfTopicsFamily):
    """The lag of groups."""

    @needs(*FETCHING, rights="DESCRIBE GROUP, DESCRIBE TOPIC", further=[DESCRIBING, (ListOffsets,)])
    async def group_lag(
        self,
        groups: GroupSelection,
        *,
        isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
        timeout: float | None = None,
    ) -> Results[str, GroupLag]:
        """The lag of groups of any kind (classic, consumer, share, streams) in their partitions.

        All groups of a coordinator share requests, and so do all partitions of a leader, whichever groups read them.

        Args:
            groups: ids of the groups, or group id to the partitions that are wanted: None for all that the group has
                committed something for and all that its members have.
            isolation: whether a partition ends at its last record, or where its first open transaction begins, which
                is as far as consumers with ``isolation.level=read_committed`` can read.
            timeout: see `AdminClient`.

        Returns:
            Group id to its lag, or to what went wrong with the group: `GroupIdNotFoundError` (there is no such group,
            or it is not of consumers), `GroupAuthorizationFailedError` ... The partitions of a group are results as
            well: partition to its `PartitionLag`, or to what went wrong with it: `UnknownTopicOrPartitionError` (the
            topic was deleted), `LeaderNotAvailableError` (no replica is alive; it is not waited for) ...

        Example:
            ```python
            results = await admin.group_lag(["billing"])
            lag = results["billing"]
            print(lag.group_id, lag.state, "is", lag.total, "offsets from the ends")
            for partition, found in lag.partitions.values().items():
                print(partition, found.lag, "of which", found.lost, "are no longer there")
            ```
        """
        deadline = self._deadline(timeout)
        given = groups if isinstance(groups, Mapping) else tuple(groups)
        wanted = wanted_of_each(given)
        described = await self._groups_of_any_kind(_NAME, deadline, wanted)
        known = {name: group for name, group in described.items() if isinstance(group, KnownGroup)}
        current = await self._current_offsets(_NAME, deadline, known.values(), wanted)
        partitions = {
            name: _partitions(known[name], wanted[name], offsets)
            for name, offsets in current.items()
            if not isinstance(offsets, KafkaError)
        }
        every = dict.fromkeys(partition for of_group in partitions.values() for partition in of_group)
        ranges = await self._ranges_of(_NAME, deadline, every.keys(), isolation)

        def lag_of(name: str) -> GroupLag | KafkaError:
            group, offsets = described[name], current.get(name)
            if isinstance(group, KafkaError):
                return group
            if group is None:
                return GroupIdNotFoundError(f"there is no group {name}")
            if isinstance(offsets, KafkaError):
                return offsets
            return _lag(group, partitions[name], dict(offsets.items()) if offsets is not None else {}, ranges)

        return Results({name: lag_of(name) for name in wanted}, given)


def _partitions(
    group: KnownGroup, wanted: Collection[TopicPartition] | None, offsets: CurrentOffsets
) -> tuple[TopicPartition, ...]:
    return tuple(sorted({*offsets, *group.assigned})) if wanted is None else tuple(wanted)


def _lag(
    group: KnownGroup,
    partitions: Collection[TopicPartition],
    offsets: Mapping[TopicPartition, CurrentOffset | KafkaError | None],
    ranges: Mapping[TopicPartition, OffsetRange | KafkaError],
) -> GroupLag:
    lags: dict[TopicPartition, PartitionLag | KafkaError] = {}
    for partition in partitions:
        current, range_ = offsets.get(partition), ranges[partition]
        if isinstance(current, KafkaError):
            lags[partition] = current
        elif isinstance(range_, OffsetRange):
            lags[partition] = _lag_in(current, range_, group, partition)
        elif partition in offsets or not _is_beyond_a_topic(group, range_):
            lags[partition] = range_
    return GroupLag(group.group_id, group.type, group.state, Results(lags))


def _is_beyond_a_topic(group: KnownGroup, error: KafkaError) -> bool:
    """Whether a task of a streams group has a number that one of its topics lacks: topics may differ in partitions."""
    return group.type is GroupType.STREAMS and isinstance(error, UnknownTopicOrPartitionError)


def _lag_in(
    current: CurrentOffset | None, range_: OffsetRange, group: KnownGroup, partition: TopicPartition
) -> PartitionLag:
    return PartitionLag(
        current_offset=None if current is None else current.offset,
        log_start_offset=range_.start,
        log_end_offset=range_.end,
        lag=_distance(current, range_, group.type),
        member_ids=group.assigned.get(partition, ()),
    )


def _distance(current: CurrentOffset | None, range_: OffsetRange, type_: GroupType) -> int | None:
    if type_ is GroupType.SHARE:
        return None if current is None else current.lag
    if current is None:
        return range_.count if type_ is GroupType.STREAMS else None
    return max(0, range_.end - current.offset)
