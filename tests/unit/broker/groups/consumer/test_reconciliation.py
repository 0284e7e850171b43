"""How a member of a consumer group gives up the topics that it does not subscribe to any more."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.embedded.driven_consumer_group import DrivenConsumer, DrivenConsumerGroup

from kafkawire.broker.groups.consumer.member import Member
from kafkawire.broker.groups.consumer.reconciliation import Aim, Reported, reconciled
from kafkawire.broker.groups.consumer.states import MemberState
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ConsumerGroupHeartbeatRequest

A, B, C = (Uuid(letter * 16) for letter in (b"a", b"b", b"c"))
Owned = ConsumerGroupHeartbeatRequest.TopicPartitions
EPOCH = 5000
STABLE = Member("m", epoch=EPOCH, previous_epoch=4, assigned={A: {0: 3, 1: 5}, B: {0: 5}})
MUST_REVOKE = replace(STABLE, state=MemberState.UNREVOKED_PARTITIONS, revoking={A: {2: 3}, C: {1: 4}})
EVERYTHING = (Owned(A, (0, 1)), Owned(B, (0,)))


def aim(reported: Reported | None, *topics: Uuid, has_changed: bool = True) -> Aim:
    """The epoch has no newer target assignment yet."""
    return Aim(
        int(str(EPOCH)), {A: (0, 1), B: (0,)}, frozenset(topics), has_changed, reported, lambda _topic, _partition: None
    )


@pytest.mark.parametrize("reported", [None, EVERYTHING, (Owned(B, (0,)),)])
def test_a_member_that_may_still_own_a_topic_must_give_it_up(reported: Reported | None) -> None:
    assert reconciled(STABLE, aim(reported, A)) == replace(
        STABLE,
        state=MemberState.UNREVOKED_PARTITIONS,
        previous_epoch=EPOCH,
        assigned={A: {0: 3, 1: 5}},
        revoking={B: {0: 5}},
    )


@pytest.mark.parametrize("reported", [(), (Owned(A, (0, 1)),), (Owned(B, (1,)),)])
def test_a_topic_is_free_at_once_if_the_member_says_that_it_does_not_own_it(reported: Reported) -> None:
    assert reconciled(STABLE, aim(reported, A)) == replace(STABLE, previous_epoch=EPOCH, assigned={A: {0: 3, 1: 5}})


@pytest.mark.parametrize("reported", [None, EVERYTHING, ()])
def test_a_member_that_subscribes_to_more_keeps_what_it_has(reported: Reported | None) -> None:
    assert reconciled(STABLE, aim(reported, A, B, C)) is STABLE
    assert reconciled(STABLE, aim(reported, A, has_changed=False)) is STABLE


def test_what_a_member_gives_up_comes_to_what_it_must_give_up_already() -> None:
    owns_more = (Owned(A, (2,)), Owned(B, (0,)))
    assert reconciled(MUST_REVOKE, aim(owns_more, B)) == replace(
        MUST_REVOKE, previous_epoch=EPOCH, assigned={B: {0: 5}}, revoking={A: {2: 3, 0: 3, 1: 5}, C: {1: 4}}
    )


def test_a_member_gives_up_a_topic_before_there_is_a_new_assignment() -> None:
    """Which may not be computed yet."""
    driven = DrivenConsumerGroup(group_consumer_assignment_interval_ms="1000")
    for name in ("orders", "payments"):
        driven.create(name, 1)
    member = DrivenConsumer(driven, "a", "orders", "payments")
    member.join()
    assert len(member.owned) == 2
    member.topics = ("orders",)
    answer = driven.send(member.full())
    assert driven.state.assignment_epoch < driven.state.epoch
    assert answer.assignment is not None
    assert [each.topic_id for each in answer.assignment.topic_partitions] == [driven.topics.id_of("orders")]
    states = [driven.state.members["a"].state]
    member.take(answer)
    assert member.beat().member_epoch == member.epoch == 2
    states.append(driven.state.members["a"].state)
    assert states == [MemberState.UNREVOKED_PARTITIONS, MemberState.STABLE]
