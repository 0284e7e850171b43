"""Reset the offsets of groups, as ``kafka-consumer-groups --reset-offsets`` does."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from kafkawire.admin.event_loop import together
from kafkawire.admin.needs import needs
from kafkawire.admin.offset_resets import (
    ByDuration,
    ResetOffset,
    ResetTarget,
    ShiftBy,
    ToCurrent,
    ToOffset,
    ToTime,
)
from kafkawire.admin.operations.coordinated import PartitionOfGroup
from kafkawire.admin.operations.group_offsets import CommitOffsets, GroupSelection, wanted_of_each
from kafkawire.admin.operations.groups_of_any_kind import (
    DESCRIBING,
    FETCHING,
    CurrentOffset,
    CurrentOffsets,
    GroupsOfAnyKindFamily,
    KnownGroup,
)
from kafkawire.admin.operations.records import ListOffsets, ListOffsetsAtOnce, OffsetAt
from kafkawire.admin.operations.share_group_offsets import AlterShareGroupOffsets
from kafkawire.admin.operations.topic_offsets import PartitionsOfTopicsFamily
from kafkawire.admin.results import Results
from kafkawire.model.groups.descriptions import GroupState, GroupType
from kafkawire.model.groups.offsets import CommittedOffset
from kafkawire.model.partitions import IsolationLevel, ListedOffset, OffsetSpec, TopicPartition, WantedOffset
from kafkawire.protocol.errors import GroupIdNotFoundError, InvalidRequestError, NonEmptyGroupError, UnknownServerError
from kafkawire.wire.kafka_errors import KafkaError

ResetOffsets: TypeAlias = Results[TopicPartition, ResetOffset]
"""Partition to where a group goes on there, or to what went wrong with the partition."""

Target: TypeAlias = WantedOffset | ToOffset | ShiftBy | ToCurrent
"""Where a group is to go on, times in milliseconds since 1970."""

Scope: TypeAlias = Collection[TopicPartition] | None
"""The partitions in which a group is reset; None for all that it has a current offset in."""

Listed: TypeAlias = Mapping[OffsetAt, ListedOffset | KafkaError]
Planned: TypeAlias = Mapping[PartitionOfGroup, ResetOffset | KafkaError]

_NAME = "reset_offsets"
_INACTIVE = frozenset({GroupState.EMPTY, GroupState.DEAD})
_RANGE = (OffsetSpec.EARLIEST, OffsetSpec.LATEST)


class OffsetResetOperations(GroupsOfAnyKindFamily, PartitionsOfTopicsFamily):
    """Resets of offsets."""

    @needs(CommitOffsets, rights="READ GROUP, READ TOPIC", further=[FETCHING, DESCRIBING, (ListOffsets,)])
    async def reset_offsets(
        self,
        groups: GroupSelection,
        to: ResetTarget,
        *,
        topics: Iterable[str] = (),
        dry_run: bool = False,
        timeout: float | None = None,
    ) -> Results[str, ResetOffsets]:
        """Reset the offsets of groups of any kind (classic, consumer, share, streams). They must have no members.

        Offsets outside of a partition are never committed, except by `ToCurrent`: the nearest end is taken. Where no
        record is as wanted (`ToTime`, `ByDuration`, ``MAX_TIMESTAMP``), the group goes on at the end.

        Args:
            groups: ids of the groups, or group id to the partitions to reset: None for all that the group has
                committed something for. A group of consumers that does not exist is made if partitions or topics are
                named.
            to: where to: ``OffsetSpec.EARLIEST``, ``OffsetSpec.LATEST``, `ToOffset`, `ShiftBy`, `ToTime`,
                `ByDuration` or `ToCurrent`.
            topics: names of topics: groups for which no partitions are given are reset in all partitions of these
                topics, also in those that they have committed nothing for.
            dry_run: whether to change nothing and only return the result.
            timeout: see `AdminClient`.

        Returns:
            Group id to its new offsets, or to what went wrong with the group, of which nothing was changed then:
            `NonEmptyGroupError` (it has members), `GroupIdNotFoundError`, `UnknownTopicOrPartitionError` (of
            ``topics``) ... Its offsets are results as well: partition to its `ResetOffset`, or to what went wrong with
            the partition: `UnknownTopicOrPartitionError`, `InvalidRequestError` (`ShiftBy` where nothing is
            committed), `LeaderNotAvailableError` (no replica is alive; it is not waited for), `UnknownMemberIdError`
            (a member has joined meanwhile) ...

        Example:
            ```python
            from datetime import timedelta

            a_day_ago = ByDuration(timedelta(days=1))
            results = await admin.reset_offsets(["billing"], a_day_ago, topics=["orders"], dry_run=True)
            for partition, reset in results["billing"].all().items():
                print(partition, "from", reset.previous_offset, "to", reset.new_offset)
            (await admin.reset_offsets(["billing"], a_day_ago, topics=["orders"])).all()
            ```
        """
        target = _target(to)
        deadline = self._deadline(timeout)
        given = groups if isinstance(groups, Mapping) else tuple(groups)
        wanted = wanted_of_each(given)
        async with together() as tasks:
            describing = tasks.create_task(self._groups_of_any_kind(_NAME, deadline, wanted))
            finding = tasks.create_task(self._partitions_of(_NAME, deadline, topics))
        of_topics = finding.result()
        scopes = {name: _scope(partitions, of_topics) for name, partitions in wanted.items()}
        sound = {name: _resettable(name, describing.result()[name], scope) for name, scope in scopes.items()}
        current = await self._current_offsets_in(deadline, sound, scopes)
        planned = await self._plan(deadline, target, current)
        done = planned if dry_run else await self._carry_out(deadline, planned, sound)
        return Results(
            {
                name: offsets
                if isinstance(offsets, KafkaError)
                else Results({partition: done[PartitionOfGroup(name, partition)] for partition in offsets})
                for name, offsets in ((name, current[name]) for name in wanted)
            },
            given,
        )

    async def _current_offsets_in(
        self, deadline: float, groups: Mapping[str, KnownGroup | KafkaError], scopes: Mapping[str, Scope | KafkaError]
    ) -> dict[str, CurrentOffsets | KafkaError]:
        """The partitions in which each group is to be reset, and where it goes on there."""
        sound = [group for group in groups.values() if isinstance(group, KnownGroup)]
        partitions = {name: scope for name, scope in scopes.items() if not isinstance(scope, KafkaError)}
        current = await self._current_offsets(_NAME, deadline, sound, partitions)
        return {name: group if isinstance(group, KafkaError) else current[name] for name, group in groups.items()}

    async def _plan(
        self, deadline: float, to: Target, current: Mapping[str, CurrentOffsets | KafkaError]
    ) -> dict[PartitionOfGroup, ResetOffset | KafkaError]:
        """Where each group is to go on in each of its partitions; all offsets are looked up at once."""
        offsets = {
            PartitionOfGroup(name, partition): offset
            for name, of_group in current.items()
            if not isinstance(of_group, KafkaError)
            for partition, offset in of_group.items()
        }
        items = list(
            dict.fromkeys(
                OffsetAt(at.partition, needed)
                for at, offset in offsets.items()
                if not isinstance(offset, KafkaError)
                for needed in _needed(to, offset)
            )
        )
        operation = ListOffsetsAtOnce(items, IsolationLevel.READ_UNCOMMITTED).named(_NAME)
        listed = dict((await self._until(deadline, operation, items)).items())
        return {
            at: offset if isinstance(offset, KafkaError) else _reset(to, at.partition, offset, listed)
            for at, offset in offsets.items()
        }

    async def _carry_out(
        self, deadline: float, planned: Planned, groups: Mapping[str, KnownGroup | KafkaError]
    ) -> Planned:
        """Carry out a plan; the outcome of each partition."""
        consumers: dict[PartitionOfGroup, CommittedOffset] = {}
        share: dict[PartitionOfGroup, int] = {}
        for at, reset in planned.items():
            group = groups[at.group_id]
            if isinstance(reset, KafkaError) or isinstance(group, KafkaError):
                continue
            if group.type is GroupType.SHARE:
                share[at] = reset.new_offset
            else:
                consumers[at] = CommittedOffset(reset.new_offset)
        async with together() as tasks:
            committing = tasks.create_task(self._until(deadline, CommitOffsets(consumers).named(_NAME), consumers))
            altering = tasks.create_task(self._until(deadline, AlterShareGroupOffsets(share).named(_NAME), share))
        return {**planned, **committing.result().errors(), **altering.result().errors()}


def _target(to: ResetTarget) -> Target:
    match to:
        case ToTime():
            return to.timestamp_ms
        case ByDuration():
            return to.before(int(time.time() * 1000))
        case _:
            return to


def _scope(wanted: Scope, topics: Results[str, tuple[TopicPartition, ...]]) -> Scope | KafkaError:
    """The partitions in which a group is to be reset, or the error of a topic."""
    if wanted is not None or not topics:
        return wanted
    for error in topics.errors().values():
        return error
    return [partition for partitions in topics.values().values() for partition in partitions]


def _resettable(name: str, group: KnownGroup | KafkaError | None, scope: Scope | KafkaError) -> KnownGroup | KafkaError:
    """The group if it can be reset, or the reason why not."""
    if isinstance(scope, KafkaError):
        return scope
    if group is None:
        if scope is None:
            return GroupIdNotFoundError(f"there is no group {name}; name topics or partitions to make it")
        return KnownGroup(name, GroupType.CLASSIC, GroupState.DEAD, {})
    if isinstance(group, KnownGroup) and group.state not in _INACTIVE:
        return NonEmptyGroupError(f"the group {name} is {group.state}; stop its members before you reset its offsets")
    return group


def _needed(to: Target, current: CurrentOffset | None) -> Sequence[WantedOffset]:
    """The offsets of a partition that decide where a group goes on: a range, or the first of them that there is."""
    match to:
        case ToOffset():
            return _RANGE
        case ShiftBy():
            return () if current is None else _RANGE
        case ToCurrent():
            return (OffsetSpec.LATEST,) if current is None else ()
        case OffsetSpec.EARLIEST | OffsetSpec.LATEST:
            return (to,)
    return (to, OffsetSpec.LATEST)


def _reset(
    to: Target, partition: TopicPartition, current: CurrentOffset | None, listed: Listed
) -> ResetOffset | KafkaError:
    """Where a group goes on in a partition."""
    found = [listed[OffsetAt(partition, needed)] for needed in _needed(to, current)]
    for each in found:
        if isinstance(each, KafkaError):
            return each
    offsets = [each.offset for each in found if isinstance(each, ListedOffset) and each.offset is not None]
    previous = None if current is None else current.offset
    match to, previous, offsets:
        case ShiftBy(), None, _:
            return InvalidRequestError(f"nothing is committed for {partition}, so there is no offset to shift from")
        case ShiftBy(count), int(), [start, end]:
            return _within(previous + count, start, end, previous)
        case ToOffset(offset), _, [start, end]:
            return _within(offset, start, end, previous)
        case ToCurrent(), int(), _:
            return ResetOffset(previous, previous)
        case ((int() | ToCurrent()), _, [first, *_]):
            return ResetOffset(previous, first)
    return UnknownServerError(f"the leader of {partition} does not return its first and last offset")


def _within(offset: int, start: int, end: int, previous: int | None) -> ResetOffset:
    """An offset, or the end of the partition that is nearest to it."""
    new = max(start, min(offset, end))
    return ResetOffset(previous, new, is_clamped=new != offset)
