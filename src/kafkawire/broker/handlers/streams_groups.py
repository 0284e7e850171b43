"""StreamsGroupHeartbeat and StreamsGroupDescribe (KIP-1071), and StreamsGroupTopologyDescriptionUpdate (KIP-1331)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.authorization import NO_OPERATIONS_REQUESTED
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.features import STREAMS_FEATURE
from kafkawire.broker.groups.assignors.tasks import Partitions, Tasks
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.descriptions import described_topology
from kafkawire.broker.groups.streams.group import StreamsGroup
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.broker.groups.streams.task_offsets import NO_TASK_OFFSETS, described
from kafkawire.broker.groups.streams.topology import InternalTopic
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.group_descriptions import of_groups
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.model.java_order import in_java_order, java_hash, timeline_order
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import (
    CreateTopicsRequest,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError

HIDDEN_TOPICS: Final = "The described group uses topics that the client is not authorized to describe."

_ALWAYS_STRICT: Final = 0
_ASSIGNOR: Final = "sticky"
_MOST_FAILURES: Final = 10_000
"""Of topics that are not tried again for some time."""
_NO_PLUGIN: Final = "The broker has no streams group topology description plugin configured."
_NOT_REQUESTED: Final = 0
_NOT_STORED: Final = 1
_SHOWN_ERRORS: Final = 3
_THROTTLED: Final = "The throttling quota has been exceeded."
_UNEXPECTED: Final = "The server experienced an unexpected error when processing the request."

Described = StreamsGroupDescribeResponse.DescribedGroup
DescribedMember = StreamsGroupDescribeResponse.Member
Status = StreamsGroupHeartbeatResponse.Status


class StreamsGroupHandlers:
    """Let clients be members of streams groups, make the internal topics of these, and describe them."""

    def __init__(self, context: HandlerContext) -> None:
        self._access = context.access
        self._clock = context.clock
        self._coordinator = context.coordinator
        self._creation = context.creation
        self._features = context.controller.image.features
        self._groups = context.groups.streams
        self._mutations = context.quotas.mutations
        self._failures: dict[str, tuple[str, float]] = {}
        self._in_creation: set[str] = set()
        self.apis = (
            ServedApi(StreamsGroupHeartbeatRequest, self._heartbeat, 0, 0, highest_later=1),
            ServedApi(StreamsGroupDescribeRequest, self._describe, 0, 0, highest_later=1),
            ServedApi(StreamsGroupTopologyDescriptionUpdateRequest, self._update_description, 0, -1, highest_later=0),
        )

    @property
    def _is_served(self) -> bool:
        return self._groups.settings.is_served and bool(self._features.levels.get(STREAMS_FEATURE))

    # Heartbeats.

    async def _heartbeat(
        self, request: StreamsGroupHeartbeatRequest, call: Call
    ) -> StreamsGroupHeartbeatResponse | Refused:
        if not self._is_served:
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, request.group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        try:
            await self._check_topics(request.topology, call)
            answer = await self._groups.heartbeat(request, (call.client_id, f"/{call.session.host}"))
        except GroupError as refused:
            return StreamsGroupHeartbeatResponse(error_code=refused.code, error_message=refused.message)
        if not answer.internal_topics:
            return answer.response
        return await self._with_internal_topics(request.group_id, answer.response, answer.internal_topics, call)

    async def _check_topics(self, topology: StreamsGroupHeartbeatRequest.Topology | None, call: Call) -> None:
        """Check the topics of a topology: their names, and whether the client may see them."""
        names = dict.fromkeys(() if topology is None else _names(topology))
        internal = [name for name in names if name in INTERNAL_TOPICS]
        if internal:
            reason = f"Use of Kafka internal topics {','.join(internal)} in a Kafka Streams topology is prohibited."
            raise GroupError(ErrorCode.STREAMS_INVALID_TOPOLOGY, reason)
        invalid = [name async for name in in_slices(names) if not _is_valid(name)]
        if invalid:
            reason = f"Topic names {','.join(invalid)} are not valid topic names."
            raise GroupError(ErrorCode.STREAMS_INVALID_TOPOLOGY, reason)
        may_describe = self._access.may_describe(call.session, ResourceType.TOPIC)
        if [name async for name in in_slices(names) if not may_describe(name)]:
            raise GroupError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, None)

    async def _with_internal_topics(
        self,
        group_id: str,
        response: StreamsGroupHeartbeatResponse,
        topics: Mapping[str, InternalTopic],
        call: Call,
    ) -> StreamsGroupHeartbeatResponse:
        """Create internal topics, as far as the client may; those that have failed just now are not tried again."""
        forbidden = [name async for name in in_slices(topics) if not self._may_create(name, call)]
        if forbidden:
            return _more_about_topics(response, f"Unauthorized to CREATE on topics {','.join(forbidden)}.")
        now = self._clock.seconds()
        self._failures = {name: each for name, each in self._failures.items() if each[1] > now}
        failed = {name: self._failures[name][0] for name in topics if name in self._failures}
        new = [topic for name, topic in topics.items() if name not in failed and name not in self._in_creation]
        if new:
            await self._create(new, group_id, call)
        if not failed:
            return response
        shown = ", ".join(f"{name} ({failed[name]})" for name in [*failed][:_SHOWN_ERRORS])
        more = f" and {len(failed) - _SHOWN_ERRORS} more" if len(failed) > _SHOWN_ERRORS else ""
        return _more_about_topics(response, f"Creation failed: {shown}{more}.")

    def _may_create(self, name: str, call: Call) -> bool:
        if self._access.allows_on_cluster(call.session, AclOperation.CREATE):
            return True
        return self._access.allows(call.session, AclOperation.CREATE, ResourceType.TOPIC, name)

    async def _create(self, topics: Sequence[InternalTopic], group_id: str, call: Call) -> None:
        """Create topics as if the client did so with the newest version of CreateTopics, with its quota (KIP-599)."""
        quota = self._mutations.quota_of(call, strict_since=_ALWAYS_STRICT)
        names = {topic.name for topic in topics}
        self._in_creation |= names
        try:
            creatable = [_creatable(topic) async for topic in in_slices(topics)]
            outcomes = await self._creation.create(creatable, quota.take)
        except PolicyViolationError as error:
            outcomes = dict.fromkeys(names, ItemError(error.code, str(error)))
        finally:
            self._in_creation -= names
        until = self._clock.seconds() + 2 * self._groups.settings.heartbeat_ms(group_id) / 1000
        for name, outcome in outcomes.items():
            if isinstance(outcome, ItemError) and len(self._failures) < _MOST_FAILURES:
                is_throttled = outcome.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED
                self._failures[name] = (outcome.message or (_THROTTLED if is_throttled else _UNEXPECTED), until)

    # Descriptions.

    async def _describe(
        self, request: StreamsGroupDescribeRequest, call: Call
    ) -> StreamsGroupDescribeResponse | Refused:
        if not self._is_served:
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        await self._coordinator.durable()
        groups = await of_groups(
            request.group_ids,
            may=self._access.may_describe(call.session, ResourceType.GROUP),
            describe=partial(self._described, request=request, call=call),
            refuse=lambda group_id: Described(ErrorCode.GROUP_AUTHORIZATION_FAILED, group_id=group_id),
        )
        return StreamsGroupDescribeResponse(groups=groups)

    def _described(self, group_id: str, *, request: StreamsGroupDescribeRequest, call: Call) -> Described:
        if not group_id:
            return Described(ErrorCode.INVALID_GROUP_ID, group_id=group_id)
        try:
            group = self._groups.found(group_id)
        except GroupError as refused:
            return Described(refused.code, refused.message, group_id)
        topology = described_topology(group)
        shown = () if topology is None else _described_names(topology)
        if not all(map(self._access.may_describe(call.session, ResourceType.TOPIC), shown)):
            return Described(ErrorCode.TOPIC_AUTHORIZATION_FAILED, HIDDEN_TOPICS, group_id)
        operations = NO_OPERATIONS_REQUESTED
        if request.include_authorized_operations:
            operations = self._access.operations(call.session, ResourceType.GROUP, group_id)
        return Described(
            group_id=group_id,
            group_state=group.state.state.value,
            group_epoch=group.state.epoch,
            assignment_epoch=group.state.assignment_epoch,
            topology=topology,
            members=tuple(_members(group)),
            authorized_operations=operations,
            topology_description_status=_NOT_STORED if request.include_topology_description else _NOT_REQUESTED,
            assignor_name=_ASSIGNOR,
        )

    async def _update_description(
        self, request: StreamsGroupTopologyDescriptionUpdateRequest, call: Call
    ) -> StreamsGroupTopologyDescriptionUpdateResponse | Refused:
        """Refuse a description, as a broker does that has no plugin to keep it (KIP-1331)."""
        if not self._is_served:
            return Refused(ErrorCode.UNSUPPORTED_VERSION)
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, request.group_id):
            return Refused(ErrorCode.GROUP_AUTHORIZATION_FAILED)
        return StreamsGroupTopologyDescriptionUpdateResponse(0, ErrorCode.UNSUPPORTED_VERSION, _NO_PLUGIN)


def _names(topology: StreamsGroupHeartbeatRequest.Topology) -> Iterator[str]:
    for each in topology.subtopologies:
        yield from each.source_topics
        yield from each.repartition_sink_topics
        yield from (topic.name for topic in each.repartition_source_topics)
        yield from (topic.name for topic in each.state_changelog_topics)


def _described_names(topology: StreamsGroupDescribeResponse.Topology) -> Iterator[str]:
    for each in topology.subtopologies or ():
        yield from each.source_topics
        yield from each.repartition_sink_topics
        yield from (topic.name for topic in each.repartition_source_topics)
        yield from (topic.name for topic in each.state_changelog_topics)


def _is_valid(name: str) -> bool:
    try:
        check_topic_name(name)
    except ItemError:
        return False
    return True


def _creatable(topic: InternalTopic) -> CreateTopicsRequest.CreatableTopic:
    config = CreateTopicsRequest.CreatableTopicConfig
    return CreateTopicsRequest.CreatableTopic(
        topic.name,
        topic.partitions,
        topic.replication_factor or -1,
        configs=tuple(config(name, value) for name, value in topic.configs.items()),
    )


def _more_about_topics(response: StreamsGroupHeartbeatResponse, detail: str) -> StreamsGroupHeartbeatResponse:
    """The response with more about the internal topics that are missing."""
    code = StreamsStatus.MISSING_INTERNAL_TOPICS
    conditions = tuple(
        replace(each, status_detail=f"{each.status_detail}; {detail}") if each.status_code == code else each
        for each in response.status or ()
    )
    if all(each.status_code != code for each in conditions):
        conditions = (*conditions, Status(code, detail))
    return replace(response, status=conditions)


def _members(group: StreamsGroup) -> Iterator[DescribedMember]:
    tag, endpoint = StreamsGroupDescribeResponse.KeyValue, StreamsGroupDescribeResponse.Endpoint
    for member_id in timeline_order(group.state.members, java_hash):
        member = group.state.members[member_id]
        offsets = group.task_offsets.get(member_id, NO_TASK_OFFSETS)
        yield DescribedMember(
            member_id=member_id,
            member_epoch=member.epoch,
            instance_id=None,
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            topology_epoch=member.topology_epoch,
            process_id=member.process_id,
            user_endpoint=None if member.endpoint is None else endpoint(*member.endpoint),
            client_tags=tuple(tag(key, member.tags[key]) for key in in_java_order(member.tags)),
            task_offsets=tuple(described(offsets.restored)),
            task_end_offsets=tuple(described(offsets.ends)),
            assignment=_assignment(member.assigned.tasks),
            target_assignment=_assignment(group.state.target(member.member_id)),
        )


def _assignment(tasks: Tasks) -> StreamsGroupDescribeResponse.Assignment:
    return StreamsGroupDescribeResponse.Assignment(
        _task_ids(tasks.active), _task_ids(tasks.standby), _task_ids(tasks.warmup)
    )


def _task_ids(partitions: Partitions) -> Sequence[StreamsGroupDescribeResponse.TaskIds]:
    ids = StreamsGroupDescribeResponse.TaskIds
    return tuple(ids(subtopology, partitions[subtopology]) for subtopology in in_java_order(partitions))
