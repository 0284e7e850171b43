"""The states of partitions in share groups, from the records of the share coordinator."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest
from tests.kafka_logs.dumps import FIXTURES, parse_dump
from tests.kafka_logs.histories import Row, history, still_open, time
from tests.made.logs import SHARES_LOG, Written, write_batches, write_coordinator_segment

from kafkawire.layout import Uuid
from kafkawire.logs import Accounts, LogReadError, ReadMode, ReadOptions
from kafkawire.protocol import ShareSnapshotKey, ShareSnapshotValue, ShareUpdateKey, ShareUpdateValue
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, encode_batch

_LOGS = FIXTURES / "logs"
_TOPIC = "__share_group_state"
_ID = Uuid(b"t" * 16)
_NAMES = {0: "AVAILABLE", 2: "ACKNOWLEDGED", 4: "ARCHIVED"}
_Batch: TypeAlias = tuple[int, int, int, int]
"""First and last offset, state, number of deliveries."""


def _snapshot(*batches: _Batch, start: int = 0, epoch: int = 1) -> tuple[Message, Message]:
    listed = tuple(ShareSnapshotValue.StateBatch(*batch) for batch in batches)
    value = ShareSnapshotValue(
        0, epoch, leader_epoch=3, start_offset=start, delivery_complete_count=5, state_batches=listed
    )
    return ShareSnapshotKey("g", _ID, 2), value


def _update(*batches: _Batch, start: int = -1, leader_epoch: int = -1, complete: int = -1) -> tuple[Message, Message]:
    listed = tuple(ShareUpdateValue.StateBatch(*batch) for batch in batches)
    value = ShareUpdateValue(0, leader_epoch, start, complete, listed)
    return ShareUpdateKey("g", _ID, 2), value


def _rows(tmp_path: Path, *records: tuple[Message, Message | None], options: ReadOptions | None = None) -> list[Row]:
    batches = [Written(1000 * (at + 1), ((key, value, 0),)) for at, (key, value) in enumerate(records)]
    write_coordinator_segment(tmp_path / SHARES_LOG, 0, batches, _TOPIC)
    return history("share_group_history", tmp_path, options=options)


def _counts(row: Row) -> tuple[object, ...]:
    return row["available"], row["acknowledged"], row["archived"]


def test_a_row_has_all_of_a_state(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, _snapshot((0, 4, 2, 1), (5, 5, 0, 2), (6, 8, 0, 1), (9, 9, 4, 5)))
    place = {"cluster", "file", "batch_position", "leader_epoch"}
    assert {name: cell for name, cell in row.items() if name not in place} == {
        "log_offset": 0,
        "append_time": time(1000),
        "group_id": "g",
        "topic_id": str(_ID),
        "partition": 2,
        "start_offset": 0,
        "delivery_complete_count": 5,
        "available": 4,
        "acknowledged": 5,
        "archived": 1,
        "deliveries": [
            {"state": "AVAILABLE", "delivery_count": 1, "records": 3},
            {"state": "ACKNOWLEDGED", "delivery_count": 1, "records": 5},
            {"state": "AVAILABLE", "delivery_count": 2, "records": 1},
            {"state": "ARCHIVED", "delivery_count": 5, "records": 1},
        ],
        "state_epoch": 1,
        "partition_leader_epoch": 3,
        "valid_from": time(1000),
        "valid_to": None,
        "from_offset": 0,
        "to_offset": None,
        "_error": None,
        "_corrupt_record": None,
    }


def test_an_update_changes_what_it_states(tmp_path: Path) -> None:
    rows = _rows(
        tmp_path,
        _snapshot((0, 9, 0, 1)),
        _update((0, 3, 2, 1), complete=4),
        _update(start=4, leader_epoch=6, complete=0),
        _snapshot((4, 9, 2, 1), start=4, epoch=2),
        (ShareSnapshotKey("g", _ID, 2), None),
    )
    names = ("start_offset", "delivery_complete_count", "partition_leader_epoch", "state_epoch", "to_offset")
    assert [(*_counts(row), *(row[name] for name in names)) for row in rows] == [
        (10, 0, 0, 0, 5, 3, 1, 1),
        (6, 4, 0, 0, 4, 3, 1, 2),
        (6, 0, 0, 4, 0, 6, 1, 3),
        (0, 6, 0, 4, 5, 3, 2, 4),
    ]


@pytest.mark.parametrize(
    ("before", "now", "counts"),
    [
        ((0, 9, 0, 1), (3, 5, 0, 2), {(0, 1): 7, (0, 2): 3}),  # delivered again, and released again
        ((0, 9, 0, 2), (3, 5, 2, 1), {(0, 2): 10}),  # fewer deliveries are older
        ((0, 9, 2, 1), (5, 12, 0, 1), {(2, 1): 10, (0, 1): 3}),  # of as many deliveries the higher state is later
        ((0, 4, 0, 1), (5, 9, 0, 1), {(0, 1): 10}),
        ((0, 4, 0, 1), (20, 24, 4, 1), {(0, 1): 5, (4, 1): 5}),
    ],
)
def test_of_overlapping_batches_the_later_delivery_counts(
    before: _Batch, now: _Batch, counts: dict[tuple[int, int], int], tmp_path: Path
) -> None:
    *_, row = _rows(tmp_path, _snapshot(before), _update(now))
    found = {(each["state"], each["delivery_count"]): each["records"] for each in row["deliveries"]}
    assert found == {(_NAMES[state], times): records for (state, times), records in counts.items()}


def test_an_update_without_its_snapshot_has_no_deliveries(tmp_path: Path) -> None:
    """The beginning of the log was deleted: the batches of an update are only some of all."""
    first, second = _rows(
        tmp_path,
        _update((5, 6, 2, 1), start=5, leader_epoch=4),
        _update((7, 7, 2, 1)),
        _snapshot((9, 9, 2, 1), start=9),
    )
    assert (first["start_offset"], first["partition_leader_epoch"], first["state_epoch"]) == (5, 4, None)
    assert first["deliveries"] is None
    assert _counts(first) == (None, None, None)
    assert (first["to_offset"], second["to_offset"]) == (2, None)
    assert _counts(second) == (0, 1, 0)


def test_an_equal_snapshot_adds_no_row(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, _snapshot((0, 4, 2, 1)), _snapshot((3, 4, 2, 1), (0, 2, 2, 1)))
    assert row["to_offset"] is None


def test_partitions_of_groups_are_rows_of_their_own(tmp_path: Path) -> None:
    _, value = _snapshot((0, 0, 2, 1))
    keys = [ShareSnapshotKey(group, _ID, number) for group in ("g", "h") for number in (0, 1)]
    rows = _rows(tmp_path, *((key, value) for key in keys), (keys[1], None))
    assert [(row["group_id"], row["partition"], row["valid_to"]) for row in rows] == [
        ("g", 1, time(5000)),
        ("g", 0, None),
        ("h", 0, None),
        ("h", 1, None),
    ]


def test_the_state_is_unknown_from_an_update_that_cannot_be_read_to_the_next_snapshot(tmp_path: Path) -> None:
    records = [
        encode_coordinator_record(_TOPIC, key, value, 0)
        for key, value in (_snapshot((0, 9, 0, 1)), _update((0, 3, 2, 1)), _update(start=4), _snapshot((4, 9, 2, 1)))
    ]
    (update_key, _), later = records[1], records[2:]
    batches = [
        encode_batch([Record(timestamp=1000, key=key, value=value)], base_offset=at)
        for at, (key, value) in enumerate((records[0], (update_key, b"\0\0\0"), *later))
    ]
    write_batches(tmp_path / SHARES_LOG, 0, batches)
    accounts = Accounts()
    rows = history("share_group_history", tmp_path, accounts=accounts)
    assert [(row["_error"], row["start_offset"], *_counts(row)) for row in rows] == [
        (None, 0, 10, 0, 0),
        ("decode_error", None, None, None, None),
        (None, 4, None, None, None),
        (None, 0, 0, 6, 0),
    ]
    assert accounts.errors == {"decode_error": 1}


@pytest.mark.parametrize("batch", [(5, 4, 2, 1), (-1, 4, 2, 1), (0, (1 << 63) - 1, 2, 1)])
def test_batches_with_impossible_offsets_are_an_error(batch: _Batch, tmp_path: Path) -> None:
    rows = _rows(tmp_path, _snapshot((0, 1, 2, 1)), _update(batch), _update(start=1))
    assert [(row["_error"], row["available"]) for row in rows] == [(None, 0), ("decode_error", None), (None, None)]
    with pytest.raises(LogReadError, match="a batch of deliveries has offsets") as caught:
        history("share_group_history", tmp_path, options=ReadOptions(mode=ReadMode.FAILFAST))
    assert (caught.value.code, caught.value.offset) == ("decode_error", 1)


def test_an_update_without_a_value_is_an_error(tmp_path: Path) -> None:
    """Kafka writes tombstones of snapshots only, and cannot load others."""
    rows = _rows(tmp_path, _snapshot((0, 1, 2, 1)), (ShareUpdateKey("g", _ID, 2), None))
    assert [row["_error"] for row in rows] == [None, "decode_error"]


def test_a_state_of_a_newer_kafka_has_its_number(tmp_path: Path) -> None:
    (row,) = _rows(tmp_path, _snapshot((0, 1, 9, 1), (2, 2, 1, 1)))
    assert [each["state"] for each in row["deliveries"]] == ["ACQUIRED", "UNKNOWN(9)"]
    assert _counts(row) == (0, 0, 0)


def test_the_real_states_are_those_of_a_replay_of_the_dump() -> None:
    """Offset by offset: of the deliveries of an offset from the start on, the greatest."""
    rows = {row["from_offset"]: row for row in history("share_group_history", _LOGS)}
    states: dict[tuple[Any, ...], dict[int, tuple[int, int]]] = {}
    starts: dict[tuple[Any, ...], int] = {}
    seen = 0
    for offset, key, data in _dumped():
        if key["type"] == "0":
            states[of := tuple(key["data"].values())] = {}
            starts[of] = data["startOffset"]
        of = tuple(key["data"].values())
        if data["startOffset"] >= 0:
            starts[of] = data["startOffset"]
        for batch in data["stateBatches"]:
            for each in range(batch["firstOffset"], batch["lastOffset"] + 1):
                delivery = (batch["deliveryCount"], batch["deliveryState"])
                states[of][each] = max(delivery, states[of].get(each, delivery))
        states[of] = {at: delivery for at, delivery in states[of].items() if at >= starts[of]}
        row = rows[offset]
        seen += 1
        assert (row["group_id"], row["topic_id"], row["partition"]) == of
        assert row["start_offset"] == (None if starts[of] < 0 else starts[of])
        held = [state for _, state in states[of].values()]
        assert _counts(row) == (held.count(0), held.count(2), held.count(4))
        assert row["partition_leader_epoch"] == data["leaderEpoch"]
        complete = data.get("deliveryCompleteCount", -1)
        assert row["delivery_complete_count"] == (None if complete < 0 else complete)
        if complete > 0:
            assert complete == row["acknowledged"] + row["archived"]
    assert seen == len(rows) == 36


def _dumped() -> list[tuple[int, dict[str, Any], dict[str, Any]]]:
    found = []
    for batch in parse_dump((FIXTURES / "dumps" / f"{SHARES_LOG}.{0:020d}.log.txt").read_text()):
        for record in batch.records:
            key, _, payload = record.rest.removeprefix("key: ").partition(" payload: ")
            found.append((record.offset, msgspec.json.decode(key), msgspec.json.decode(payload)["data"]))
    return found


def test_the_real_end_state_is_that_of_the_admin() -> None:
    end_state = msgspec.json.decode((FIXTURES / "end-state.json").read_bytes(), type=dict[str, Any])
    names = {row["topic_id"]: row["name"] for row in history("topic_history", _LOGS)}
    ours = {
        (row["group_id"], names[row["topic_id"]], row["partition"]): (
            row["start_offset"],
            row["partition_leader_epoch"],
        )
        for row in still_open(history("share_group_history", _LOGS))
    }
    theirs = {}
    for each in end_state["share_group_offsets"]:
        said = dict(part.split("=") for part in each["info"].partition("{")[2].rstrip("}").split(", "))
        theirs[each["group_id"], each["topic"], each["partition"]] = (
            int(said["startOffset"]),
            int(said["leaderEpoch"]),
        )
    assert ours == theirs
    assert len(ours) == 5
