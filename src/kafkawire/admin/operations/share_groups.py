"""Share groups, described (admin-groups)."""

from __future__ import annotations

from collections.abc import Iterable

from kafkawire import protocol
from kafkawire.admin.engine.operation import Outcomes, Request, failure
from kafkawire.admin.engine.progress import Progress
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.operations.coordinated import assigned
from kafkawire.admin.operations.group_descriptions import DescribeGroups
from kafkawire.admin.results import Results
from kafkawire.model.groups.descriptions import GroupState, ShareGroupDescription, ShareGroupMember
from kafkawire.protocol.api_table import ApiKey
from kafkawire.wire import Message


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
                members=tuple(map(_member, group.members)),
                group_epoch=group.group_epoch,
                assignment_epoch=group.assignment_epoch,
                authorized_operations=self._may(group.authorized_operations),
            )
            for group in response.groups
        }


def _member(member: protocol.ShareGroupDescribeResponse.Member) -> ShareGroupMember:
    return ShareGroupMember(
        member_id=member.member_id,
        client_id=member.client_id,
        client_host=member.client_host,
        assignment=assigned(member.assignment.topic_partitions),
        member_epoch=member.member_epoch,
        subscribed_topics=tuple(member.subscribed_topic_names),
        rack_id=member.rack_id,
    )


class ShareGroupOperations(OperationFamily):
    """Share groups, described."""

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
            include_authorized_operations: whether to ask what the caller may do with each.
            timeout: seconds for the whole call; ``call_timeout`` of the settings by default.
            progress: told after each outcome how many of how many groups have one.

        Returns:
            Group id to its description, or to what went wrong: `GroupIdNotFoundError` (also for groups of another
            type), `GroupAuthorizationFailedError`, `UnsupportedVersionError` (the broker has no share groups) ...
        """
        operation = DescribeShareGroups(authorized=include_authorized_operations)
        return await self._each(operation, groups, timeout, progress)
