"""A share group by itself: the states of its partitions, and their assignment."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from tests.embedded.received import received

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.share.group import ShareGroup
from kafkawire.broker.groups.share.group_state import ShareChange
from kafkawire.broker.groups.share.settings import ShareGroupSettings
from kafkawire.broker.groups.share.shared_partitions import SharedPartitions, SharedTopic
from kafkawire.broker.groups.timers import Now
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    PartitionRecord,
    ShareGroupCurrentMemberAssignmentKey,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    ShareGroupMemberMetadataKey,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataKey,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataKey,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberKey,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataKey,
    ShareGroupTargetAssignmentMetadataValue,
    TopicRecord,
)
from kafkawire.protocol.error_codes import ErrorCode

TOPIC = Uuid(b"t" * 16)
RETRY_MS = 30_000
ASSIGNMENT_MS = 1000
SESSION_MS = 45_001
HASH = -6764322839373000783
"""Of the topics."""


def group_with_topic(records: Iterable[ShareChange] = ()) -> ShareGroup:
    image = TopicsImage()
    image.apply_topic(TopicRecord("orders", TOPIC))
    image.apply_partition(PartitionRecord(0, TOPIC, (1,), (1,), leader=1))
    properties = {"group.share.session.timeout.ms": str(SESSION_MS)}
    settings = ShareGroupSettings(BrokerConfiguration(properties), lambda _: {})
    assert settings.retry_ms == RETRY_MS
    assert settings.assignment_ms("g") == ASSIGNMENT_MS
    topics = KnownTopics(image, lambda: 1, lambda _: None)
    assert topics.hash_of(["orders"]) == HASH
    return ShareGroup("g", records, settings, topics, Now(1000.0, 1_000_000))


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


def test_a_member_whose_last_answer_was_lost_lives_with_the_epoch_before_and_with_no_earlier_one() -> None:
    group = group_with_topic()
    first = beat(group, 0, 0).member_epoch
    group.begin(group.partitions.initializing)
    beat(group, first, 1)
    second = beat(group, first, ASSIGNMENT_MS).member_epoch
    assert second == first + 1
    assert beat(group, first, ASSIGNMENT_MS + 1).member_epoch == second
    request = ShareGroupHeartbeatRequest("g", "m", second, subscribed_topic_names=("orders", "payments"))
    at = Now(1000.0, 1_000_000 + 2 * ASSIGNMENT_MS)
    third = group.heartbeat(request, ("c", "/h"), at).member_epoch
    assert third == second + 1
    for epoch, than in ((first, f"smaller member epoch.*{second}"), (third + 1, "greater member epoch")):
        with pytest.raises(GroupError, match=than) as refused:
            beat(group, epoch, 2 * ASSIGNMENT_MS + 1)
        assert refused.value.code is ErrorCode.FENCED_MEMBER_EPOCH
    assert beat(group, second, 2 * ASSIGNMENT_MS + 2).member_epoch == third


@pytest.mark.parametrize("epoch", [2, 1000])
def test_a_member_keeps_what_it_has_until_there_is_another_assignment(epoch: int) -> None:
    """Even of a topic that is gone."""
    topics, current = ShareGroupTargetAssignmentMemberValue, ShareGroupCurrentMemberAssignmentValue
    records: tuple[ShareChange, ...] = (
        (ShareGroupMemberMetadataKey("g", "m"), ShareGroupMemberMetadataValue(None, "c", "/h", ("orders",))),
        (ShareGroupMetadataKey("g"), received(ShareGroupMetadataValue(epoch), 0)),
        (ShareGroupTargetAssignmentMemberKey("g", "m"), topics((topics.TopicPartition(TOPIC, (0,)),))),
        (ShareGroupTargetAssignmentMetadataKey("g"), received(ShareGroupTargetAssignmentMetadataValue(epoch), 0)),
        (
            ShareGroupCurrentMemberAssignmentKey("g", "m"),
            received(current(epoch, epoch - 1, assigned_partitions=(current.TopicPartitions(TOPIC, (0,)),)), 0),
        ),
    )
    no_topics = KnownTopics(TopicsImage(), lambda: 1, lambda _: None)
    settings = ShareGroupSettings(BrokerConfiguration({}), lambda _: {})
    group = ShareGroup("g", records, settings, no_topics, Now(1000.0, 1_000_000))
    assert beat(group, epoch, 1).assignment is None
    assert group.state.members["m"].assigned == {TOPIC: (0,)}
    assert not group.changes()


@pytest.mark.parametrize("epoch", [2, 1000])
def test_partitions_with_states_begin_an_epoch_unless_one_waits_for_its_assignment(epoch: int) -> None:
    shared = ShareGroupStatePartitionMetadataValue
    states = shared(initialized_topics=(shared.TopicPartitionsInfo(TOPIC, "orders", (0,)),))

    def group_at(assigned: int) -> ShareGroup:
        """A group with partitions that no member has, and a target assignment of an epoch."""
        records: tuple[ShareChange, ...] = (
            (ShareGroupMemberMetadataKey("g", "m"), ShareGroupMemberMetadataValue(None, "c", "/h", ("orders",))),
            (ShareGroupMetadataKey("g"), received(ShareGroupMetadataValue(epoch, HASH), 0)),
            (ShareGroupStatePartitionMetadataKey("g"), received(states, 0)),
            (
                ShareGroupTargetAssignmentMetadataKey("g"),
                received(ShareGroupTargetAssignmentMetadataValue(assigned), 0),
            ),
            (
                ShareGroupCurrentMemberAssignmentKey("g", "m"),
                received(ShareGroupCurrentMemberAssignmentValue(epoch, epoch - 1), 0),
            ),
        )
        made = group_with_topic(records)
        beat(made, epoch, 1)
        return made

    assert group_at(epoch).state.epoch == epoch + 1
    assert group_at(epoch - 1).state.epoch == epoch
    for assigned in (epoch - 1, epoch):
        group = group_at(assigned)
        assert group.state.target("m") == {TOPIC: (0,)}
        assert group.state.assignment_epoch == group.state.epoch
        beat(group, group.state.epoch, 2)
        assert group.state.assignment_epoch == group.state.epoch == assigned + 1


@pytest.mark.parametrize("begins", ["joins", "beats", "is read"])
def test_a_session_ends_to_the_millisecond(begins: str) -> None:
    group = group_with_topic()
    epoch = beat(group, 0, 0).member_epoch
    if begins == "is read":
        group = group_with_topic([*group.changes()])
    else:
        beat(group, 0 if begins == "joins" else epoch, 7)
    end = (0 if begins == "is read" else 7) + SESSION_MS
    for ms, is_there in ((end - 1, True), (end, False)):
        group.expire(Now(1000.0 + ms / 1000, 1_000_000 + ms))
        assert ("m" in group.state.members) is is_there


@pytest.mark.parametrize(("metadata_hash", "more"), [(HASH, 0), (HASH + 1, 1), (0, 1)])
def test_topics_that_have_changed_while_a_group_was_away_begin_an_epoch(metadata_hash: int, more: int) -> None:
    """A broker that starts has seen no change of topics."""
    records: tuple[ShareChange, ...] = (
        (ShareGroupMemberMetadataKey("g", "m"), ShareGroupMemberMetadataValue(None, "c", "/h", ("orders",))),
        (ShareGroupMetadataKey("g"), received(ShareGroupMetadataValue(7, metadata_hash), 0)),
        (ShareGroupTargetAssignmentMetadataKey("g"), received(ShareGroupTargetAssignmentMetadataValue(7), 0)),
        (ShareGroupCurrentMemberAssignmentKey("g", "m"), received(ShareGroupCurrentMemberAssignmentValue(7, 6), 0)),
    )
    group = group_with_topic(records)
    beat(group, 7, 1)
    assert (group.state.epoch, group.state.metadata_hash) == (7 + more, HASH)
    beat(group, 7 + more, 2)
    assert group.state.epoch == 7 + more


def test_the_first_member_begins_the_second_epoch() -> None:
    """As in Apache Kafka, a group that begins has the epoch 1."""
    group = group_with_topic()
    assert (group.state.epoch, group.state.assignment_epoch) == (1, 1)
    assert beat(group, 0, 0).member_epoch == group.state.epoch == 2


def test_a_group_subscribes_to_what_its_members_subscribe_to_now() -> None:
    group = group_with_topic()
    state = group.state

    def subscribe(member_id: str, *names: str) -> None:
        request = ShareGroupHeartbeatRequest("g", member_id, 0, subscribed_topic_names=names)
        group.heartbeat(request, ("c", "/h"), Now(1000.0, 1_000_000))

    for member_id, names, subscribed, is_homogeneous in (
        ("m", ["orders", "payments"], {"orders", "payments"}, True),
        ("m", ["orders", "payments"], {"orders", "payments"}, True),
        ("n", ["orders"], {"orders", "payments"}, False),
        ("m", ["orders"], {"orders"}, True),
        ("n", ["refunds"], {"orders", "refunds"}, False),
    ):
        subscribe(member_id, *names)
        assert ({*state.subscribed}, state.is_homogeneous) == (subscribed, is_homogeneous)
    group.leave(ShareGroupHeartbeatRequest("g", "m", -1))
    assert ({*state.subscribed}, state.is_homogeneous) == ({"refunds"}, True)
    group.leave(ShareGroupHeartbeatRequest("g", "n", -1))
    assert not state.subscribed


def test_states_of_a_topic_that_was_forgotten_meanwhile_do_not_begin() -> None:
    group = group_with_topic()
    beat(group, 0, 0)
    wanted = group.partitions.initializing
    assert {*wanted} == {TOPIC}
    group.forget_topics({TOPIC})
    group.changes()
    group.begin(wanted)
    assert group.changes() == []
    assert group.partitions == SharedPartitions()


def test_states_of_no_partitions_do_not_begin() -> None:
    group = group_with_topic()
    beat(group, 0, 0)
    group.changes()
    group.begin({TOPIC: SharedTopic("orders", frozenset())})
    assert group.changes() == []


def test_a_topic_that_does_not_exist_keeps_no_other_from_its_states() -> None:
    for names in (("missing", "orders"), ("orders", "missing"), ("a", "orders", "z")):
        group = group_with_topic()
        request = ShareGroupHeartbeatRequest("g", "m", 0, subscribed_topic_names=names)
        group.heartbeat(request, ("c", "/h"), Now(1000.0, 1_000_000))
        assert group.wanted == {TOPIC: SharedTopic("orders", frozenset({0}))}
