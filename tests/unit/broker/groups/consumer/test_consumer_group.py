"""A consumer group by itself: its timers, records of other releases, and regular expressions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.embedded.driven_consumer_group import DrivenConsumer, DrivenConsumerGroup

from kafkawire.broker.groups.consumer.member import LEFT_FOR_A_WHILE
from kafkawire.broker.groups.consumer.states import TABLE, GroupState, MemberState, Step
from kafkawire.broker.groups.errors import GroupError
from kafkawire.protocol import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberKey,
)
from kafkawire.protocol.error_codes import ErrorCode

AT_ONCE = {"group_consumer_assignment_interval_ms": "0"}


@pytest.fixture(params=[1, 1000])
def driven(request: pytest.FixtureRequest) -> DrivenConsumerGroup:
    """A group at an early epoch, or at a late one."""
    group = DrivenConsumerGroup(**AT_ONCE)
    group.state.epoch = group.state.assignment_epoch = request.param
    group.create("orders", 4)
    return group


def test_each_state_has_its_steps() -> None:
    assert TABLE.keys() == {*MemberState}
    assert {step for steps in TABLE.values() for step in steps.values()} == {*Step}


def test_a_silent_member_is_removed_after_its_session(driven: DrivenConsumerGroup) -> None:
    first, second = DrivenConsumer(driven, "a", "orders"), DrivenConsumer(driven, "b", "orders")
    first.join()
    second.join()
    driven.wait(44.0)
    first.beat()
    first.beat()  # has given up two partitions
    driven.wait(1.5)
    assert [*driven.state.members] == ["a"]
    driven.wait(43.0)
    assert driven.state.members
    driven.wait(1.0)
    assert driven.state.state is GroupState.EMPTY
    assert not len(driven.group.timers)


def test_a_member_that_keeps_its_partitions_is_fenced_after_its_rebalance_timeout(driven: DrivenConsumerGroup) -> None:
    slow, other = DrivenConsumer(driven, "a", "orders", rebalance_ms=5000), DrivenConsumer(driven, "b", "orders")
    slow.join()
    other.join()
    driven.send(slow.short())  # learns that it must give up two, and says nothing of them
    driven.wait(4.9)
    other.beat()
    assert not other.owned
    driven.send(slow.short())
    driven.wait(0.2)
    assert [*driven.state.members] == ["b"]
    other.beat()
    assert len(other.owned) == 4
    slow.beat()
    assert slow.error is ErrorCode.UNKNOWN_MEMBER_ID


def test_the_rebalance_timeout_begins_again_with_a_restart(driven: DrivenConsumerGroup) -> None:
    slow, other = DrivenConsumer(driven, "a", "orders", rebalance_ms=5000), DrivenConsumer(driven, "b", "orders")
    slow.join()
    other.join()
    driven.send(slow.short())
    driven.restart()
    driven.wait(5.0)
    assert [*driven.state.members] == ["b"]


def test_a_static_member_that_does_not_come_back_is_removed(driven: DrivenConsumerGroup) -> None:
    member = DrivenConsumer(driven, "a", "orders", instance_id="one")
    member.join()
    member.leave(-2)  # KIP-345
    assert driven.state.members["a"].epoch == LEFT_FOR_A_WHILE == -2
    driven.wait(45.0)
    assert not driven.state.members


def test_a_static_member_that_leaves_for_good_is_removed_at_once(driven: DrivenConsumerGroup) -> None:
    member, other = DrivenConsumer(driven, "a", "orders", instance_id="one"), DrivenConsumer(driven, "b", "orders")
    member.join()
    other.join()
    answer = member.leave(-1)
    assert (answer.error_code, answer.member_epoch) == (ErrorCode.NONE, -1)
    assert [*driven.state.members] == ["b"]
    other.beat()
    assert len(other.owned) == 4


def test_a_static_member_that_has_left_for_a_while_lives_with_no_earlier_epoch(driven: DrivenConsumerGroup) -> None:
    member = DrivenConsumer(driven, "a", "orders", instance_id="one")
    member.join()
    driven.create("orders", 6)
    member.beat()
    epoch, previous = member.epoch, driven.state.members["a"].previous_epoch
    assert 0 < previous < epoch
    member.leave(-2)
    for late in (previous, epoch):
        answer = driven.send(replace(member.short(), member_epoch=late, topic_partitions=()))
        assert answer.error_code == ErrorCode.FENCED_MEMBER_EPOCH
        assert answer.error_message is not None
        assert "greater member epoch" in answer.error_message


def test_members_get_the_same_answer_again_if_it_was_lost(driven: DrivenConsumerGroup) -> None:
    member = DrivenConsumer(driven, "a", "orders")
    first = driven.send(member.full())
    assert driven.send(member.full()) == first
    driven.create("orders", 6)
    member.take(first)
    lost = driven.send(replace(member.short(), topic_partitions=member.reported()))
    again = driven.send(replace(member.full(), topic_partitions=member.reported()))
    assert (again.member_epoch, again.assignment) == (lost.member_epoch, lost.assignment)


def test_a_record_that_newer_releases_do_not_need_is_deleted(driven: DrivenConsumerGroup) -> None:
    DrivenConsumer(driven, "a", "orders").join()
    key = ConsumerGroupPartitionMetadataKey("g")
    driven.records[key] = ConsumerGroupPartitionMetadataValue()
    driven.restart()
    member = DrivenConsumer(driven, "a", "orders")
    member.epoch = driven.state.members["a"].epoch
    member.beat()
    assert key not in driven.records


def test_partitions_without_epochs_have_that_of_the_member(driven: DrivenConsumerGroup) -> None:
    """Releases before 4.3 record none (KIP-1251)."""
    member = DrivenConsumer(driven, "a", "orders")
    member.join()
    key = ConsumerGroupCurrentMemberAssignmentKey("g", "a")
    value = driven.records[key]
    assert isinstance(value, ConsumerGroupCurrentMemberAssignmentValue)
    stripped = tuple(replace(each, assignment_epochs=None) for each in value.assigned_partitions)
    driven.records[key] = replace(value, assigned_partitions=stripped)
    driven.restart()
    (epochs,) = driven.state.members["a"].assigned.values()
    assert epochs == dict.fromkeys(range(4), member.epoch)


@pytest.mark.parametrize(("epoch", "since"), [(-2, 0), (-1, 0), (0, 0), (1, 1), (7, 7)])
def test_partitions_without_epochs_of_a_member_that_has_left_for_a_while_have_the_epoch_0(
    driven: DrivenConsumerGroup, epoch: int, since: int
) -> None:
    topics = ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions
    topic = driven.create("orders", 4)
    value = ConsumerGroupCurrentMemberAssignmentValue(epoch, 0, 0, (topics(topic, (1, 2)),), (topics(topic, (3,)),))
    driven.state.apply(ConsumerGroupCurrentMemberAssignmentKey("g", "a"), value)
    member = driven.state.members["a"]
    assert (member.assigned, member.revoking) == ({topic: {1: since, 2: since}}, {topic: {3: since}})


def test_partitions_keep_the_epochs_of_their_records_however_many_there_are(driven: DrivenConsumerGroup) -> None:
    member = DrivenConsumer(driven, "a", "orders")
    member.join()
    for partitions in (300, 600):
        driven.create("orders", partitions)
        member.beat()
    (before,) = driven.state.members["a"].assigned.values()
    assert (len(before), len({*before.values()})) == (600, 3)
    driven.restart()
    assert [*driven.state.members["a"].assigned.values()] == [before]


def test_a_member_in_a_state_of_a_newer_release_joins_again(driven: DrivenConsumerGroup) -> None:
    member = DrivenConsumer(driven, "a", "orders")
    member.join()
    key = ConsumerGroupCurrentMemberAssignmentKey("g", "a")
    value = driven.records[key]
    assert isinstance(value, ConsumerGroupCurrentMemberAssignmentValue)
    driven.records[key] = replace(value, state=9)
    driven.restart()
    member.beat()
    assert member.error is ErrorCode.FENCED_MEMBER_EPOCH
    member.beat()
    assert (member.error, len(member.owned)) == (ErrorCode.NONE, 4)


def test_only_target_assignments_that_change_are_recorded(driven: DrivenConsumerGroup) -> None:
    driven.create("payments", 2)
    DrivenConsumer(driven, "a", "orders").join()
    key = ConsumerGroupTargetAssignmentMemberKey("g", "a")
    del driven.records[key]
    other = DrivenConsumer(driven, "b", "payments")
    other.join()
    assert other.epoch == driven.state.epoch
    assert key not in driven.records
    DrivenConsumer(driven, "c", "orders").join()
    assert key in driven.records


def test_a_regular_expression_is_resolved_once_for_all_members(driven: DrivenConsumerGroup) -> None:
    first = DrivenConsumer(driven, "a", regex="orders.*")
    first.join()
    assert [*driven.group.wanted_regexes] == ["orders.*"]
    driven.resolve({"orders.*": ["orders"]})
    second = DrivenConsumer(driven, "b", regex="orders.*")
    second.join()
    assert not driven.group.wanted_regexes
    for _ in range(3):
        first.beat()
        second.beat()
    assert len(first.owned) == len(second.owned) == 2
    driven.create("orders-eu", 2)
    first.beat()
    assert not driven.group.wanted_regexes, "at most every ten seconds"
    driven.wait(10.1)
    first.beat()
    assert [*driven.group.wanted_regexes] == ["orders.*"]
    driven.resolve({"orders.*": ["orders", "orders-eu"]})
    for _ in range(3):
        first.beat()
        second.beat()
    assert len(first.owned | second.owned) == 6
    for _ in range(3):
        driven.wait(20)
        first.beat()
        second.beat()
        assert not driven.group.wanted_regexes, "no topic has come since"


def test_no_regular_expression_is_resolved_when_a_member_gives_its_own_up(driven: DrivenConsumerGroup) -> None:
    first, second = (DrivenConsumer(driven, name, regex="orders.*") for name in "ab")
    first.join()
    second.join()
    driven.resolve({"orders.*": ["orders"]})
    driven.wait(11)
    first.topics, first.regex = ("orders",), ""
    driven.send(first.full())
    assert not driven.group.wanted_regexes
    first.topics, first.regex = (), "o.*"
    driven.send(first.full())
    assert {*driven.group.wanted_regexes} == {"orders.*", "o.*"}, "a new one is"


def test_regular_expressions_are_resolved_again_after_a_while(driven: DrivenConsumerGroup) -> None:
    """Rights to see topics change without new topics (``group.consumer.regex.refresh.interval.ms``)."""
    member = DrivenConsumer(driven, "a", regex="orders.*")
    member.join()
    driven.resolve({"orders.*": ["orders"]})
    for _ in range(14):
        driven.wait(40)
        member.beat()
        assert not driven.group.wanted_regexes
    driven.wait(41)
    member.beat()
    assert [*driven.group.wanted_regexes] == ["orders.*"]


def test_regular_expressions_are_resolved_at_most_every_ten_seconds_and_at_least_every_ten_minutes(
    driven: DrivenConsumerGroup,
) -> None:
    """To the millisecond, as in Apache Kafka: both times must have passed."""
    member = DrivenConsumer(driven, "a", regex="orders.*")
    member.join()
    driven.resolve({"orders.*": ["orders"]})
    began = driven.seconds
    driven.create("orders-eu", 2)
    for seconds, is_due in ((10.0, False), (10.001, True)):
        driven.seconds = began + seconds
        member.beat()
        assert bool(driven.group.wanted_regexes) == is_due
    driven.resolve({"orders.*": ["orders", "orders-eu"]})
    began = driven.seconds
    for seconds, is_due in ((600.0, False), (600.001, True)):
        driven.seconds = began + seconds
        member.beat()
        assert bool(driven.group.wanted_regexes) == is_due


def test_a_member_that_leaves_is_found_by_both_of_its_ids(driven: DrivenConsumerGroup) -> None:
    DrivenConsumer(driven, "a", "orders", instance_id="one").join()
    DrivenConsumer(driven, "b", "orders", instance_id="two").join()
    group = driven.group
    assert [group.find(*ids).member_id for ids in (("a", None), ("a", "one"), ("", "two"))] == ["a", "a", "b"]
    for ids, code in {
        ("b", "one"): ErrorCode.FENCED_INSTANCE_ID,
        ("", "three"): ErrorCode.UNKNOWN_MEMBER_ID,
        ("c", None): ErrorCode.UNKNOWN_MEMBER_ID,
    }.items():
        with pytest.raises(GroupError) as raised:
            group.find(*ids)
        assert raised.value.code is code


def test_topics_that_a_regular_expression_matched_are_forgotten_with_its_last_member(
    driven: DrivenConsumerGroup,
) -> None:
    member, other = DrivenConsumer(driven, "a", regex="o.*"), DrivenConsumer(driven, "b", "missing")
    member.join()
    driven.resolve({"o.*": ["orders"]})
    other.join()
    member.leave()
    assert {*driven.state.subscribed} == {"missing"}
    assert not driven.state.regexes


def test_topics_that_a_regular_expression_matched_stay_while_a_member_subscribes_to_it(
    driven: DrivenConsumerGroup,
) -> None:
    members = [DrivenConsumer(driven, name, regex="o.*") for name in "ab"]
    for member in members:
        member.join()
    driven.resolve({"o.*": ["orders"]})
    for member, left in zip(members, ({"o.*"}, set[str]()), strict=True):
        member.topics, member.regex = ("missing",), ""
        driven.send(member.full())
        assert driven.state.regexes.keys() == left
        assert {
            key.regular_expression for key in driven.records if isinstance(key, ConsumerGroupRegularExpressionKey)
        } == left


def test_an_epoch_begins_when_a_regular_expression_matches_otherwise_and_only_then(driven: DrivenConsumerGroup) -> None:
    """Also where all of them together match what they have matched before."""
    driven.create("payments", 1)
    members = [DrivenConsumer(driven, "a", regex="o.*"), DrivenConsumer(driven, "b", regex="p.*")]
    for member in members:
        member.join()
    for matches, begins in (
        ({"o.*": ["orders"], "p.*": ["payments"]}, True),
        ({"o.*": ["orders"], "p.*": ["payments"]}, False),
        ({"o.*": ["payments"], "p.*": ["orders"]}, True),
        ({"o.*": ["payments"], "p.*": ["orders", "payments"]}, True),
    ):
        before = driven.state.epoch
        driven.resolve(matches)
        assert driven.state.epoch == before + begins


def test_the_first_member_begins_the_second_epoch() -> None:
    """As in Apache Kafka, a group that begins has the epoch 1."""
    driven = DrivenConsumerGroup(**AT_ONCE)
    driven.create("orders", 4)
    assert (driven.state.epoch, driven.state.assignment_epoch) == (1, 1)
    assert DrivenConsumer(driven, "a", "orders").join().member_epoch == driven.state.epoch == 2


@pytest.mark.parametrize("partitions", [4, 5])
def test_a_topic_that_has_grown_while_the_group_was_away_begins_an_epoch(
    driven: DrivenConsumerGroup, partitions: int
) -> None:
    member = DrivenConsumer(driven, "a", "orders")
    member.join()
    epoch = driven.state.epoch
    driven.create("orders", partitions)
    driven.forget_changes()
    driven.restart()
    member.beat()
    assert (driven.state.epoch, len(member.owned)) == (epoch + (partitions > 4), partitions)


@pytest.mark.parametrize(("more", "than"), [(1, "greater"), (-1, "smaller"), (-2, "smaller")])
def test_a_member_with_another_epoch_joins_again(driven: DrivenConsumerGroup, more: int, than: str) -> None:
    """Its previous epoch is that of a lost answer only if it says that it owns no more than it has."""
    member = DrivenConsumer(driven, "a", "orders")
    member.join()
    for partitions in (5, 6, 7):
        driven.create("orders", partitions)
        member.beat()
    answer = driven.send(replace(member.short(), member_epoch=member.epoch + more))
    assert answer.error_code == ErrorCode.FENCED_MEMBER_EPOCH
    assert answer.error_message == (
        f"The consumer group member has a {than} member epoch ({member.epoch + more}) than the one known by the group "
        f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin."
    )
    lost = driven.send(replace(member.short(), member_epoch=member.epoch + more, topic_partitions=()))
    assert lost.error_code == (ErrorCode.NONE if more == -1 else ErrorCode.FENCED_MEMBER_EPOCH)


def test_a_group_with_more_members_than_it_may_have_takes_no_other() -> None:
    """The limit may be lower than before; members that are there stay."""
    driven = DrivenConsumerGroup(**AT_ONCE, group_consumer_max_size="3")
    for member_id in "abc":
        DrivenConsumer(driven, member_id, "orders").join()
    lower = DrivenConsumerGroup(**AT_ONCE, group_consumer_max_size="2")
    lower.records = driven.records
    lower.restart()
    answer = DrivenConsumer(lower, "d", "orders").join()
    assert answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    assert answer.error_message == "The consumer group has reached its maximum capacity of 2 members."
    assert DrivenConsumer(lower, "c", "orders").join().error_code == ErrorCode.NONE


@pytest.mark.parametrize("epochs", [(5,), (5, 6, 7)])
def test_partitions_with_another_number_of_epochs_have_that_of_the_member(
    driven: DrivenConsumerGroup, epochs: tuple[int, ...]
) -> None:
    topics = ConsumerGroupCurrentMemberAssignmentValue.TopicPartitions
    topic = driven.create("orders", 4)
    value = ConsumerGroupCurrentMemberAssignmentValue(9, 8, 0, (topics(topic, (1, 2), epochs),))
    driven.state.apply(ConsumerGroupCurrentMemberAssignmentKey("g", "a"), value)
    assert driven.state.members["a"].assigned == {topic: {1: 9, 2: 9}}


def test_a_new_expression_is_resolved_though_another_one_has_left_its_record() -> None:
    """There are as many resolved expressions as members have then."""
    driven = DrivenConsumerGroup(**AT_ONCE)
    value = ConsumerGroupRegularExpressionValue((), 1 << 40, int((driven.seconds - 11) * 1000))
    driven.records[ConsumerGroupRegularExpressionKey("g", "old")] = value
    driven.restart()
    DrivenConsumer(driven, "a", regex="new.*").join()
    assert driven.group.wanted_regexes == ("new.*",)


def test_a_record_of_an_expression_without_members_begins_no_epoch_for_the_first_that_subscribes_to_it() -> None:
    """It is resolved again, which may begin one; where others subscribe to it, its topics are those of the member."""
    driven = DrivenConsumerGroup(**AT_ONCE)
    driven.records[ConsumerGroupRegularExpressionKey("g", "o.*")] = ConsumerGroupRegularExpressionValue((), 1, 1)
    driven.restart()
    assert DrivenConsumer(driven, "a", regex="o.*").join().member_epoch == driven.state.epoch == 1
    assert DrivenConsumer(driven, "b", regex="o.*").join().member_epoch == driven.state.epoch == 2


@pytest.mark.parametrize("wrong", ["[", "(", "x**", "+"])
@pytest.mark.parametrize("before", [None, "", "a.*", "zz.*", "!.*"])
def test_an_expression_that_cannot_be_used_is_refused(
    driven: DrivenConsumerGroup, before: str | None, wrong: str
) -> None:
    """When a member joins with it, and when a member has another one; but not if members have it already."""
    member = DrivenConsumer(driven, "a", "orders", regex=before)
    if before is not None:
        member.join()
    member.regex = wrong
    answer = driven.send(member.full())
    assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert answer.error_message is not None
    assert answer.error_message.startswith("SubscribedTopicRegex ")
    known = ConsumerGroupMemberMetadataValue(subscribed_topic_regex=wrong, classic_member_metadata=None)
    driven.state.apply(ConsumerGroupMemberMetadataKey("g", "of another release"), known)
    assert driven.send(member.full()).error_code == ErrorCode.NONE


def test_new_partitions_are_no_reason_to_resolve_an_expression_again(driven: DrivenConsumerGroup) -> None:
    member = DrivenConsumer(driven, "a", regex="orders.*")
    member.join()
    driven.create("orders", 6)
    driven.resolve({"orders.*": ["orders"]})
    assert driven.state.regexes["orders.*"].version > driven.topics.created_at
    driven.wait(11)
    member.beat()
    assert not driven.group.wanted_regexes
