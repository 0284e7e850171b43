"""Classic groups, groups of consumers and share groups: describe (admin-groups)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, R, Request, V, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.coordinated import OfGroups, assigned
from kafkawire.admin.results import Results
from kafkawire.model.acls.bindings import AclOperation, authorized_operations
from kafkawire.model.groups.descriptions import (
    CONSUMER_PROTOCOL,
    ClassicGroupDescription,
    ClassicGroupMember,
    ConsumerGroupDescription,
    ConsumerGroupMember,
    GroupState,
    GroupType,
    ShareGroupDescription,
    ShareGroupMember,
)
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import GroupIdNotFoundError, error_of
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.kafka_errors import KafkaError

_UPGRADED = {0: False, 1: True}
"""Member types of ConsumerGroupDescribe; for others it is unknown."""


class DescribeGroups(OfGroups[V, R]):
    """Base of the operations that describe groups.

    Args:
        authorized: whether to request the operations that the caller may perform on each group.
    """

    # Groups may have many members with many partitions, so that answers grow large; requests follow each other anyway.
    batch = 500

    def __init__(self, *, authorized: bool = False) -> None:
        self._authorized = authorized

    def _may(self, operations: int) -> frozenset[AclOperation] | None:
        """The operations that the caller may perform on a group; None if they were not requested."""
        return authorized_operations(operations) if self._authorized else None


class DescribeConsumerGroups(DescribeGroups[ConsumerGroupDescription, "protocol.ConsumerGroupDescribeResponse"]):
    """KIP-848; groups of the classic protocol, and of coordinators without another, by the fallback."""

    name = "describe_consumer_groups"
    api = ApiKey.CONSUMER_GROUP_DESCRIBE
    fallback_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.UNSUPPORTED_VERSION, ErrorCode.GROUP_ID_NOT_FOUND})

    def build(self, request: Request[str]) -> Message:
        return protocol.ConsumerGroupDescribeRequest(
            group_ids=tuple(request.items), include_authorized_operations=self._authorized
        )

    def read(
        self, request: Request[str], response: protocol.ConsumerGroupDescribeResponse
    ) -> Outcomes[str, ConsumerGroupDescription]:
        return {
            group.group_id: failure(group.error_code, group.error_message)
            or ConsumerGroupDescription(
                group_id=group.group_id,
                type=GroupType.CONSUMER,
                state=GroupState(group.group_state),
                coordinator=request.node_id,
                assignor=group.assignor_name,
                members=tuple(map(_member, group.members)),
                group_epoch=group.group_epoch,
                assignment_epoch=group.assignment_epoch,
                authorized_operations=self._may(group.authorized_operations),
            )
            for group in response.groups
        }

    def fallback(self) -> Operation[str, ConsumerGroupDescription, protocol.DescribeGroupsResponse]:
        return DescribeClassicConsumerGroups(authorized=self._authorized).named(self.name)


def _member(member: protocol.ConsumerGroupDescribeResponse.Member) -> ConsumerGroupMember:
    return ConsumerGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        assignment=assigned(member.assignment.topic_partitions),
        target_assignment=assigned(member.target_assignment.topic_partitions),
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        subscribed_topics=tuple(member.subscribed_topic_names),
        subscribed_regex=member.subscribed_topic_regex or None,
        is_upgraded=_UPGRADED.get(member.member_type),
    )


class _DescribeInClassicProtocol(DescribeGroups[V, "protocol.DescribeGroupsResponse"]):
    """Base of the operations that describe groups of the classic protocol."""

    api = ApiKey.DESCRIBE_GROUPS

    def __init__(self, *, authorized: bool = False) -> None:
        super().__init__(authorized=authorized)
        self.needs = ("include_authorized_operations",) if authorized else ()

    def build(self, request: Request[str]) -> Message:
        return protocol.DescribeGroupsRequest(
            groups=tuple(request.items), include_authorized_operations=self._authorized
        )

    def _groups(
        self, request: Request[str], response: protocol.DescribeGroupsResponse
    ) -> dict[str, ClassicGroupDescription | KafkaError]:
        return {group.group_id: self._group(group, request.node_id) for group in response.groups}

    def _group(
        self, group: protocol.DescribeGroupsResponse.DescribedGroup, coordinator: int
    ) -> ClassicGroupDescription | KafkaError:
        if group.error_code:
            return error_of(group.error_code, group.error_message)
        state = GroupState(group.group_state)
        if state is GroupState.DEAD and not group.members:
            # Before version 6 this is how brokers say that there is no such group.
            return GroupIdNotFoundError(f"there is no group {group.group_id}")
        is_of_consumers = group.protocol_type == CONSUMER_PROTOCOL
        return ClassicGroupDescription(
            group_id=group.group_id,
            protocol_type=group.protocol_type,
            protocol=group.protocol_data,
            state=state,
            coordinator=coordinator,
            members=tuple(_classic_member(member, is_consumer=is_of_consumers) for member in group.members),
            authorized_operations=self._may(group.authorized_operations),
        )


class DescribeClassicGroups(_DescribeInClassicProtocol[ClassicGroupDescription]):
    """Groups of the classic protocol of any protocol type."""

    name = "describe_classic_groups"

    def read(
        self, request: Request[str], response: protocol.DescribeGroupsResponse
    ) -> Outcomes[str, ClassicGroupDescription]:
        return self._groups(request, response)


class DescribeClassicConsumerGroups(_DescribeInClassicProtocol[ConsumerGroupDescription]):
    """Groups of consumers by the classic protocol."""

    name = "describe_consumer_groups"

    def read(
        self, request: Request[str], response: protocol.DescribeGroupsResponse
    ) -> Outcomes[str, ConsumerGroupDescription]:
        groups = self._groups(request, response)
        return {
            group_id: group if isinstance(group, KafkaError) else _of_consumers(group)
            for group_id, group in groups.items()
        }


def _classic_member(
    member: protocol.DescribeGroupsResponse.DescribedGroupMember, *, is_consumer: bool
) -> ClassicGroupMember:
    metadata, assignment = bytes(member.member_metadata), bytes(member.member_assignment)
    topics, rack_id = _subscription(metadata) if is_consumer else (None, None)
    return ClassicGroupMember(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        metadata=metadata,
        assignment=assignment,
        partitions=_partitions(assignment) if is_consumer else None,
        subscribed_topics=topics,
        rack_id=rack_id,
    )


def _partitions(assignment: bytes) -> tuple[TopicPartition, ...] | None:
    """The partitions of a consumer's assignment, which has no bytes during a rebalance."""
    if not assignment:
        return ()
    from kafkawire.records.consumer_protocol import decode_assignment  # noqa: PLC0415 few groups are classic

    try:
        decoded, _ = decode_assignment(assignment)
    except DecodeError:
        return None
    return tuple(
        sorted(TopicPartition(each.topic, number) for each in decoded.assigned_partitions for number in each.partitions)
    )


