"""A share group by itself: the states of its partitions, and their assignment."""

from __future__ import annotations

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.groups.share.group import ShareGroup
from kafkawire.broker.groups.share.settings import ShareGroupSettings
from kafkawire.broker.groups.timers import Now
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    PartitionRecord,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicRecord,
)

TOPIC = Uuid(b"t" * 16)
RETRY_MS = 30_000
ASSIGNMENT_MS = 1000


def group_with_topic() -> ShareGroup:
    image = TopicsImage()
    image.apply_topic(TopicRecord("orders", TOPIC))
    image.apply_partition(PartitionRecord(0, TOPIC, (1,), (1,), leader=1))
    settings = ShareGroupSettings(BrokerConfiguration({}), lambda _: {})
    assert settings.retry_ms == RETRY_MS
    assert settings.assignment_ms("g") == ASSIGNMENT_MS
    topics = KnownTopics(image, lambda: 1, lambda _: None)
    return ShareGroup("g", (), settings, topics, Now(1000.0, 1_000_000))


def beat(group: ShareGroup, epoch: int, ms: int) -> ShareGroupHeartbeatResponse:
    """Send a heartbeat of a member some time after the group has begun."""
    names = ("orders",) if epoch == 0 else None
    request = ShareGroupHeartbeatRequest("g", "m", epoch, subscribed_topic_names=names)
    return group.heartbeat(request, ("c", "/h"), Now(1000.0 + ms / 1000, 1_000_000 + ms))


def test_partitions_with_new_states_begin_one_epoch_however_long_their_assignment_takes() -> None:
    group = group_with_topic()
    first = beat(group, 0, 0).member_epoch
    group.begin(group.partitions.initializing)
    for ms in range(1, ASSIGNMENT_MS, 100):
        assert (beat(group, first, ms).member_epoch, group.state.epoch) == (first, first + 1)
    answer = beat(group, first, ASSIGNMENT_MS)
    assert answer.assignment is not None
    assert answer.assignment.topic_partitions == (ShareGroupHeartbeatResponse.TopicPartitions(TOPIC, (0,)),)
    assert answer.member_epoch == beat(group, first + 1, ASSIGNMENT_MS + 1).member_epoch == first + 1


def test_states_that_do_not_begin_are_wanted_again_after_a_while() -> None:
    group = group_with_topic()

    def wanted(epoch: int, ms: int) -> list[Uuid]:
        """The topics whose states a heartbeat wants."""
        group.wanted = {}
        beat(group, epoch, ms)
        return [*group.wanted]

    assert wanted(0, 0) == [TOPIC]
    epoch = group.state.members["m"].epoch
    assert wanted(epoch, 1) == wanted(epoch, RETRY_MS - 1) == []
    assert wanted(epoch, RETRY_MS) == [TOPIC]
    assert wanted(epoch, RETRY_MS + 1) == []
    group.begin(group.partitions.initializing)
    assert wanted(epoch, 3 * RETRY_MS) == []
