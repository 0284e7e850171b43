"""What the share coordinator records of a share partition: epochs, snapshots, and what fences a leader."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.embedded.groups import DIRECTORY_ID, opened_groups

from kafkawire.broker import ManualClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.internal_topics.topic import InternalTopic
from kafkawire.broker.nodes import Nodes
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.share_coordinator.coordinator import ShareCoordinator
from kafkawire.broker.share_coordinator.state import SharePartitionKey, ShareState, ShareSummary, StateUpdate
from kafkawire.broker.share_coordinator.state_batches import RecordState, StateBatch, combined
from kafkawire.broker.topic_names import SHARES_TOPIC
from kafkawire.broker.topics.placement import Placement
from kafkawire.layout import Uuid
from kafkawire.protocol import OffsetCommitKey
from kafkawire.protocol.error_codes import ErrorCode

TOPIC = Uuid(b"0123456789abcdef")
KEY = SharePartitionKey("g", TOPIC, 3)
START_MS = 1000
UPDATES = 3
AVAILABLE, ACKNOWLEDGED, ARCHIVED = RecordState.AVAILABLE, RecordState.ACKNOWLEDGED, RecordState.ARCHIVED
BATCH = StateBatch(5, 9, ACKNOWLEDGED, 1)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_MS)


@pytest.fixture
async def shares(tmp_path: Path, clock: ManualClock) -> AsyncIterator[ShareCoordinator]:
    properties = {
        "share.coordinator.state.topic.num.partitions": "2",
        "share.coordinator.snapshot.update.records.per.snapshot": str(UPDATES),
    }
    configuration = BrokerConfiguration(properties)
    async with opened_groups(tmp_path) as (_, controller):
        topic = InternalTopic(
            SHARES_TOPIC, controller, configuration, Placement(Nodes(Cluster("", 1, "", 0), DIRECTORY_ID))
        )
        coordinator = ShareCoordinator.opened(None, topic, configuration, clock, store=RecordStore())
        await coordinator.prepare((KEY.owner,))
        yield coordinator
        await coordinator.close()


def state(shares: ShareCoordinator) -> ShareState:
    return shares.state.by_key[KEY]


@pytest.mark.parametrize(("start_offset", "complete"), [(-1, -1), (0, 0), (1, 0), (5, 0)])
async def test_a_state_begins_with_nothing_acknowledged(
    shares: ShareCoordinator, clock: ManualClock, start_offset: int, complete: int
) -> None:
    """How many records are done with is unknown until the group begins (``ShareGroupOffset.fromRequest``)."""
    shares.initialize(*KEY, 7, start_offset)
    assert state(shares) == ShareState(0, ShareSummary(7, 0, start_offset, complete), (), START_MS, START_MS)
    assert not shares.write(KEY, StateUpdate(7, 4, 6, 2, (BATCH,)))
    for number in (1, 2):
        clock.advance(2)
        shares.initialize(*KEY, 7 + number, start_offset)
        now = START_MS + 2000 * number
        summary = ShareSummary(7 + number, 0, start_offset, complete)
        assert state(shares) == ShareState(number, summary, (), now, now)
        assert shares.summary(*KEY) == summary


@pytest.mark.parametrize(("leader_epoch", "updates"), [(-1, 1), (4, 1), (5, 2), (7, 2), (8, 2)])
async def test_only_a_new_leader_epoch_is_recorded(shares: ShareCoordinator, leader_epoch: int, updates: int) -> None:
    shares.initialize(*KEY, 7, 5)
    assert shares.read_to_deliver(KEY, 4) == ShareState(0, ShareSummary(7, 0, 5, 0), (), START_MS, START_MS)
    before = state(shares)
    assert (before.summary, before.updates) == (ShareSummary(7, 4, 5, 0), 1)
    assert shares.read_to_deliver(KEY, leader_epoch) == before
    after = replace(before, updates=updates, summary=ShareSummary(7, max(4, leader_epoch), 5, 0))
    assert state(shares) == after


@pytest.mark.parametrize(
    ("leader_epoch", "state_epoch", "code"),
    [
        (-1, -1, ErrorCode.NONE),
        (0, -1, ErrorCode.FENCED_LEADER_EPOCH),
        (3, 7, ErrorCode.FENCED_LEADER_EPOCH),
        (3, 6, ErrorCode.FENCED_LEADER_EPOCH),
        (4, 7, ErrorCode.NONE),
        (5, 8, ErrorCode.NONE),
        (4, 6, ErrorCode.FENCED_STATE_EPOCH),
        (-1, 0, ErrorCode.FENCED_STATE_EPOCH),
        (4, -1, ErrorCode.NONE),
    ],
)
async def test_lower_epochs_are_fenced_and_change_nothing(
    shares: ShareCoordinator, leader_epoch: int, state_epoch: int, code: ErrorCode
) -> None:
    shares.initialize(*KEY, 7, 5)
    assert not isinstance(shares.read_to_deliver(KEY, 4), ErrorCode)
    before = state(shares)
    assert shares.fenced(KEY, leader_epoch, state_epoch) is code
    assert shares.write(KEY, StateUpdate(state_epoch, leader_epoch, 6, 0, ())) is code
    summary = ShareSummary(7, 4, 6, 0)
    assert state(shares) == (before if code else replace(before, summary=summary, updates=2))


async def test_leaders_stay_fenced_when_a_state_begins_again_until_it_ends(shares: ShareCoordinator) -> None:
    shares.initialize(*KEY, 7, 5)
    shares.read_to_deliver(KEY, 4)
    shares.initialize(*KEY, 3, 0)
    assert state(shares).summary == ShareSummary(3, 0, 0, 0)
    assert shares.state.highest_epochs(KEY) == (4, 7)
    assert shares.read_to_deliver(KEY, 3) is ErrorCode.FENCED_LEADER_EPOCH
    shares.delete(*KEY)
    assert shares.state.highest_epochs(KEY) == (-1, -1)
    assert shares.summary(*KEY) is None
    assert shares.read_to_deliver(KEY, 9) is ErrorCode.INVALID_REQUEST
    assert shares.write(KEY, StateUpdate(-1, -1, 6, 0)) is ErrorCode.INVALID_REQUEST
    shares.delete(*KEY)
    shares.initialize(*KEY, 0, 0)
    assert (state(shares).snapshot_epoch, state(shares).summary) == (0, ShareSummary(0, 0, 0, 0))


async def test_a_snapshot_follows_as_many_updates_as_are_configured(
    shares: ShareCoordinator, clock: ManualClock
) -> None:
    """It has all that the updates have, its own time, and the next epoch."""
    shares.initialize(*KEY, 7, 5)
    shares.read_to_deliver(KEY, 4)
    assert not shares.write(KEY, StateUpdate(7, 4, 5, 1, (StateBatch(9, 9, ACKNOWLEDGED, 1),)))
    assert not shares.write(KEY, StateUpdate(7, 4, 5, 2, (StateBatch(7, 7, ARCHIVED, 3),)))
    clock.advance(2)
    batches = (StateBatch(7, 7, ARCHIVED, 3), StateBatch(9, 9, ACKNOWLEDGED, 1))
    before = ShareState(0, ShareSummary(7, 4, 5, 2), batches, START_MS, START_MS, UPDATES)
    assert state(shares) == before
    for epoch, start, kept in ((1, -1, 5), (2, 8, 8)):
        assert not shares.write(KEY, StateUpdate(7, 4, start, 1, (StateBatch(12, 12, AVAILABLE, epoch),)))
        later = (StateBatch(9, 9, ACKNOWLEDGED, 1), StateBatch(12, 12, AVAILABLE, epoch))
        whole = (*batches[:1], *later) if kept == 5 else later
        now = START_MS + 2000
        assert state(shares) == ShareState(epoch, ShareSummary(7, 4, kept, 1), whole, now, now)
        for number in range(1, UPDATES + 1):
            assert not shares.write(KEY, StateUpdate(7, 4, kept, 1))
            assert (state(shares).snapshot_epoch, state(shares).updates) == (epoch, number)


async def test_forgotten_states_leave_nothing(shares: ShareCoordinator) -> None:
    shares.initialize(*KEY, 7, 5)
    assert (shares.state.size, len([*shares.state.entries()])) == (1, 1)
    shares.state.apply(OffsetCommitKey("g", "t", 0), None)  # of another topic
    shares.state.end(7, (KEY.owner,), committed=False)  # it is in no transaction
    assert shares.state.size == 1
    shares.state.clear()
    assert (shares.state.size, [*shares.state.entries()]) == (0, [])
    assert shares.state.highest_epochs(KEY) == (-1, -1)


async def test_share_partitions_of_topics_are_found(shares: ShareCoordinator) -> None:
    for topic in (b"a", b"b", b"c"):
        key = SharePartitionKey("g", Uuid(topic * 16), 0)
        await shares.prepare((key.owner,))
        shares.initialize(*key, 0, 0)
    found = shares.of_topics({Uuid(b"a" * 16), Uuid(b"c" * 16), Uuid(b"d" * 16)})
    assert [key.topic_id for key in found] == [Uuid(b"a" * 16), Uuid(b"c" * 16)]


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize(
    ("first", "second", "start", "expected"),
    [
        ((5, 9, 0, 1), (10, 12, 0, 1), -1, [(5, 12, 0, 1)]),
        ((5, 9, 0, 1), (11, 12, 0, 1), -1, [(5, 9, 0, 1), (11, 12, 0, 1)]),
        ((5, 9, 0, 1), (10, 12, 2, 1), -1, [(5, 9, 0, 1), (10, 12, 2, 1)]),
        ((5, 9, 0, 1), (10, 12, 0, 2), -1, [(5, 9, 0, 1), (10, 12, 0, 2)]),
        ((5, 9, 0, 1), (9, 12, 0, 1), -1, [(5, 12, 0, 1)]),
        ((5, 9, 0, 1), (9, 12, 2, 1), -1, [(5, 8, 0, 1), (9, 12, 2, 1)]),
        ((5, 9, 0, 2), (9, 12, 2, 1), -1, [(5, 9, 0, 2), (10, 12, 2, 1)]),
        ((5, 9, 2, 1), (7, 7, 4, 1), -1, [(5, 6, 2, 1), (7, 7, 4, 1), (8, 9, 2, 1)]),
        ((5, 9, 2, 1), (7, 7, 0, 1), -1, [(5, 9, 2, 1)]),
        ((5, 9, 2, 1), (5, 5, 0, 2), -1, [(5, 5, 0, 2), (6, 9, 2, 1)]),
        ((5, 9, 2, 1), (9, 9, 0, 2), -1, [(5, 8, 2, 1), (9, 9, 0, 2)]),
        ((0, 0, 2, 1), (1, 1, 2, 1), 0, [(0, 1, 2, 1)]),
        ((5, 9, 0, 1), (20, 20, 2, 1), 4, [(5, 9, 0, 1), (20, 20, 2, 1)]),
        ((5, 9, 0, 1), (20, 20, 2, 1), 5, [(5, 9, 0, 1), (20, 20, 2, 1)]),
        ((5, 9, 0, 1), (20, 20, 2, 1), 6, [(6, 9, 0, 1), (20, 20, 2, 1)]),
        ((5, 9, 0, 1), (20, 20, 2, 1), 9, [(9, 9, 0, 1), (20, 20, 2, 1)]),
        ((5, 9, 0, 1), (20, 20, 2, 1), 10, [(20, 20, 2, 1)]),
        ((5, 9, 0, 1), (20, 20, 2, 1), 20, [(20, 20, 2, 1)]),
        ((5, 9, 0, 1), (20, 20, 2, 1), 21, []),
    ],
)
def test_two_batches_are_combined_offset_by_offset(
    first: tuple[int, int, int, int],
    second: tuple[int, int, int, int],
    start: int,
    expected: list[tuple[int, int, int, int]],
    *,
    swapped: bool,
) -> None:
    """Neighbours that are alike become one; the higher count, then the higher state wins where they overlap."""
    earlier, new = (second, first) if swapped else (first, second)
    wanted = tuple(StateBatch(*each) for each in expected)
    assert combined((StateBatch(*earlier),), (StateBatch(*new),), start) == wanted
    assert combined((), (StateBatch(*earlier), StateBatch(*new)), start) == wanted
    assert combined(wanted, (), start) == wanted