def _subscription(metadata: bytes) -> tuple[tuple[str, ...] | None, str | None]:
    if not metadata:
        return (), None
    from kafkawire.records.consumer_protocol import decode_subscription  # noqa: PLC0415 few groups are classic

    try:
        decoded, _ = decode_subscription(metadata)
    except DecodeError:
        return None, None
    return tuple(decoded.topics), decoded.rack_id


def _of_consumers(group: ClassicGroupDescription) -> ConsumerGroupDescription | KafkaError:
    if group.protocol_type not in {"", CONSUMER_PROTOCOL}:
        return GroupIdNotFoundError(
            f"the group {group.group_id} is not a group of consumers, its protocol type is {group.protocol_type!r}: "
            "use describe_classic_groups"
        )
    members = []
    for member in group.members:
        # Members of a group without protocol type cannot be consumers, but no broker has any.
        if member.partitions is None and group.protocol_type:
            return KafkaError(
                f"the assignment of the member {member.member_id} of the group {group.group_id} is not that of a "
                "consumer: describe_classic_groups returns its bytes"
            )
        members.append(
            ConsumerGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                assignment=member.partitions or (),
                rack_id=member.rack_id,
                subscribed_topics=member.subscribed_topics or (),
                is_upgraded=False,
            )
        )
    return ConsumerGroupDescription(
        group_id=group.group_id,
        type=GroupType.CLASSIC,
        state=group.state,
        coordinator=group.coordinator,
        assignor=group.protocol,
        members=tuple(members),
        is_simple_consumer_group=group.is_simple_consumer_group,
        authorized_operations=group.authorized_operations,
    )


