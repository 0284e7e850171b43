"""``partition_history`` merges changes as Kafka's ``PartitionRegistration``, and says what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment

from kafkawire.layout import Uuid
from kafkawire.logs import ReadOptions
from kafkawire.protocol import (
    ClearElrRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RemoveTopicRecord,
    TopicRecord,
)
from kafkawire.wire import Message

_ORDERS, _CLICKS = Uuid(b"o" * 16), Uuid(b"c" * 16)
_LARGEST = (1 << 31) - 1


def _created(topic_id: Uuid = _ORDERS, *, leader_epoch: int = 0) -> PartitionRecord:
    return PartitionRecord(
        0, topic_id, (1, 2, 3), (1, 2, 3), leader=1, leader_epoch=leader_epoch, partition_epoch=leader_epoch
    )


def _rows(tmp_path: Path, *records: Message, first: int = 0) -> list[Row]:
    """The rows of records that are a second apart; the first is at offset ``first``."""
    steps = [Step(1000 * (first + each + 1), (record,)) for each, record in enumerate(records)]
    write_segment(tmp_path / METADATA_LOG, first, steps)
    return history("partition_history", tmp_path)


def _chosen(row: Row, *names: str) -> tuple[object, ...]:
    return tuple(row[name] for name in names)


def test_a_partition_from_its_creation_to_the_deletion_of_its_topic(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        TopicRecord("orders", _ORDERS),
        _created(),
        PartitionChangeRecord(0, _ORDERS, isr=(1, 2)),
        PartitionChangeRecord(0, _ORDERS, leader=2, isr=(2,)),
        RemoveTopicRecord(_ORDERS),
    )
    names = ("leader", "leader_epoch", "isr", "is_under_replicated", "partition_epoch", "from_offset", "to_offset")
    assert [_chosen(row, *names) for row in rows] == [
        (1, 0, [1, 2, 3], False, 0, 1, 2),
        (1, 0, [1, 2], True, 1, 2, 3),
        (2, 1, [2], True, 2, 3, 4),
    ]
    assert [(row["valid_from"], row["valid_to"]) for row in rows] == [
        (time(each), time(each + 1000)) for each in (2000, 3000, 4000)
    ]
    assert {_chosen(row, "topic", "topic_id", "partition") for row in rows} == {("orders", str(_ORDERS), 0)}


def test_null_is_no_change_and_an_empty_list_is_one(tmp_path: Path) -> None:
    change = PartitionChangeRecord(0, _ORDERS, isr=(), leader=-1, eligible_leader_replicas=(1,), last_known_elr=(1,))
    (row,) = still_open(_rows(tmp_path, TopicRecord("orders", _ORDERS), _created(), change))
    assert _chosen(row, "leader", "isr", "replicas", "elr", "last_known_elr") == (-1, [], [1, 2, 3], [1], [1])


def test_naming_the_same_leader_begins_a_new_leader_epoch(tmp_path: Path) -> None:
    rows = _rows(tmp_path, TopicRecord("orders", _ORDERS), _created(), PartitionChangeRecord(0, _ORDERS, leader=1))
    assert [_chosen(row, "leader", "leader_epoch", "partition_epoch") for row in rows] == [(1, 0, 0), (1, 1, 1)]


def test_a_reassignment_begins_and_ends(tmp_path: Path) -> None:
    """Replicas that are being added do not make a partition under-replicated."""
    rows = _rows(
        tmp_path,
        TopicRecord("orders", _ORDERS),
        _created(),
        PartitionChangeRecord(0, _ORDERS, replicas=(4, 1, 2, 3), adding_replicas=(4,), removing_replicas=(3,)),
        PartitionChangeRecord(0, _ORDERS, isr=(4, 1, 2), replicas=(4, 1, 2), adding_replicas=(), removing_replicas=()),
    )
    names = ("replicas", "adding_replicas", "removing_replicas", "is_reassigning", "is_under_replicated")
    assert [_chosen(row, *names) for row in rows] == [
        ([1, 2, 3], [], [], False, False),
        ([4, 1, 2, 3], [4], [3], True, False),
        ([4, 1, 2], [], [], False, False),
    ]


def test_an_unclean_election_is_marked_until_the_leader_has_recovered(tmp_path: Path) -> None:
    changes = (
        PartitionChangeRecord(0, _ORDERS, leader=3, isr=(3,), leader_recovery_state=state) for state in (1, 0, 9)
    )
    rows = _rows(tmp_path, TopicRecord("orders", _ORDERS), _created(), *changes)
    assert [row["leader_recovery_state"] for row in rows] == ["RECOVERED", "RECOVERING", "RECOVERED", "UNKNOWN(9)"]


@pytest.mark.parametrize(("name", "cleared"), [("orders", {"orders"}), ("", {"orders", "clicks"}), ("other", set())])
def test_the_elr_of_one_topic_or_of_all_is_cleared(tmp_path: Path, name: str, cleared: set[str]) -> None:
    """KIP-966."""
    topics = {"orders": _ORDERS, "clicks": _CLICKS}
    made = [each for topic, its_id in topics.items() for each in (TopicRecord(topic, its_id), _created(its_id))]
    elrs = [PartitionChangeRecord(0, its_id, eligible_leader_replicas=(2,)) for its_id in topics.values()]
    rows = still_open(_rows(tmp_path, *made, *elrs, ClearElrRecord(name), ClearElrRecord(name)))
    assert {row["topic"] for row in rows if row["elr"] == []} == cleared
    assert {row["topic"]: row["partition_epoch"] for row in rows} == {
        topic: 2 if topic in cleared else 1 for topic in topics
    }


def test_a_log_without_its_beginning_has_what_changes_say(tmp_path: Path) -> None:
    """Nothing is invented: what no record says is null."""
    first, second = _rows(
        tmp_path,
        PartitionChangeRecord(0, _ORDERS, leader=2),
        PartitionChangeRecord(0, _ORDERS, isr=(2, 3)),
        ClearElrRecord(""),
        RemoveTopicRecord(_ORDERS),
        first=70,
    )[:2]
    names = ("topic", "leader", "leader_epoch", "isr", "replicas", "is_under_replicated", "is_reassigning", "elr")
    assert _chosen(first, *names) == (None, 2, None, None, None, None, None, None)
    assert _chosen(second, *names) == (None, 2, None, [2, 3], None, None, None, None)
    assert _chosen(second, "valid_from", "from_offset", "to_offset") == (time(72_000), 71, 72)


def test_a_snapshot_completes_what_changes_say(tmp_path: Path) -> None:
    """The row begins where the last change was, and has all its values."""
    folder = tmp_path / METADATA_LOG
    state = PartitionRecord(0, _ORDERS, (1, 2), (2,), leader=2, leader_epoch=8, partition_epoch=9)
    write_checkpoint(folder, 71, [TopicRecord("orders", _ORDERS), state], time=71_000)
    (row,) = _rows(tmp_path, PartitionChangeRecord(0, _ORDERS, leader=2), first=70)
    assert _chosen(row, "topic", "leader_epoch", "replicas", "isr") == ("orders", 8, [1, 2], [2])
    assert _chosen(row, "valid_from", "from_offset", "added_by_snapshot") == (time(71_000), 70, False)


def test_a_snapshot_that_says_otherwise_begins_a_row(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_checkpoint(folder, 71, [TopicRecord("orders", _ORDERS), _created()], time=71_000)
    ended, row = _rows(tmp_path, PartitionChangeRecord(0, _ORDERS, leader=2), first=70)
    assert _chosen(ended, "leader", "replicas", "to_offset") == (2, None, 71)
    assert _chosen(row, "leader", "replicas", "from_offset", "added_by_snapshot") == (1, [1, 2, 3], 71, True)


def test_a_change_of_a_partition_that_cannot_exist_is_no_row(tmp_path: Path) -> None:
    """Kafka would stop there. The log is whole, so the partition was never there."""
    assert _rows(tmp_path, TopicRecord("orders", _ORDERS), PartitionChangeRecord(5, _ORDERS, leader=1)) == []


def test_epochs_beyond_the_largest_number_do_not_stop_reading(tmp_path: Path) -> None:
    """They go on as in Java."""
    change = PartitionChangeRecord(0, _ORDERS, leader=2)
    rows = _rows(tmp_path, TopicRecord("orders", _ORDERS), _created(leader_epoch=_LARGEST), change)
    assert [row["leader_epoch"] for row in rows] == [_LARGEST, -_LARGEST - 1]


def test_partitions_as_of_a_time(tmp_path: Path) -> None:
    change = PartitionChangeRecord(0, _ORDERS, isr=(1, 2))
    _rows(tmp_path, TopicRecord("orders", _ORDERS), _created(), change)
    states = [history("partition_history", tmp_path, options=ReadOptions(as_of=time(at))) for at in (1000, 2500, 3000)]
    assert [[row["isr"] for row in rows] for rows in states] == [[], [[1, 2, 3]], [[1, 2]]]
