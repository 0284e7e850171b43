"""Which commits a streams group accepts: those of members with the tasks, at an epoch since they have these."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.streams.group_state import StreamsGroupState
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import (
    OffsetCommitRequest,
    StreamsGroupCurrentMemberAssignmentKey,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupTopologyKey,
    StreamsGroupTopologyValue,
    TxnOffsetCommitRequest,
)
from kafkawire.protocol.error_codes import ErrorCode

TOPIC = Uuid(b"t" * 16)
IDS = StreamsGroupCurrentMemberAssignmentValue.TaskIds
CURRENT = StreamsGroupCurrentMemberAssignmentValue(
    7, 6, 2, (IDS("0", (0, 1), (3, 6)),), active_tasks_pending_revocation=(IDS("0", (2,), (4,)),)
)
TOPOLOGY = StreamsGroupTopologyValue(0, (StreamsGroupTopologyValue.Subtopology("0", ("orders",)),))
STATE = StreamsGroupState(
    "g",
    [(StreamsGroupTopologyKey("g"), TOPOLOGY), (StreamsGroupCurrentMemberAssignmentKey("g", "a"), CURRENT)],
)
RULES = STATE.commit_rules(lambda _: None)


def commit(epoch: int, *partitions: int, member: str = "a", name: str = "orders") -> OffsetCommitRequest:
    asked = tuple(OffsetCommitRequest.OffsetCommitRequestPartition(each, 1) for each in partitions)
    topic_id = Uuid() if name else TOPIC
    topics = (OffsetCommitRequest.OffsetCommitRequestTopic(name, topic_id, asked),)
    return OffsetCommitRequest("g", epoch, member, topics=topics)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (commit(7, 0, 1, 2, 9), ErrorCode.NONE),
        (commit(8, 0), ErrorCode.STALE_MEMBER_EPOCH),
        (commit(6, 0, 1, 2), ErrorCode.NONE),
        (commit(5, 0, 2), ErrorCode.NONE),
        (commit(5, 0, 1), ErrorCode.STALE_MEMBER_EPOCH),
        (commit(3, 2), ErrorCode.STALE_MEMBER_EPOCH),
        (commit(6, 3), ErrorCode.STALE_MEMBER_EPOCH),
        (commit(6, 0, name="others"), ErrorCode.STALE_MEMBER_EPOCH),
        (commit(6, 0, name=""), ErrorCode.NONE),
        (commit(7, 0, member="b"), ErrorCode.UNKNOWN_MEMBER_ID),
        (commit(-1, 0, member=""), ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_a_member_commits_for_tasks_that_it_has_had_since_its_epoch(
    request_: OffsetCommitRequest, error: ErrorCode
) -> None:
    names = {TOPIC: "orders"}
    for version in (9, 10):
        assert STATE.commit_rules(names.get).commit_error(request_, version) is error


def test_members_commit_with_epochs_only() -> None:
    for version in (2, 8):
        assert RULES.commit_error(commit(7, 0), version) is ErrorCode.UNSUPPORTED_VERSION


def transactional(epoch: int, member: str = "", instance: str | None = None) -> TxnOffsetCommitRequest:
    asked = (TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition(0, 1),)
    topics = (TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic("orders", partitions=asked),)
    return TxnOffsetCommitRequest("t", "g", 1, 0, epoch, member, instance, topics)


@pytest.mark.parametrize(
    ("epoch", "member", "error"),
    [
        (-1, "", ErrorCode.NONE),
        (-2, "", ErrorCode.UNKNOWN_MEMBER_ID),
        (0, "", ErrorCode.UNKNOWN_MEMBER_ID),
        (-1, "b", ErrorCode.UNKNOWN_MEMBER_ID),
        (7, "a", ErrorCode.NONE),
        (5, "a", ErrorCode.NONE),
        (3, "a", ErrorCode.NONE),
        (2, "a", ErrorCode.ILLEGAL_GENERATION),
        (-1, "a", ErrorCode.ILLEGAL_GENERATION),
        (8, "a", ErrorCode.ILLEGAL_GENERATION),
        (7, "b", ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_commits_with_transactions(epoch: int, member: str, error: ErrorCode) -> None:
    assert RULES.transactional_commit_error(transactional(epoch, member)) is error


def test_an_instance_without_a_member_is_unknown() -> None:
    request = transactional(-1, instance="one")
    assert RULES.transactional_commit_error(request) is ErrorCode.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("member", ["", "a"])
def test_a_group_without_members_takes_offsets_of_clients_without_an_epoch(member: str) -> None:
    empty = StreamsGroupState("g").commit_rules(lambda _: None)
    expected = [ErrorCode.NONE] * 2 + [ErrorCode.UNKNOWN_MEMBER_ID] * 2
    for version in (2, 9):
        found = [empty.commit_error(commit(epoch, 0, member=member), version) for epoch in (-2, -1, 0, 1)]
        assert found == expected
    found = [empty.transactional_commit_error(transactional(epoch, member)) for epoch in (-2, -1, 0, 1)]
    assert found == expected


@pytest.mark.parametrize(
    ("epoch", "member", "error"),
    [
        (-1, None, ErrorCode.NONE),
        (0, None, ErrorCode.UNKNOWN_SERVER_ERROR),
        (7, None, ErrorCode.UNKNOWN_SERVER_ERROR),
        (7, "a", ErrorCode.NONE),
        (6, "a", ErrorCode.STALE_MEMBER_EPOCH),
        (-1, "a", ErrorCode.STALE_MEMBER_EPOCH),
        (7, "b", ErrorCode.UNKNOWN_MEMBER_ID),
        (-1, "", ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_offsets_are_for_members_with_their_epoch(epoch: int, member: str | None, error: ErrorCode) -> None:
    assert RULES.fetch_error(member, epoch) is error
