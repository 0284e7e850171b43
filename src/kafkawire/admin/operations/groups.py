"""Groups: delete them, and remove members (admin-groups)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kafkawire import protocol
from kafkawire.admin.engine.operation import Outcomes, Progress, Request, failure
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.coordinated import AFTER_REBALANCE, InGroup, OfGroups
from kafkawire.admin.operations.group_descriptions import DescribeConsumerGroups
from kafkawire.admin.results import Results
from kafkawire.model.groups.descriptions import MemberToRemove
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.errors import UnknownMemberIdError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import KafkaError

REMOVED_BY_ADMIN = "member was removed by an administrator"
"""The default reason."""

_LONGEST_REASON = 255
"""Brokers keep no more characters of a reason (KIP-800)."""


class DeleteGroups(OfGroups[None, "protocol.DeleteGroupsResponse"]):
    """KIP-229; groups of every kind."""

    name = "delete_consumer_groups"
    api = ApiKey.DELETE_GROUPS
    mutates = True
    retried_codes = AFTER_REBALANCE

    def build(self, request: Request[str]) -> Message:
        return protocol.DeleteGroupsRequest(groups_names=tuple(request.items))

    def read(self, request: Request[str], response: protocol.DeleteGroupsResponse) -> Outcomes[str, None]:
        return {result.group_id: failure(result.error_code, result.error_message) for result in response.results}


class RemoveMembers(InGroup[MemberToRemove, None, "protocol.LeaveGroupResponse"]):
    """KIP-345, KIP-571, KIP-800 (reason)."""

    name = "remove_members_from_consumer_group"
    api = ApiKey.LEAVE_GROUP
    mutates = True
    needs = ("members",)

    def __init__(self, group_id: str, reason: str) -> None:
        super().__init__(group_id)
        self._reason = reason[:_LONGEST_REASON]

    def validate(self, item: MemberToRemove) -> KafkaError | None:
        if item.member_id or item.group_instance_id is not None:
            return None
        return UnknownMemberIdError("a member needs a member_id or a group_instance_id")

    def build(self, request: Request[MemberToRemove]) -> Message:
        member = protocol.LeaveGroupRequest.MemberIdentity
        return protocol.LeaveGroupRequest(
            group_id=self._group_id,
            members=tuple(member(item.member_id, item.group_instance_id, self._reason) for item in request.items),
        )

    def read(
        self, request: Request[MemberToRemove], response: protocol.LeaveGroupResponse
    ) -> Outcomes[MemberToRemove, None]:
        return {
            MemberToRemove(member.member_id, member.group_instance_id): failure(member.error_code)
            for member in response.members
        }


class GroupOperations(OperationFamily):
    """Groups: delete them, and remove members."""

    @needs(DeleteGroups, rights="DELETE GROUP")
    async def delete_consumer_groups(
        self, groups: Iterable[str], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[str, None]:
        """Delete groups of consumers, and other classic groups, with the offsets that they have committed.

        Args:
            groups: ids of the groups.
            timeout, progress: see `AdminClient`.

        Returns:
            Group id to None, or to what went wrong: `NonEmptyGroupError` (it has members), `GroupIdNotFoundError`,
            `GroupAuthorizationFailedError` ...

        Example:
            ```python
            results = await admin.delete_consumer_groups(["billing"])
            for group_id, error in results.errors().items():
                print(group_id, error)
            ```
        """
        return await self._each(DeleteGroups(), groups, timeout, progress)

    @needs(DeleteGroups, rights="DELETE GROUP")
    async def delete_share_groups(
        self, groups: Iterable[str], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[str, None]:
        """Delete share groups (KIP-932); as `delete_consumer_groups`.

        Example:
            ```python
            results = await admin.delete_share_groups(["workers"])
            for group_id, error in results.errors().items():
                print(group_id, error)
            ```
        """
        return await self._each(DeleteGroups().named("delete_share_groups"), groups, timeout, progress)

    @needs(DeleteGroups, rights="DELETE GROUP")
    async def delete_streams_groups(
        self, groups: Iterable[str], *, timeout: float | None = None, progress: Progress | None = None
    ) -> Results[str, None]:
        """Delete streams groups (KIP-1071); as `delete_consumer_groups`.

        Example:
            ```python
            results = await admin.delete_streams_groups(["enrichment"])
            for group_id, error in results.errors().items():
                print(group_id, error)
            ```
        """
        return await self._each(DeleteGroups().named("delete_streams_groups"), groups, timeout, progress)

    @needs(RemoveMembers, rights="READ GROUP")
    async def remove_members_from_consumer_group(
        self,
        group_id: str,
        members: Collection[MemberToRemove] | None = None,
        *,
        reason: str = REMOVED_BY_ADMIN,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[MemberToRemove, None]:
        """Remove members from a group of consumers. Running members join again.

        Args:
            group_id: id of the group.
            members: the members; None for all.
            reason: a reason for the log of the coordinator (from 3.2); its first 255 characters.
            timeout, progress: see `AdminClient`.

        Returns:
            Member to None, or to what went wrong: `UnknownMemberIdError` (it is not in the group) ...

        Raises:
            KafkaError: if ``members`` is None and the group cannot be described: `GroupIdNotFoundError` ...

        Example:
            ```python
            stuck = MemberToRemove(group_instance_id="billing-host-3")
            results = await admin.remove_members_from_consumer_group("billing", [stuck], reason="the host is gone")
            for member, error in results.errors().items():
                print(member, error)
            ```
        """
        deadline = self._deadline(timeout)
        if members is None:
            described = await self._until(deadline, DescribeConsumerGroups().named(RemoveMembers.name), (group_id,))
            members = [
                MemberToRemove(group_instance_id=member.group_instance_id)
                if member.group_instance_id is not None
                else MemberToRemove(member.member_id)
                for member in described[group_id].members
            ]
        return await self._until(deadline, RemoveMembers(group_id, reason), members, progress)
