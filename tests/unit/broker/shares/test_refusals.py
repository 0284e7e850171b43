"""Which acknowledgements are refused, with Kafka's words, and which share partitions are used no more."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from msgspec.structs import replace
from tests.embedded.connection import connected_to
from tests.embedded.share_fetching import ACCEPT, RELEASE, RENEW, Member, begin_group, create, produce
from tests.unit.broker.handlers.test_share_states import written

from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.broker.share_coordinator.state import ShareState, ShareSummary
from kafkawire.broker.share_coordinator.state_batches import RecordState
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgementError, acknowledge
from kafkawire.broker.shares.acquiring import ReadRecords, Wanted, acquire
from kafkawire.broker.shares.live_shares import ShareError
from kafkawire.broker.shares.sessions import ShareSessionError
from kafkawire.broker.shares.settings import ShareRules
from kafkawire.broker.shares.share_partition import SharePartition, ShareStateError
from kafkawire.protocol import DeleteTopicsRequest, DeleteTopicsResponse, ShareFetchRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.batches import Record, encode_batch, read_batches

START = 1 << 40
NOT_ACQUIRED = "The batch cannot be acknowledged. The batch is not in the acquired state."
NOT_OWNED = "Member is not the owner of batch record"
OFFSET_NOT_ACQUIRED = "The offset cannot be acknowledged. The offset is not acquired."
OFFSET_NOT_OWNED = "Member is not the owner of offset"
NOT_FOUND = "Batch record not found. The request batch offsets are not found in the cache."
FIRST_TOO_HIGH = "Batch record not found. The first offset in request is past acquired records."
LAST_TOO_HIGH = "Batch record not found. The last offset in request is past acquired records."
NO_RENEWAL = "Renewing acquisition locks is not enabled for the group."


def shared(*, renews: bool = True) -> SharePartition:
    """Records 0 to 4 and 5 to 9 are acquired by one member, and 10 to 14 by two."""
    rules = ShareRules(renews=renews)
    partition = SharePartition(
        ShareState(1, ShareSummary(0, 0, START, -1)),
        0,
        START,
        rules=lambda: rules,
        now=lambda: 0.0,
        write=lambda _: ErrorCode.NONE,
    )
    for first, member in ((0, "one"), (5, "one"), (10, "two")):
        encoded = encode_batch([Record(offset=START + first)], base_offset=START + first, last_offset=START + first + 4)
        read = ReadRecords(START + first, [*read_batches(encoded)])
        assert acquire(partition, Wanted(member, 100, 100, is_strict=False), read)
    return partition


def seen(partition: SharePartition) -> dict[int, tuple[RecordState, str]]:
    """The state and the member of each record."""
    return {
        offset - START: (part.delivery.state, part.delivery.member_id)
        for batch in partition.batches
        for part in batch.parts()
        for offset in range(part.first, part.last + 1)
    }


ALL = {offset: (RecordState.ACQUIRED, "one" if offset < 10 else "two") for offset in range(15)}
DONE = (RecordState.ACKNOWLEDGED, "")


@pytest.mark.parametrize(
    ("member", "first", "last", "code", "message"),
    [
        ("one", 15, 15, ErrorCode.INVALID_REQUEST, FIRST_TOO_HIGH),
        ("one", 15, 20, ErrorCode.INVALID_REQUEST, FIRST_TOO_HIGH),
        ("two", 14, 15, ErrorCode.INVALID_REQUEST, LAST_TOO_HIGH),
        ("two", 10, 15, ErrorCode.INVALID_REQUEST, LAST_TOO_HIGH),
        ("two", 9, 10, ErrorCode.INVALID_RECORD_STATE, NOT_OWNED),
        ("one", 9, 10, ErrorCode.INVALID_RECORD_STATE, NOT_OWNED),
        ("", 5, 9, ErrorCode.INVALID_RECORD_STATE, NOT_OWNED),
        ("two", 5, 9, ErrorCode.INVALID_RECORD_STATE, NOT_OWNED),
    ],
)
def test_only_the_member_that_has_acquired_records_acknowledges_them(
    member: str, first: int, last: int, code: ErrorCode, message: str
) -> None:
    """Else nothing changes, also of what it has acquired."""
    for types in ([ACCEPT], [ACCEPT] * (last - first + 1)):
        partition = shared()
        with pytest.raises(AcknowledgementError) as refused:
            acknowledge(partition, member, [Acknowledgement(START + first, START + last, types)])
        assert (refused.value.code, refused.value.message) == (code, message)
        assert (seen(partition), partition.delivery_complete_count) == (ALL, 0)


@pytest.mark.parametrize(
    ("member", "first", "last"), [("one", 5, 9), ("one", 4, 5), ("one", 1, 8), ("two", 10, 14), ("two", 14, 14)]
)
def test_what_is_acknowledged_is_not_acknowledged_again(member: str, first: int, last: int) -> None:
    partition, asked = shared(), Acknowledgement(START + first, START + last, [ACCEPT])
    acknowledge(partition, member, [asked])
    after = ALL | dict.fromkeys(range(first, last + 1), DONE)
    assert (seen(partition), partition.delivery_complete_count) == (after, last - first + 1)
    with pytest.raises(AcknowledgementError) as refused:
        acknowledge(partition, member, [asked])
    is_whole = first in {5, 10} and last in {9, 14}
    message = NOT_ACQUIRED if is_whole else OFFSET_NOT_ACQUIRED
    assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_RECORD_STATE, message)
    assert seen(partition) == after


def test_single_records_are_acknowledged_by_their_member_alone() -> None:
    partition = shared()
    acknowledge(partition, "one", [Acknowledgement(START + 6, START + 6, [RELEASE])])
    with pytest.raises(AcknowledgementError) as refused:
        acknowledge(partition, "two", [Acknowledgement(START + 7, START + 7, [ACCEPT])])
    assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_RECORD_STATE, OFFSET_NOT_OWNED)
    assert seen(partition) == ALL | {6: (RecordState.AVAILABLE, "")}


def test_what_begins_before_all_batches_is_refused() -> None:
    partition = shared()
    partition.note_log_start(START + 5)
    acknowledge(partition, "one", [Acknowledgement(START, START + 4, [ACCEPT])])  # below the start: passed over
    acknowledge(partition, "one", [Acknowledgement(START + 5, START + 9, [ACCEPT])])
    assert partition.start_offset == START + 5
    assert partition.release("one")
    assert partition.start_offset == START + 10
    assert seen(partition) == {offset: ALL[offset] for offset in range(10, 15)}
    other = SharePartition(
        ShareState(1, ShareSummary(0, 0, START, -1)),
        0,
        START,
        rules=ShareRules,
        now=lambda: 0.0,
        write=lambda _: ErrorCode.NONE,
    )
    with pytest.raises(AcknowledgementError) as refused:
        acknowledge(other, "one", [Acknowledgement(START, START + 4, [ACCEPT])])
    assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_RECORD_STATE, NOT_FOUND)


@pytest.mark.parametrize("renews", [True, False])
def test_locks_are_renewed_if_the_group_allows_it(*, renews: bool) -> None:
    """``share.renew.acknowledge.enable`` (KIP-1222)."""
    partition = shared(renews=renews)
    asked = [Acknowledgement(START, START + 4, [RENEW])]
    if renews:
        acknowledge(partition, "one", asked)
    else:
        with pytest.raises(AcknowledgementError) as refused:
            acknowledge(partition, "one", asked)
        assert (refused.value.code, refused.value.message) == (ErrorCode.INVALID_RECORD_STATE, NO_RENEWAL)
    assert seen(partition) == ALL


@pytest.mark.parametrize(("most", "room"), [(14, -1), (15, 0), (16, 1)])
def test_nothing_is_acquired_when_as_many_are_in_flight_as_may_be(most: int, room: int) -> None:
    """``group.share.partition.max.record.locks``."""
    rules = ShareRules(most_in_flight=most)
    partition = shared()
    partition.rules = lambda: rules
    assert partition.can_acquire is (room > 0)
    encoded = encode_batch([Record(offset=START + 15)], base_offset=START + 15, last_offset=START + 15)
    read = ReadRecords(START + 15, [*read_batches(encoded)])
    found = acquire(partition, Wanted("one", 100, 100, is_strict=False), read)
    assert len(found) == max(room, 0)
    assert not acquire(partition, Wanted("one", 0, 100, is_strict=False), read)


def test_errors_have_their_code_and_words() -> None:
    code = ErrorCode.NOT_LEADER_OR_FOLLOWER
    for error in (ShareError(code), ShareStateError(code), ShareSessionError(code)):
        assert (error.code, str(error)) == (code, "NOT_LEADER_OR_FOLLOWER")
    assert ShareError(code).message is None
    for worded in (ShareError(code, "why"), AcknowledgementError(code, "why")):
        assert (worded.code, worded.message, str(worded)) == (code, "why", "why")


async def test_a_state_that_cannot_be_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 3)
        assert not await written(client, topic_id, (0, 1, 3, 1))
        answer = await Member(client, topic_id).ask(Member(client, topic_id).fetch_request())
        (found,) = answer.responses[0].partitions
        assert (found.error_code, found.acquired_records) == (ErrorCode.UNKNOWN_SERVER_ERROR, ())
        words = "offsets 0 to 1 were recorded, which cannot be"
        assert caplog.messages == [f"The state of g:{topic_id}:0 cannot be used: {words}"]


async def test_a_share_partition_with_an_earlier_state_is_used_no_more() -> None:
    """Its locks end without anything to do, and who acknowledges has to fetch first."""
    clock = ManualClock()
    async with EmbeddedBroker(clock=clock) as broker, connected_to(broker) as client:
        topic_id = await create(client)
        await produce(client, 3)
        member, other = Member(client, topic_id), Member(client, topic_id, "n")
        assert await member.fetch() == [(0, 2, 1)]
        assert await other.fetch() == []
        await begin_group(client, topic_id, state_epoch=1, offset=1)
        assert await member.acknowledge((0, 2, [ACCEPT])) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert await member.acknowledge((0, 2, [ACCEPT])) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        await broker.advance(31)
        await member.leave()
        assert await other.fetch() == [(1, 2, 1)]
        await broker.advance(31)
        assert await other.fetch() == [(1, 2, 2)]


async def test_a_member_that_leaves_gives_back_what_it_has_though_a_topic_is_deleted_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prepare = ShareCoordinator.prepare
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        ids = [await create(client, name) for name in "tu"]
        for name in "tu":
            await produce(client, 2, name=name)
        member = Member(client, ids[0])
        topics = tuple(ShareFetchRequest.FetchTopic(each, (ShareFetchRequest.FetchPartition(0),)) for each in ids)
        assert len((await member.ask(replace(member.fetch_request(), topics=topics))).responses) == 2
        async with connected_to(broker) as other:

            async def prepare_and_delete(coordinator: ShareCoordinator, owners: Collection[str]) -> None:
                monkeypatch.undo()
                await prepare(coordinator, owners)
                deletion = DeleteTopicsRequest(topic_names=("t",), timeout_ms=1000)
                await other.ask(deletion, 5, DeleteTopicsResponse)

            monkeypatch.setattr(ShareCoordinator, "prepare", prepare_and_delete)
            await member.leave()
            assert await Member(other, ids[1], "n").fetch() == [(0, 1, 2)]


async def test_a_member_that_leaves_gives_back_what_it_has_of_all_other_topics() -> None:
    """Also after one whose share partition is used no more."""
    async with EmbeddedBroker(clock=ManualClock()) as broker, connected_to(broker) as client:
        ids = [await create(client, name) for name in "tuv"]
        for name in "tuv":
            await produce(client, 2, name=name)
        member = Member(client, ids[0])
        topics = tuple(ShareFetchRequest.FetchTopic(each, (ShareFetchRequest.FetchPartition(0),)) for each in ids)
        answer = await member.ask(replace(member.fetch_request(), topics=topics))
        assert len(answer.responses) == 3
        await begin_group(client, ids[0], state_epoch=1)
        assert await member.acknowledge((0, 1, [ACCEPT])) == ErrorCode.NOT_LEADER_OR_FOLLOWER
        await member.leave()
        found = [await Member(client, each, f"{number}").fetch() for number, each in enumerate(ids)]
        assert found == [[(0, 1, 1)], [(0, 1, 2)], [(0, 1, 2)]]
