"""StreamsGroupHeartbeat requests: which are valid, and what they change of a member and of a topology."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.groups.assignors.tasks import Tasks
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.member import Endpoint, StreamsMember, size_of_tags
from kafkawire.broker.groups.streams.owned_tasks import partitions_of
from kafkawire.broker.groups.streams.topology import ConfiguredSubtopology
from kafkawire.protocol import StreamsGroupHeartbeatRequest, StreamsGroupTopologyValue
from kafkawire.protocol.error_codes import ErrorCode

Topology = StreamsGroupHeartbeatRequest.Topology

_LEFT_FOR_A_WHILE: Final = -2
_ONE_TYPE: Final = "If one task-type is non-null, all must be non-null."


def check(request: StreamsGroupHeartbeatRequest, *, is_later: bool) -> None:
    """Check a request by itself.

    Args:
        request: the request.
        is_later: whether the rules are those of Apache Kafka 4.4, which supports more.

    Raises:
        GroupError: it is not valid.
    """
    _check_features(request, is_later=is_later)
    for text, name in (
        (request.member_id, "MemberId"),
        (request.group_id, "GroupId"),
        (request.instance_id, "InstanceId"),
        (request.rack_id, "RackId"),
    ):
        if text is not None and not text.strip():
            raise _invalid(f"{name} can't be empty.")
    if request.member_epoch == 0:
        _check_join(request)
    elif request.member_epoch == _LEFT_FOR_A_WHILE:
        raise _invalid("InstanceId can't be null.")
    elif request.member_epoch < _LEFT_FOR_A_WHILE:
        raise _invalid(f"MemberEpoch is {request.member_epoch}, but must be greater than or equal to -2.")
    tasks = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    if any(each is None for each in tasks) and any(each is not None for each in tasks):
        raise _invalid(_ONE_TYPE)
    if request.member_epoch and request.topology is not None:
        raise _invalid("Topology can only be provided when (re-)joining.")


def _check_features(request: StreamsGroupHeartbeatRequest, *, is_later: bool) -> None:
    """Refuse what Apache Kafka 4.3 does not support yet; 4.4 supports tasks that warm up, and offsets of tasks."""
    if request.instance_id is not None:
        raise _invalid("Static membership is not yet supported.")
    if request.task_offsets is not None and not is_later:
        raise _invalid("TaskOffsets are not supported yet.")
    if request.task_end_offsets is not None and not is_later:
        raise _invalid("TaskEndOffsets are not supported yet.")
    if request.warmup_tasks and not is_later:
        raise _invalid("WarmupTasks are not supported yet.")
    if request.topology is not None and any(each.source_topic_regex for each in request.topology.subtopologies):
        raise _invalid("Regular expressions for source topics are not supported yet.")


def _check_join(request: StreamsGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        raise _invalid("RebalanceTimeoutMs must be provided in first request.")
    for tasks, name in (
        (request.active_tasks, "ActiveTasks"),
        (request.standby_tasks, "StandbyTasks"),
        (request.warmup_tasks, "WarmupTasks"),
    ):
        if tasks is None or tasks:
            raise _invalid(f"{name} must be empty when (re-)joining.")
    if request.topology is None:
        raise _invalid("Topology must be non-null when (re-)joining.")
    for subtopology in request.topology.subtopologies:
        for topic in subtopology.state_changelog_topics:
            if topic.partitions:
                reason = f"must have an undefined partition count, but it is set to {topic.partitions}."
                raise GroupError(ErrorCode.STREAMS_INVALID_TOPOLOGY, f"Changelog topic {topic.name} {reason}")


def _invalid(reason: str) -> GroupError:
    return GroupError(ErrorCode.INVALID_REQUEST, reason)


def reported(request: StreamsGroupHeartbeatRequest) -> Tasks | None:
    """The tasks that a client says that it has; None if it says nothing."""
    active, standby, warmup = request.active_tasks, request.standby_tasks, request.warmup_tasks
    if active is None or standby is None or warmup is None:
        return None
    return Tasks(*map(partitions_of, (active, standby, warmup)))


def check_epoch(member: StreamsMember, request: StreamsGroupHeartbeatRequest) -> None:
    """Check that a heartbeat has the epoch of the member, or the one before because the last answer was lost.

    Raises:
        GroupError: the member must join again.
    """
    epoch = request.member_epoch
    if epoch in {0, member.epoch} or (epoch == member.previous_epoch < member.epoch and _has_less(member, request)):
        return
    than = "greater" if epoch > member.epoch else "smaller"
    raise GroupError(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The streams group member has a {than} member epoch ({epoch}) than the one known by the group coordinator "
        f"({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def _has_less(member: StreamsMember, request: StreamsGroupHeartbeatRequest) -> bool:
    tasks = reported(request)
    return tasks is not None and all(
        subtopology in assigned and set(partitions) <= set(assigned[subtopology])
        for own, assigned in zip(tasks, member.assigned.tasks, strict=True)
        for subtopology, partitions in own.items()
    )


def check_tasks(subtopologies: Mapping[str, ConfiguredSubtopology], request: StreamsGroupHeartbeatRequest) -> None:
    """Check that the tasks of a request are those of the topology.

    Raises:
        GroupError: there is no such task.
    """
    for tasks in (request.active_tasks, request.standby_tasks, request.warmup_tasks):
        for each in tasks or ():
            subtopology = subtopologies.get(each.subtopology_id)
            if subtopology is None:
                raise _invalid(f"Subtopology {each.subtopology_id} does not exist in the topology.")
            wrong = next((one for one in each.partitions if not 0 <= one < subtopology.tasks), None)
            if wrong is not None:
                raise _invalid(
                    f"Task {wrong} for subtopology {each.subtopology_id} is invalid. "
                    f"Number of tasks for this subtopology: {subtopology.tasks}"
                )


def updated(
    member: StreamsMember, request: StreamsGroupHeartbeatRequest, client: tuple[str, str], *, is_later: bool
) -> StreamsMember:
    """The member with the fields that a heartbeat has; those that are null or -1 have not changed.

    Args:
        member: before the heartbeat.
        request: the heartbeat.
        client: id and host of the client.
        is_later: whether the rules are those of Apache Kafka 4.4: a member that joins without an endpoint has none.

    Raises:
        GroupError: a tag occurs twice, which Kafka does not expect.
    """
    tags, size, endpoint = member.tags, member.size_of_tags, request.user_endpoint
    keeps_endpoint = endpoint is None and not (is_later and request.member_epoch == 0)
    if request.client_tags is not None:
        tags = {each.key: each.value for each in request.client_tags}
        size = size_of_tags(tags)
        if len(tags) < len(request.client_tags):
            raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    return replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        client_id=client[0],
        client_host=client[1],
        rebalance_timeout_ms=member.rebalance_timeout_ms
        if request.rebalance_timeout_ms == -1
        else request.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch if request.topology is None else request.topology.epoch,
        process_id=member.process_id if request.process_id is None else request.process_id,
        endpoint=member.endpoint if keeps_endpoint else _endpoint(endpoint),
        tags=tags,
        size_of_tags=size,
    )


def _endpoint(endpoint: StreamsGroupHeartbeatRequest.Endpoint | None) -> Endpoint | None:
    return None if endpoint is None else Endpoint(endpoint.host, endpoint.port)


def checked_topology(known: StreamsGroupTopologyValue | None, asked: Topology | None) -> StreamsGroupTopologyValue:
    """The topology of a group after a request.

    Raises:
        GroupError: it would become another one.
    """
    if asked is None:
        if known is None:
            raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)
        return known
    _check_unique(each.subtopology_id for each in asked.subtopologies)
    recorded = _recorded(asked)
    if known is None:
        return recorded
    if known.epoch > asked.epoch:
        return known
    if known.epoch != asked.epoch or _by_id(known) != _by_id(recorded):
        raise _invalid("Topology updates are not supported yet.")
    return known


def _check_unique(names: Iterable[str]) -> None:
    """Refuse names that occur twice, as Kafka does, which does not expect any."""
    if any(times > 1 for times in Counter(names).values()):
        raise GroupError(ErrorCode.UNKNOWN_SERVER_ERROR, None)


def _by_id(topology: StreamsGroupTopologyValue) -> Mapping[str, StreamsGroupTopologyValue.Subtopology]:
    return {each.subtopology_id: each for each in topology.subtopologies}


def _recorded(topology: Topology) -> StreamsGroupTopologyValue:
    """The record of a topology."""
    group = StreamsGroupTopologyValue.CopartitionGroup
    return StreamsGroupTopologyValue(
        topology.epoch,
        tuple(
            StreamsGroupTopologyValue.Subtopology(
                each.subtopology_id,
                tuple(each.source_topics),
                tuple(each.source_topic_regex),
                tuple(map(_topic, each.state_changelog_topics)),
                tuple(each.repartition_sink_topics),
                tuple(map(_topic, each.repartition_source_topics)),
                tuple(
                    group(tuple(one.source_topics), tuple(one.source_topic_regex), tuple(one.repartition_source_topics))
                    for one in each.copartition_groups
                ),
            )
            for each in topology.subtopologies
        ),
    )


def _topic(topic: StreamsGroupHeartbeatRequest.TopicInfo) -> StreamsGroupTopologyValue.TopicInfo:
    config = StreamsGroupTopologyValue.TopicConfig
    configs = tuple(config(each.key, each.value) for each in topic.topic_configs)
    return StreamsGroupTopologyValue.TopicInfo(topic.name, topic.partitions, topic.replication_factor, configs)
