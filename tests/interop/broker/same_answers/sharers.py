"""Members of share groups (KIP-932), for scenarios."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace
from tests.interop.broker.same_answers.talk import Talk

from kafkawire.protocol import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsResponse,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)

_Described = DescribeShareGroupOffsetsRequest


@dataclass(slots=True)
class Sharer:
    """A member of a share group, or one that wants to be.

    Attributes:
        talk: sends its requests.
        group: id of the group.
        member_id: that it has made.
        topics: to which it subscribes.
        epoch: as the last answer had it.
    """

    talk: Talk
    group: str
    member_id: str
    topics: tuple[str, ...] = ("sg-topic",)
    epoch: int = 0

    def join(self) -> ShareGroupHeartbeatResponse:
        """Join, or join again."""
        self.epoch = 0
        return self.send(replace(self.short(), subscribed_topic_names=self.topics))

    def short(self) -> ShareGroupHeartbeatRequest:
        """A heartbeat when nothing has changed."""
        return ShareGroupHeartbeatRequest(self.group, self.member_id, self.epoch)

    def beat(self) -> ShareGroupHeartbeatResponse:
        """Send a heartbeat."""
        return self.send(self.short())

    def subscribe(self, *topics: str) -> ShareGroupHeartbeatResponse:
        """Subscribe to other topics."""
        self.topics = topics
        return self.send(replace(self.short(), subscribed_topic_names=topics))

    def leave(self) -> ShareGroupHeartbeatResponse:
        """Leave the group."""
        return self.talk.ask(replace(self.short(), member_epoch=-1), 1, ShareGroupHeartbeatResponse)

    def send(self, request: ShareGroupHeartbeatRequest) -> ShareGroupHeartbeatResponse:
        """Send a request, and take the epoch of the answer."""
        answer = self.talk.ask(request, 1, ShareGroupHeartbeatResponse)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        return answer


def described_share(talk: Talk, *groups: str) -> None:
    """Groups, as administrators see them."""
    talk.ask(ShareGroupDescribeRequest(groups), 1, ShareGroupDescribeResponse)


def offsets_of(talk: Talk, group: str, *topics: tuple[str, tuple[int, ...]], version: int = 1) -> None:
    """Where a group reads from, in all of its partitions if no topic is named."""
    asked = tuple(_Described.DescribeShareGroupOffsetsRequestTopic(*topic) for topic in topics)
    wanted = _Described.DescribeShareGroupOffsetsRequestGroup(group, asked or None)
    talk.ask(_Described((wanted,)), version, DescribeShareGroupOffsetsResponse)


def until_initialized(talk: Talk, group: str, count: int) -> None:
    """Wait until a group has states of a number of partitions."""
    wanted = _Described((_Described.DescribeShareGroupOffsetsRequestGroup(group, None),))
    talk.ask_until(
        wanted,
        1,
        DescribeShareGroupOffsetsResponse,
        lambda answer: sum(len(topic.partitions) for topic in answer.groups[0].topics) == count,
    )


def alter(talk: Talk, group: str, *topics: tuple[str, dict[int, int]]) -> AlterShareGroupOffsetsResponse:
    """Let a group read from other offsets on: topic to partition to offset."""
    one = AlterShareGroupOffsetsRequest
    asked = tuple(
        one.AlterShareGroupOffsetsRequestTopic(
            name, tuple(one.AlterShareGroupOffsetsRequestPartition(*each) for each in offsets.items())
        )
        for name, offsets in topics
    )
    return talk.ask(one(group, asked), 0, AlterShareGroupOffsetsResponse)


def delete(talk: Talk, group: str, *topics: str) -> DeleteShareGroupOffsetsResponse:
    """Let a group forget where it reads from."""
    one = DeleteShareGroupOffsetsRequest
    asked = tuple(one.DeleteShareGroupOffsetsRequestTopic(name) for name in topics)
    return talk.ask(one(group, asked), 0, DeleteShareGroupOffsetsResponse)
