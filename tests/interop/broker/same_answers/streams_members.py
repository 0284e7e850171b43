"""Members of streams groups (KIP-1071), for scenarios."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace
from tests.interop.broker.same_answers.talk import Talk
from tests.interop.broker.same_answers.test_consumer_groups import create as begin_creation, prompt

from kafkawire.protocol import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

TaskIds = StreamsGroupHeartbeatRequest.TaskIds
Topology = StreamsGroupHeartbeatRequest.Topology
Subtopology = StreamsGroupHeartbeatRequest.Subtopology
TopicInfo = StreamsGroupHeartbeatRequest.TopicInfo
KeyValue = StreamsGroupHeartbeatRequest.KeyValue
Endpoint = StreamsGroupHeartbeatRequest.Endpoint

A_MOMENT: Final = 0.5
"""After which Kafka's coordinator has seen a change of topics or configurations."""


def create(talk: Talk, name: str, partitions: int) -> None:
    """Create a topic, and wait until the coordinator has seen it."""
    begin_creation(talk, name, partitions)
    time.sleep(A_MOMENT)


def ready(talk: Talk, group: str, **configs: str) -> None:
    """Let a group assign tasks whenever it has an epoch."""
    prompt(talk, group, "streams", **{"streams_initial_rebalance_delay_ms": "0", **configs})


def reads(*topics: str, epoch: int = 0) -> Topology:
    """A topology without state that reads topics."""
    return Topology(epoch, (Subtopology("0", topics),))


def counts(topic: str, changelog: str, epoch: int = 0, configs: Mapping[str, str] | None = None) -> Topology:
    """A topology with state that reads a topic."""
    infos = tuple(KeyValue(*each) for each in (configs or {}).items())
    return Topology(epoch, (Subtopology("0", (topic,), state_changelog_topics=(TopicInfo(changelog, 0, 0, infos),)),))


@dataclass(slots=True)
class Streamer:
    """A member of a streams group, or one that wants to be.

    Attributes:
        talk: sends its requests.
        group: id of the group.
        member_id: that it has made.
        topology: that it has.
        process: id of its process.
        endpoint: of its instance.
        epoch, endpoint_epoch: as the last answer had them.
        active, standby: subtopology id to partitions, as the last assignment had them.
    """

    talk: Talk
    group: str
    member_id: str
    topology: Topology
    process: str = ""
    endpoint: Endpoint | None = None
    epoch: int = 0
    endpoint_epoch: int = -1
    active: dict[str, Sequence[int]] = field(default_factory=dict)
    standby: dict[str, Sequence[int]] = field(default_factory=dict)

    def joining(self) -> StreamsGroupHeartbeatRequest:
        """The request with which it joins."""
        return StreamsGroupHeartbeatRequest(
            self.group,
            self.member_id,
            0,
            self.endpoint_epoch,
            rebalance_timeout_ms=60_000,
            topology=self.topology,
            active_tasks=(),
            standby_tasks=(),
            warmup_tasks=(),
            process_id=self.process or f"process of {self.member_id}",
            user_endpoint=self.endpoint,
        )

    def join(self) -> StreamsGroupHeartbeatResponse:
        """Join, or join again."""
        self.epoch, self.active, self.standby = 0, {}, {}
        return self.send(self.joining())

    def short(self) -> StreamsGroupHeartbeatRequest:
        """A heartbeat when nothing has changed."""
        return StreamsGroupHeartbeatRequest(self.group, self.member_id, self.epoch, self.endpoint_epoch)

    def reporting(self) -> StreamsGroupHeartbeatRequest:
        """A heartbeat with the tasks that it has."""
        active, standby = (
            tuple(TaskIds(name, each) for name, each in tasks.items()) for tasks in (self.active, self.standby)
        )
        return replace(self.short(), active_tasks=active, standby_tasks=standby, warmup_tasks=())

    def beat(self, *, reports: bool = False) -> StreamsGroupHeartbeatResponse:
        """Send a heartbeat."""
        return self.send(self.reporting() if reports else self.short())

    def leave(self) -> StreamsGroupHeartbeatResponse:
        """Leave the group."""
        return self.talk.ask(replace(self.short(), member_epoch=-1), 0, StreamsGroupHeartbeatResponse)

    def send(self, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
        """Send a request, and take what the answer assigns."""
        answer = self.talk.ask(request, 0, StreamsGroupHeartbeatResponse)
        self.take(answer)
        return answer

    def take(self, answer: StreamsGroupHeartbeatResponse) -> None:
        """Take what an answer assigns."""
        if answer.error_code:
            return
        self.epoch, self.endpoint_epoch = answer.member_epoch, answer.endpoint_information_epoch
        if answer.active_tasks is not None:
            self.active = {each.subtopology_id: each.partitions for each in answer.active_tasks}
            self.standby = {each.subtopology_id: each.partitions for each in answer.standby_tasks or ()}


def described_streams(talk: Talk, *groups: str) -> None:
    """Groups, as administrators see them."""
    talk.ask(StreamsGroupDescribeRequest(groups), 0, StreamsGroupDescribeResponse)
