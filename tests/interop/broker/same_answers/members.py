"""Members of a classic group, for scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.interop.broker.same_answers.talk import Client, Talk

from kafkawire.protocol import (
    ConsumerProtocolSubscription,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.records.consumer_protocol import encode_subscription

SUBSCRIPTION: Final = encode_subscription(ConsumerProtocolSubscription(("gm-topic",)), 1)
MEMBER_ID_REQUIRED: Final = 79


@dataclass(slots=True)
class Member:
    """A client that is a member of a group, or wants to be.

    Attributes:
        client: its connection.
        group: id of the group.
        version: of JoinGroup; the other requests have the highest versions up to it.
        instance_id: of a static member.
        protocols: the names of its protocols.
        protocol_type: of the group.
        member_id, generation, leads: as the last answer to JoinGroup had them.
        metadata: of each protocol.
        share: what the leader assigns to it; empty for a number.
    """

    client: Client
    group: str
    version: int = 9
    instance_id: str | None = None
    protocols: tuple[str, ...] = ("range",)
    protocol_type: str = "consumer"
    member_id: str = ""
    generation: int = -1
    leads: bool = False
    protocol: str | None = None
    metadata: bytes = SUBSCRIPTION
    share: bytes = b""

    def send_join(self, session_ms: int = 30_000, rebalance_ms: int = 30_000) -> None:
        """Send JoinGroup, with the id that the last answer gave."""
        supported = tuple(JoinGroupRequest.JoinGroupRequestProtocol(name, self.metadata) for name in self.protocols)
        timeout = rebalance_ms if self.version >= 1 else -1
        who = (self.member_id, self.instance_id, self.protocol_type, supported)
        self.client.send(JoinGroupRequest(self.group, session_ms, timeout, *who), self.version)

    def joined(self) -> JoinGroupResponse:
        """The answer to JoinGroup."""
        answer = self.client.answer(JoinGroupResponse)
        self.member_id = answer.member_id or self.member_id
        if not answer.error_code:
            self.generation, self.protocol = answer.generation_id, answer.protocol_name
            self.leads = answer.leader == answer.member_id
        return answer

    def join(self) -> JoinGroupResponse:
        """Join, again with the id that the broker gives (KIP-394)."""
        self.send_join()
        answer = self.joined()
        if answer.error_code == MEMBER_ID_REQUIRED:
            self.send_join()
            answer = self.joined()
        return answer

    def begin_join(self) -> None:
        """Send JoinGroup and leave it waiting, after the round trip for an id."""
        self.send_join()
        if self.version >= 4 and not self.member_id and self.instance_id is None:
            self.joined()
            self.send_join()

    def send_sync(self, *assigned: Member, protocol_type: str | None = None, protocol: str | None = None) -> None:
        """Send SyncGroup; the leader names the members that it assigns something to."""
        version = min(self.version, 5)
        assignments = tuple(
            SyncGroupRequest.SyncGroupRequestAssignment(each.member_id, each.share or f"for {number}".encode())
            for number, each in enumerate(assigned)
        )
        request = SyncGroupRequest(
            self.group,
            self.generation,
            self.member_id,
            self.instance_id if version >= 3 else None,
            (protocol_type or self.protocol_type) if version >= 5 else None,
            (protocol or self.protocol) if version >= 5 else None,
            assignments,
        )
        self.client.send(request, version)

    def synced(self) -> SyncGroupResponse:
        """The answer to SyncGroup."""
        return self.client.answer(SyncGroupResponse)

    def sync(self, *assigned: Member) -> SyncGroupResponse:
        """Send SyncGroup, and wait for the assignment."""
        self.send_sync(*assigned)
        return self.synced()

    def beat(self, generation: int | None = None) -> HeartbeatResponse:
        """Send a heartbeat."""
        version = min(self.version, 4)
        own = self.generation if generation is None else generation
        instance_id = self.instance_id if version >= 3 else None
        request = HeartbeatRequest(self.group, own, self.member_id, instance_id)
        return self.client.ask(request, version, HeartbeatResponse)

    def leave(self) -> LeaveGroupResponse:
        """Leave the group."""
        version = min(self.version, 5)
        if version < 3:
            request = LeaveGroupRequest(self.group, self.member_id)
        else:
            identity = LeaveGroupRequest.MemberIdentity(self.member_id, self.instance_id, "because")
            if version < 5:
                identity = LeaveGroupRequest.MemberIdentity(self.member_id, self.instance_id)
            request = LeaveGroupRequest(self.group, members=(identity,))
        return self.client.ask(request, version, LeaveGroupResponse)

    def commit(self, offset: int, *, version: int = 9, generation: int | None = None) -> OffsetCommitResponse:
        """Commit an offset as a member."""
        partition = OffsetCommitRequest.OffsetCommitRequestPartition(0, offset, committed_metadata="")
        topic = OffsetCommitRequest.OffsetCommitRequestTopic("gm-topic", partitions=(partition,))
        own = self.generation if generation is None else generation
        instance_id = self.instance_id if version >= 7 else None
        request = OffsetCommitRequest(self.group, own, self.member_id, instance_id, topics=(topic,))
        return self.client.ask(request, version, OffsetCommitResponse)


def settled(talk: Talk, group: str, state: str, members: int) -> None:
    """Wait until a group has a state and members, so that the next request finds it so."""

    def is_so(answer: DescribeGroupsResponse) -> bool:
        found = answer.groups[0]
        return (found.group_state, len(found.members)) == (state, members)

    talk.ask_until(DescribeGroupsRequest((group,)), 5, DescribeGroupsResponse, is_so)


def listed(talk: Talk, group: str, request: ListGroupsRequest | None = None) -> None:
    """The group in a list of groups; those of other tests, whose members may have gone meanwhile, are left out."""
    asked = ListGroupsRequest() if request is None else request
    answer = talk.learn(asked, 5, ListGroupsResponse)
    only = tuple(each for each in answer.groups if each.group_id == group)
    talk.keep(asked, 5, ListGroupsResponse(error_code=answer.error_code, groups=only))
