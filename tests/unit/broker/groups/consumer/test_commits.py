"""Which offsets a consumer group takes and gives, and from whom: the rules of Apache Kafka's ``ConsumerGroup``."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.embedded.driven_consumer_group import DrivenConsumer, DrivenConsumerGroup

from kafkawire.broker.groups.commits import CommitRules
from kafkawire.broker.groups.consumer.member import Member
from kafkawire.protocol import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    OffsetCommitRequest,
    TxnOffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode

NONE, UNKNOWN = ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID
STALE, ILLEGAL = ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.ILLEGAL_GENERATION


class Committing:
    """A group of topic ``orders``, and what it says to commits of partition 0 and to fetches of offsets."""

    def __init__(self, epoch: int) -> None:
        self.driven = DrivenConsumerGroup(group_consumer_assignment_interval_ms="0")
        self.driven.state.epoch = self.driven.state.assignment_epoch = epoch
        self.driven.create("orders", 2)

    def with_member(self, *, is_classic: bool = False) -> DrivenConsumer:
        """A member that has partition 0 since epoch 2, and comes to epoch 3 with another topic."""
        member = DrivenConsumer(self.driven, "a", "orders", "others")
        member.join()
        self.driven.create("others", 1)
        member.beat()
        if is_classic:
            key = ConsumerGroupMemberMetadataKey("g", "a")
            value = self.driven.records[key]
            assert isinstance(value, ConsumerGroupMemberMetadataValue)
            classic = ConsumerGroupMemberMetadataValue.ClassicMemberMetadata(10_000, ())
            self.driven.records[key] = replace(value, classic_member_metadata=classic)
            self.driven.restart()
        return member

    @property
    def rules(self) -> CommitRules[Member]:
        return self.driven.state.commit_rules(self.driven.topics.id_of)

    def commit(self, epoch: int, member_id: str = "", topic: str = "orders", version: int = 9) -> ErrorCode:
        of = OffsetCommitRequest.OffsetCommitRequestTopic
        topics = (of(topic, partitions=(OffsetCommitRequest.OffsetCommitRequestPartition(0),)),)
        request = OffsetCommitRequest("g", epoch, member_id, topics=topics)
        return self.rules.commit_error(request, version)

    def transactional(
        self, epoch: int, member_id: str = "", instance_id: str | None = None, topic: str = "orders"
    ) -> ErrorCode:
        of = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
        topics = (of(topic, partitions=(TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition(0),)),)
        request = TxnOffsetCommitRequest("t", "g", 1, 0, epoch, member_id, instance_id, topics)
        return self.rules.transactional_commit_error(request)

    def fetch(self, member_id: str | None, epoch: int) -> ErrorCode:
        return self.rules.fetch_error(member_id, epoch)


@pytest.fixture(params=[1, 1000])
def group(request: pytest.FixtureRequest) -> Committing:
    """At an early epoch and at a late one."""
    return Committing(request.param)


def test_a_group_without_members_takes_offsets_of_clients_without_an_epoch(group: Committing) -> None:
    assert [group.commit(epoch) for epoch in (-2, -1, 0, 1)] == [NONE, NONE, UNKNOWN, UNKNOWN]
    assert [group.transactional(epoch) for epoch in (-2, -1, 0, 1)] == [NONE, NONE, UNKNOWN, UNKNOWN]
    assert [group.commit(-1, "a"), group.transactional(-1, "a")] == [NONE, NONE]


def test_a_group_with_members_takes_offsets_of_others_in_transactions_only(group: Committing) -> None:
    group.with_member()
    assert [group.commit(epoch) for epoch in (-2, -1, 0)] == [UNKNOWN] * 3
    assert [group.transactional(epoch) for epoch in (-2, -1, 0)] == [UNKNOWN, NONE, UNKNOWN]
    assert group.transactional(-1, "b") is UNKNOWN
    assert group.transactional(-1, instance_id="one") is UNKNOWN


@pytest.mark.parametrize("is_classic", [False, True])
def test_a_member_commits_with_an_epoch_since_it_got_the_partition(group: Committing, *, is_classic: bool) -> None:
    epoch, refused = group.with_member(is_classic=is_classic).epoch, ILLEGAL if is_classic else STALE
    epochs = range(-1, epoch + 2)
    since = (epoch - 1, epoch)
    assert {each: group.commit(each, "a") for each in epochs} == {
        each: NONE if each in since else refused for each in epochs
    }
    assert {each: group.transactional(each, "a") for each in epochs} == {
        each: NONE if each in since else ILLEGAL for each in epochs
    }
    assert [group.commit(each, "a", "others") for each in since] == [refused, NONE]
    assert [group.transactional(each, "a", topic="others") for each in since] == [ILLEGAL, NONE]


def test_only_classic_members_commit_with_requests_without_epochs(group: Committing) -> None:
    epoch = group.with_member().epoch
    assert group.commit(epoch, "a", version=8) is ErrorCode.UNSUPPORTED_VERSION
    epoch = group.with_member(is_classic=True).epoch
    assert group.commit(epoch, "a", version=8) is NONE


@pytest.mark.parametrize("is_classic", [False, True])
def test_members_fetch_offsets_with_their_epoch_and_others_with_none(group: Committing, *, is_classic: bool) -> None:
    assert [group.fetch(None, -1), group.fetch("", -1)] == [NONE, UNKNOWN]
    epoch, refused = group.with_member(is_classic=is_classic).epoch, ILLEGAL if is_classic else STALE
    assert [group.fetch(None, -1), group.fetch("b", epoch)] == [NONE, UNKNOWN]
    assert [group.fetch("a", each) for each in (-1, epoch - 1, epoch, epoch + 1)] == [refused, refused, NONE, refused]


def test_an_epoch_without_a_member_is_unexpected(group: Committing) -> None:
    """Kafka fails at it."""
    for _ in range(2):
        assert [group.fetch(None, each) for each in (-2, -1, 0, 1)] == [NONE] * 2 + [ErrorCode.UNKNOWN_SERVER_ERROR] * 2
        group.with_member()
