"""A consumer group without a broker: time is a number, topics are a table, and the records are kept."""

from __future__ import annotations

from msgspec.structs import replace
from tests.embedded.configurations import configuration_of
from tests.embedded.driven_topics import DrivenTopics
from tests.embedded.received import received

from kafkawire.broker.groups.consumer.group import ConsumerGroup
from kafkawire.broker.groups.consumer.group_state import ConsumerGroupState, ConsumerKey
from kafkawire.broker.groups.consumer.joining import Beat
from kafkawire.broker.groups.consumer.live_groups import check_regex
from kafkawire.broker.groups.consumer.member import LEFT, LEFT_FOR_A_WHILE
from kafkawire.broker.groups.consumer.settings import ConsumerGroupSettings
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.timers import Now
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

Owned = ConsumerGroupHeartbeatRequest.TopicPartitions


class DrivenConsumerGroup(DrivenTopics):
    """A group, its records, and the topics of its cluster.

    Attributes:
        seconds: the time.
        group: the group.
        records: what it has written, by key.
    """

    def __init__(self, **properties: str) -> None:
        super().__init__()
        self.seconds = 1000.0
        self.records: dict[ConsumerKey, Message] = {}
        self.settings = ConsumerGroupSettings(configuration_of(**properties), lambda _: {})
        self.group = self.made()

    @property
    def now(self) -> Now:
        return Now(self.seconds, int(self.seconds * 1000))

    @property
    def state(self) -> ConsumerGroupState:
        return self.group.state

    def made(self) -> ConsumerGroup:
        """The group as a broker makes it that starts now."""
        return ConsumerGroup("g", self.records.items(), self.settings, self.topics, self.now)

    def restart(self) -> None:
        self.group = self.made()

    def send(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat; an error is an answer here."""
        beat = Beat(received(request, 1), "client", "/127.0.0.1", check_regex)
        try:
            if request.member_epoch in {LEFT, LEFT_FOR_A_WHILE}:
                answer = self.group.leave(beat, self.now)
            else:
                answer = self.group.heartbeat(beat, self.now)
        except GroupError as refused:
            assert not self.group.changes(), "a request that is refused writes nothing"
            return ConsumerGroupHeartbeatResponse(error_code=refused.code, error_message=refused.message)
        self.write()
        return answer

    def wait(self, seconds: float) -> None:
        self.seconds += seconds
        self.group.expire(self.now)
        self.write()

    def resolve(self, matches: dict[str, list[str]]) -> None:
        self.group.wanted_regexes = ()
        self.group.resolve(matches, self._end_offset, self.now)
        self.write()

    def write(self) -> None:
        """Keep the records, as the log does."""
        for key, value in self.group.changes():
            if value is None:
                self.records.pop(key, None)
            else:
                self.records[key] = value


class DrivenConsumer:
    """A member as its client sees it.

    Attributes:
        member_id, instance_id: its ids.
        topics, regex: to what it subscribes.
        epoch: as the last answer had it.
        owned: what it reads.
        error: of the last answer.
    """

    def __init__(
        self,
        group: DrivenConsumerGroup,
        member_id: str,
        *topics: str,
        instance_id: str | None = None,
        regex: str | None = None,
        assignor: str | None = None,
        rebalance_ms: int = 30_000,
    ) -> None:
        self._group = group
        self.member_id, self.instance_id = member_id, instance_id
        self.topics, self.regex, self.assignor, self.rebalance_ms = topics, regex, assignor, rebalance_ms
        self.epoch = 0
        self.owned: set[tuple[Uuid, int]] = set()
        self.error = ErrorCode.NONE

    def join(self) -> ConsumerGroupHeartbeatResponse:
        self.epoch, self.owned = 0, set()
        return self.take(self._group.send(self.full()))

    def beat(self) -> ConsumerGroupHeartbeatResponse:
        """Send a heartbeat with what it owns; join again if it is not a member any more."""
        if self.epoch <= 0:
            return self.join()
        return self.take(self._group.send(replace(self.short(), topic_partitions=self.reported())))

    def leave(self, epoch: int = LEFT) -> ConsumerGroupHeartbeatResponse:
        answer = self._group.send(replace(self.short(), member_epoch=epoch))
        self.epoch, self.owned = 0, set()
        return answer

    def full(self) -> ConsumerGroupHeartbeatRequest:
        return replace(
            self.short(),
            rebalance_timeout_ms=self.rebalance_ms,
            subscribed_topic_names=self.topics,
            subscribed_topic_regex=self.regex,
            server_assignor=self.assignor,
            topic_partitions=self.reported(),
        )

    def short(self) -> ConsumerGroupHeartbeatRequest:
        return ConsumerGroupHeartbeatRequest("g", self.member_id, self.epoch, self.instance_id)

    def reported(self) -> tuple[Owned, ...]:
        topics = {topic for topic, _ in self.owned}
        return tuple(Owned(topic, tuple(sorted(p for each, p in self.owned if each == topic))) for topic in topics)

    def take(self, answer: ConsumerGroupHeartbeatResponse) -> ConsumerGroupHeartbeatResponse:
        """Do as the answer says: give up what is not assigned, and read what is."""
        self.error = ErrorCode(answer.error_code)
        if answer.error_code:
            if answer.error_code in {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID}:
                self.epoch, self.owned = 0, set()
            return answer
        self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.owned = {
                (each.topic_id, partition)
                for each in answer.assignment.topic_partitions
                for partition in each.partitions
            }
        return answer
