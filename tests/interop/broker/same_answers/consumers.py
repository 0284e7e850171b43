"""Members of consumer groups (KIP-848), for scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
)

Owned = ConsumerGroupHeartbeatRequest.TopicPartitions


@dataclass(slots=True)
class Consumer:
    """A member of a consumer group, or one that wants to be.

    Attributes:
        talk: sends its requests.
        group: id of the group.
        member_id: that it has made.
        instance_id: of a static member.
        topics: to which it subscribes; None for none by name.
        regex: to whose matches it subscribes.
        epoch: as the last answer had it.
        owned: topic id to partitions, as the last assignment had them.
    """

    talk: Talk
    group: str
    member_id: str
    instance_id: str | None = None
    topics: tuple[str, ...] | None = ("cg-topic",)
    regex: str | None = None
    assignor: str | None = None
    epoch: int = 0
    owned: dict[Uuid, tuple[int, ...]] = field(default_factory=dict)

    def join(self, version: int = 1) -> ConsumerGroupHeartbeatResponse:
        """Join, or join again."""
        self.epoch, self.owned = 0, {}
        return self.send(self.full(), version)

    def full(self) -> ConsumerGroupHeartbeatRequest:
        """A request with all fields."""
        return replace(
            self.short(),
            rebalance_timeout_ms=30_000,
            subscribed_topic_names=self.topics,
            subscribed_topic_regex=self.regex,
            server_assignor=self.assignor,
            topic_partitions=self.reported(),
        )

    def short(self) -> ConsumerGroupHeartbeatRequest:
        """A heartbeat when nothing has changed."""
        return ConsumerGroupHeartbeatRequest(self.group, self.member_id, self.epoch, self.instance_id)

    def reported(self) -> Sequence[Owned]:
        """What it owns."""
        return tuple(Owned(topic, partitions) for topic, partitions in self.owned.items())

    def beat(self, *, reports: bool = False) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat, with the owned partitions after these have changed."""
        return self.send(replace(self.short(), topic_partitions=self.reported() if reports else None))

    def send(self, request: ConsumerGroupHeartbeatRequest, version: int = 1) -> ConsumerGroupHeartbeatResponse:
        """Send a request, and take what the answer assigns."""
        answer = self.talk.ask(request, version, ConsumerGroupHeartbeatResponse)
        if not answer.error_code:
            self.epoch = answer.member_epoch
            self.member_id = answer.member_id or self.member_id
            if answer.assignment is not None:
                self.owned = {each.topic_id: (*each.partitions,) for each in answer.assignment.topic_partitions}
        return answer

    def leave(self, epoch: int = -1) -> ConsumerGroupHeartbeatResponse:
        """Leave the group."""
        request = replace(self.short(), member_epoch=epoch)
        return self.talk.ask(request, 1, ConsumerGroupHeartbeatResponse)

    def commit(self, offset: int, *, version: int = 9, epoch: int | None = None) -> OffsetCommitResponse:
        """Commit an offset of the first partition."""
        partition = OffsetCommitRequest.OffsetCommitRequestPartition(0, offset, committed_metadata="")
        topic = OffsetCommitRequest.OffsetCommitRequestTopic("cg-topic", partitions=(partition,))
        if version >= 10:
            topic = replace(topic, name="", topic_id=next(iter(self.owned)))
        own = self.epoch if epoch is None else epoch
        request = OffsetCommitRequest(self.group, own, self.member_id, topics=(topic,))
        return self.talk.ask(request, version, OffsetCommitResponse)

    def fetch(self, *, member_id: str | None, epoch: int) -> OffsetFetchResponse:
        """Ask for the offset of the first partition."""
        topic = OffsetFetchRequest.OffsetFetchRequestTopics("cg-topic", partition_indexes=(0,))
        group = OffsetFetchRequest.OffsetFetchRequestGroup(self.group, member_id, epoch, (topic,))
        return self.talk.ask(OffsetFetchRequest(groups=(group,)), 9, OffsetFetchResponse)


def coordinated(talk: Talk, group: str) -> None:
    """Wait until the coordinator of a group is there."""
    talk.ask_until(
        FindCoordinatorRequest(coordinator_keys=(group,)),
        4,
        FindCoordinatorResponse,
        lambda answer: not answer.coordinators[0].error_code,
    )
    asked = OffsetFetchRequest(groups=(OffsetFetchRequest.OffsetFetchRequestGroup(group),))
    talk.ask_until(asked, 8, OffsetFetchResponse, lambda answer: not answer.groups[0].error_code)


def described(talk: Talk, group: str) -> ConsumerGroupDescribeResponse.DescribedGroup:
    """The group, as administrators see it."""
    request = ConsumerGroupDescribeRequest((group,), include_authorized_operations=False)
    return talk.ask(request, 1, ConsumerGroupDescribeResponse).groups[0]
