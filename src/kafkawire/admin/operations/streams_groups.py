"""Streams groups, described (admin-groups)."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire import protocol
from kafkawire.admin.engine.operation import Outcomes, Progress, Request, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.group_descriptions import DescribeGroups
from kafkawire.admin.results import Results
from kafkawire.model.groups.descriptions import GroupState
from kafkawire.model.groups.streams import (
    StreamsEndpoint,
    StreamsGlobalStore,
    StreamsGroupDescription,
    StreamsGroupMember,
    StreamsInternalTopic,
    StreamsNodeType,
    StreamsSubtopology,
    StreamsTask,
    StreamsTasks,
    StreamsTopology,
    StreamsTopologyDescription,
    StreamsTopologyDescriptionStatus,
    StreamsTopologyNode,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message


class DescribeStreamsGroups(DescribeGroups[StreamsGroupDescription, "protocol.StreamsGroupDescribeResponse"]):
    """KIP-1071, KIP-1331 (description of the topology)."""

    name = "describe_streams_groups"
    api = ApiKey.STREAMS_GROUP_DESCRIBE

    def __init__(self, *, authorized: bool = False, topology_description: bool = False) -> None:
        super().__init__(authorized=authorized)
        self._topology_description = topology_description
        self.needs = ("include_topology_description",) if topology_description else ()

    def build(self, request: Request[str]) -> Message:
        return protocol.StreamsGroupDescribeRequest(
            group_ids=tuple(request.items),
            include_authorized_operations=self._authorized,
            include_topology_description=self._topology_description,
        )

    def read(
        self, request: Request[str], response: protocol.StreamsGroupDescribeResponse
    ) -> Outcomes[str, StreamsGroupDescription]:
        return {
            group.group_id: failure(group.error_code, group.error_message)
            or StreamsGroupDescription(
                group_id=group.group_id,
                state=GroupState(group.group_state),
                coordinator=request.node_id,
                topology=None if group.topology is None else _topology(group.topology),
                members=tuple(map(_member, group.members)),
                group_epoch=group.group_epoch,
                assignment_epoch=group.assignment_epoch,
                authorized_operations=self._may(group.authorized_operations),
                assignor=group.assignor_name,
                topology_description_status=StreamsTopologyDescriptionStatus(group.topology_description_status),
                topology_description=None
                if group.topology_description is None
                else _topology_description(group.topology_description),
            )
            for group in response.groups
        }


def _topology(topology: protocol.StreamsGroupDescribeResponse.Topology) -> StreamsTopology:
    return StreamsTopology(
        epoch=topology.epoch,
        subtopologies=None
        if topology.subtopologies is None
        else tuple(
            StreamsSubtopology(
                subtopology_id=each.subtopology_id,
                source_topics=tuple(each.source_topics),
                repartition_sink_topics=tuple(each.repartition_sink_topics),
                state_changelog_topics=tuple(map(_internal_topic, each.state_changelog_topics)),
                repartition_source_topics=tuple(map(_internal_topic, each.repartition_source_topics)),
            )
            for each in topology.subtopologies
        ),
    )


def _topology_description(
    description: protocol.StreamsGroupDescribeResponse.TopologyDescription,
) -> StreamsTopologyDescription:
    return StreamsTopologyDescription(
        {each.subtopology_id: tuple(map(_node, each.nodes)) for each in description.subtopologies},
        tuple(StreamsGlobalStore(_node(each.source), _node(each.processor)) for each in description.global_stores),
    )


def _node(node: protocol.StreamsGroupDescribeResponse.TopologyDescriptionNode) -> StreamsTopologyNode:
    return StreamsTopologyNode(
        name=node.name,
        type=StreamsNodeType(node.node_type),
        source_topics=tuple(node.source_topics),
        sink_topic=node.sink_topic,
        stores=tuple(node.stores),
        successors=tuple(node.successors),
    )


def _internal_topic(topic: protocol.StreamsGroupDescribeResponse.TopicInfo) -> StreamsInternalTopic:
    return StreamsInternalTopic(
        name=topic.name,
        partitions=topic.partitions or None,
        replication_factor=topic.replication_factor or None,
        configs=_pairs(topic.topic_configs),
    )


def _member(member: protocol.StreamsGroupDescribeResponse.Member) -> StreamsGroupMember:
    endpoint = member.user_endpoint
    return StreamsGroupMember(
        member_id=member.member_id,
        member_epoch=member.member_epoch,
        group_instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        endpoint=None if endpoint is None else StreamsEndpoint(endpoint.host, endpoint.port),
        client_tags=_pairs(member.client_tags),
        task_offsets=_offsets(member.task_offsets),
        task_end_offsets=_offsets(member.task_end_offsets),
        assignment=_assignment(member.assignment),
        target_assignment=_assignment(member.target_assignment),
        is_classic=member.is_classic,
    )


def _pairs(pairs: Iterable[protocol.StreamsGroupDescribeResponse.KeyValue]) -> dict[str, str]:
    return {pair.key: pair.value for pair in pairs}


def _offsets(offsets: Iterable[protocol.StreamsGroupDescribeResponse.TaskOffset]) -> dict[StreamsTask, int]:
    return {StreamsTask(each.subtopology_id, each.partition): each.offset for each in offsets}


def _assignment(tasks: protocol.StreamsGroupDescribeResponse.Assignment) -> StreamsTasks:
    return StreamsTasks(_tasks(tasks.active_tasks), _tasks(tasks.standby_tasks), _tasks(tasks.warmup_tasks))


def _tasks(tasks: Iterable[protocol.StreamsGroupDescribeResponse.TaskIds]) -> tuple[StreamsTask, ...]:
    return tuple(sorted(StreamsTask(each.subtopology_id, number) for each in tasks for number in each.partitions))


class StreamsGroupOperations(OperationFamily):
    """Streams groups, described."""

    @needs(DescribeStreamsGroups, rights="DESCRIBE GROUP, DESCRIBE TOPIC")
    async def describe_streams_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        include_topology_description: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, StreamsGroupDescription]:
        """Groups of Kafka Streams by the streams protocol (KIP-1071).

        Args:
            groups: ids of the groups.
            include_authorized_operations: whether to include the operations that the caller may perform.
            include_topology_description: whether to ask for the nodes of each application (KIP-1331). Fails at
                brokers before 4.4.
            timeout, progress: see `AdminClient`.

        Returns:
            Group id to its description, or to what went wrong: `GroupIdNotFoundError` (also for groups of another
            type), `GroupAuthorizationFailedError`, `UnsupportedVersionError` (the broker has no streams groups) ...

        Example:
            ```python
            results = await admin.describe_streams_groups(["enrichment"])
            for group in results.values().values():
                for member in group.members:
                    print(group.group_id, group.state, member.client_id, member.assignment.active)
            for group_id, error in results.errors().items():
                print(group_id, error)
            ```
        """
        operation = DescribeStreamsGroups(
            authorized=include_authorized_operations, topology_description=include_topology_description
        )
        return await self._each(operation, groups, timeout, progress)
