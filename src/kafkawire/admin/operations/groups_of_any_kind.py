"""Groups of any kind: their types and current offsets, for operations on offsets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeAlias

import msgspec

from kafkawire.admin.event_loop import together
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.operations.group_descriptions import (
    DescribeClassicConsumerGroups,
    DescribeClassicGroups,
    DescribeConsumerGroups,
    DescribeShareGroups,
)
from kafkawire.admin.operations.group_offsets import ListOffsetsOfGroup, ListOffsetsOfGroups
from kafkawire.admin.operations.share_group_offsets import DescribeShareGroupOffsets
from kafkawire.admin.operations.streams_groups import DescribeStreamsGroups
from kafkawire.admin.results import Results
from kafkawire.model.groups.descriptions import ConsumerGroupDescription, GroupState, GroupType, ShareGroupDescription
from kafkawire.model.groups.offsets import CommittedOffset, SharePartitionOffset
from kafkawire.model.groups.streams import StreamsGroupDescription
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol.errors import GroupIdNotFoundError, UnsupportedVersionError
from kafkawire.wire.kafka_errors import KafkaError

DESCRIBING = (DescribeConsumerGroups, DescribeClassicConsumerGroups)
"""The operations that describe groups, for the requirements of methods."""

FETCHING = (ListOffsetsOfGroups, ListOffsetsOfGroup)
"""The operations that fetch the offsets of groups, for the requirements of methods."""

Description: TypeAlias = ConsumerGroupDescription | ShareGroupDescription | StreamsGroupDescription


class KnownGroup(msgspec.Struct, frozen=True):
    """A group of any kind.

    Attributes:
        group_id: its id.
        type: its protocol.
        state: its state.
        assigned: partition to the ids of the members that have it.
    """

    group_id: str
    type: GroupType
    state: GroupState
    assigned: Mapping[TopicPartition, tuple[str, ...]]


class CurrentOffset(msgspec.Struct, frozen=True):
    """The current offset of a group of any kind in a partition.

    Attributes:
        offset: offset of the next record.
        lag: the number of remaining records, for share groups if the broker returns it.
    """

    offset: int
    lag: int | None = None


CurrentOffsets: TypeAlias = Results[TopicPartition, CurrentOffset | None]
"""Partition to the current offset of a group, None if it has none, or the error of the partition."""


class GroupsOfAnyKindFamily(OperationFamily):
    """Base of families whose methods take groups of any kind."""

    async def _groups_of_any_kind(
        self, name: str, deadline: float, groups: Iterable[str]
    ) -> dict[str, KnownGroup | KafkaError | None]:
        """Each group; None for one that does not exist.

        Consumer and classic groups come first: most are. Only the remaining ids are tried as groups of the other kinds.
        A classic group of something else than consumers, such as Kafka Connect, is an error.
        """
        described = await self._until(deadline, DescribeConsumerGroups().named(name), groups)
        found: dict[str, KnownGroup | KafkaError | None] = {
            group: outcome if isinstance(outcome, KafkaError) else _known(outcome, outcome.type)
            for group, outcome in described.items()
        }
        others = {
            group: error for group, error in described.errors().items() if isinstance(error, GroupIdNotFoundError)
        }
        if others:
            found.update(await self._other_groups(name, deadline, others))
        return found

    async def _other_groups(
        self, name: str, deadline: float, groups: Mapping[str, GroupIdNotFoundError]
    ) -> dict[str, KnownGroup | KafkaError | None]:
        async with together() as tasks:
            streams = tasks.create_task(self._until(deadline, DescribeStreamsGroups().named(name), groups))
            share = tasks.create_task(self._until(deadline, DescribeShareGroups().named(name), groups))
            classic = tasks.create_task(self._until(deadline, DescribeClassicGroups().named(name), groups))
        found: dict[str, KnownGroup | KafkaError | None] = dict.fromkeys(groups)
        for described in (classic.result(), share.result(), streams.result()):
            found.update({group: error for group, error in described.errors().items() if not _is_absent(error)})
        found.update({group: groups[group] for group in classic.result().values()})
        found.update({group: _known(each, GroupType.SHARE) for group, each in share.result().values().items()})
        found.update({group: _known(each, GroupType.STREAMS) for group, each in streams.result().values().items()})
        return found

    async def _current_offsets(
        self,
        name: str,
        deadline: float,
        groups: Collection[KnownGroup],
        wanted: Mapping[str, Collection[TopicPartition] | None],
    ) -> dict[str, CurrentOffsets | KafkaError]:
        """The current offsets of each group in the requested partitions; None for all that it has offsets for."""
        share = {group.group_id: wanted[group.group_id] for group in groups if group.type is GroupType.SHARE}
        others = {group.group_id: wanted[group.group_id] for group in groups if group.type is not GroupType.SHARE}
        async with together() as tasks:
            committed = tasks.create_task(self._until(deadline, ListOffsetsOfGroups(others).named(name), others))
            begun = tasks.create_task(self._until(deadline, DescribeShareGroupOffsets(share).named(name), share))
        return {
            group: offsets if isinstance(offsets, KafkaError) else _in_order(offsets, wanted[group])
            for group, offsets in (*committed.result().items(), *begun.result().items())
        }


def _is_absent(error: KafkaError) -> bool:
    """Whether there is no such group of a kind, or the coordinator is older than the kind."""
    return isinstance(error, (GroupIdNotFoundError, UnsupportedVersionError))


def _known(group: Description, type_: GroupType) -> KnownGroup:
    members: defaultdict[TopicPartition, list[str]] = defaultdict(list)
    for partition, member in _assignments(group):
        members[partition].append(member)
    return KnownGroup(group.group_id, type_, group.state, {at: tuple(sorted(ids)) for at, ids in members.items()})


def _assignments(group: Description) -> Iterator[tuple[TopicPartition, str]]:
    if not isinstance(group, StreamsGroupDescription):
        yield from ((partition, member.member_id) for member in group.members for partition in member.assignment)
        return
    topics = _topics_of_subtopologies(group)
    for member in group.members:
        for task in member.assignment.active:
            for topic in topics.get(task.subtopology_id, ()):
                yield TopicPartition(topic, task.partition), member.member_id


def _topics_of_subtopologies(group: StreamsGroupDescription) -> dict[str, tuple[str, ...]]:
    """The id of each part of an application to the topics that it reads."""
    if group.topology is None or group.topology.subtopologies is None:
        return {}
    return {
        each.subtopology_id: (*each.source_topics, *(topic.name for topic in each.repartition_source_topics))
        for each in group.topology.subtopologies
    }


def _in_order(
    offsets: Results[TopicPartition, CommittedOffset | None] | Results[TopicPartition, SharePartitionOffset | None],
    wanted: Collection[TopicPartition] | None,
) -> CurrentOffsets:
    """Offsets of either kind in the order in which they are wanted; brokers answer in any."""
    current = {partition: _current(offset) for partition, offset in offsets.items()}
    return Results(current, sorted(current) if wanted is None else wanted)


def _current(offset: CommittedOffset | SharePartitionOffset | KafkaError | None) -> CurrentOffset | KafkaError | None:
    match offset:
        case CommittedOffset():
            return CurrentOffset(offset.offset)
        case SharePartitionOffset():
            return CurrentOffset(offset.start_offset, offset.lag)
        case _:
            return offset