class DescribeShareGroups(DescribeGroups[ShareGroupDescription, "protocol.ShareGroupDescribeResponse"]):
    """KIP-932."""

    name = "describe_share_groups"
    api = ApiKey.SHARE_GROUP_DESCRIBE

    def build(self, request: Request[str]) -> Message:
        return protocol.ShareGroupDescribeRequest(
            group_ids=tuple(request.items), include_authorized_operations=self._authorized
        )

    def read(
        self, request: Request[str], response: protocol.ShareGroupDescribeResponse
    ) -> Outcomes[str, ShareGroupDescription]:
        return {
            group.group_id: failure(group.error_code, group.error_message)
            or ShareGroupDescription(
                group_id=group.group_id,
                state=GroupState(group.group_state),
                coordinator=request.node_id,
                assignor=group.assignor_name,
                members=tuple(map(_share_member, group.members)),
                group_epoch=group.group_epoch,
                assignment_epoch=group.assignment_epoch,
                authorized_operations=self._may(group.authorized_operations),
            )
            for group in response.groups
        }


def _share_member(member: protocol.ShareGroupDescribeResponse.Member) -> ShareGroupMember:
    return ShareGroupMember(
        member_id=member.member_id,
        client_id=member.client_id,
        client_host=member.client_host,
        assignment=assigned(member.assignment.topic_partitions),
        member_epoch=member.member_epoch,
        subscribed_topics=tuple(member.subscribed_topic_names),
        rack_id=member.rack_id,
    )


class GroupDescriptionOperations(OperationFamily):
    """Descriptions of classic groups, groups of consumers and share groups."""

    @needs(DescribeConsumerGroups, DescribeClassicConsumerGroups, rights="DESCRIBE GROUP, DESCRIBE TOPIC")
    async def describe_consumer_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, ConsumerGroupDescription]:
        """Groups of consumers, of the consumer protocol (KIP-848) and of the classic one.

        Args:
            groups: ids of the groups.
            include_authorized_operations: whether to include the operations that the caller may perform.
            timeout, progress: see `AdminClient`.

        Returns:
            Group id to its description, or to what went wrong: `GroupIdNotFoundError` (also for groups that are not
            groups of consumers), `GroupAuthorizationFailedError` ...

        Example:
            ```python
            results = await admin.describe_consumer_groups(["billing"])
            for group in results.all().values():
                print(group.group_id, group.state, "at node", group.coordinator)
                for member in group.members:
                    print(member.client_id, member.client_host, [str(partition) for partition in member.assignment])
            ```
        """
        operation = DescribeConsumerGroups(authorized=include_authorized_operations)
        return await self._each(operation, groups, timeout, progress)

    @needs(DescribeClassicGroups, rights="DESCRIBE GROUP")
    async def describe_classic_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, ClassicGroupDescription]:
        """Groups of the classic protocol, of consumers or of anything else, such as Kafka Connect.

        Args:
            groups: ids of the groups.
            include_authorized_operations: whether to include the operations that the caller may perform.
            timeout, progress: see `AdminClient`.

        Returns:
            Group id to its description, or to what went wrong: `GroupIdNotFoundError`, also from brokers that call
            such a group dead; `GroupAuthorizationFailedError` ...

        Example:
            ```python
            results = await admin.describe_classic_groups(["billing"])
            for group in results.all().values():
                print(group.group_id, group.protocol_type, group.state, len(group.members), "members")
            ```
        """
        operation = DescribeClassicGroups(authorized=include_authorized_operations)
        return await self._each(operation, groups, timeout, progress)

    @needs(DescribeShareGroups, rights="DESCRIBE GROUP, DESCRIBE TOPIC")
    async def describe_share_groups(
        self,
        groups: Iterable[str],
        *,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[str, ShareGroupDescription]:
        """Share groups (KIP-932).

        Args:
            groups: ids of the groups.
            include_authorized_operations: whether to include the operations that the caller may perform.
            timeout, progress: see `AdminClient`.

        Returns:
            Group id to its description, or to what went wrong: `GroupIdNotFoundError` (also for groups of another
            type), `GroupAuthorizationFailedError`, `UnsupportedVersionError` (the broker has no share groups) ...

        Example:
            ```python
            results = await admin.describe_share_groups(["workers"])
            for group in results.values().values():
                print(group.group_id, group.state, [member.client_id for member in group.members])
            for group_id, error in results.errors().items():
                print(group_id, error)
            ```
        """
        operation = DescribeShareGroups(authorized=include_authorized_operations)
        return await self._each(operation, groups, timeout, progress)
