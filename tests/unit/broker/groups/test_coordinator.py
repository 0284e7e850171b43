from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.kafka_dumps import real_logs

from kafkawire.broker import CorruptLogError, ManualClock
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.state import Change
from kafkawire.protocol import EndTxnMarker, OffsetCommitKey, OffsetCommitValue
from kafkawire.records.control_records import ControlRecordType, encode_control_record
from kafkawire.records.coordinator_records import encode_coordinator_record
from kafkawire.wire.batches import Record, encode_batch

LOG = Path("__consumer_offsets-0") / "00000000000000000000.log"


def commit(group: str, partition: int, offset: int, topic: str = "t") -> Change:
    return OffsetCommitKey(group, topic, partition), OffsetCommitValue(offset, 3, "said", 1000)


def opened(folder: Path) -> GroupCoordinator:
    return GroupCoordinator.opened(folder, ManualClock())


def offsets(coordinator: GroupCoordinator) -> Mapping[str, Mapping[int, int]]:
    return {
        group.group_id: {partition: value.offset for (_, partition), value in group.commits.items()}
        for group in coordinator.state.by_id.values()
    }


async def test_what_is_durable_is_there_again(tmp_path: Path) -> None:
    coordinator = opened(tmp_path)
    coordinator.commit([commit("a", 0, 5), commit("a", 1, 6)])
    coordinator.commit([commit("b", 0, 7)])
    coordinator.commit([(OffsetCommitKey("a", "t", 1), None)])
    await coordinator.durable()
    copy = tmp_path / "copy"
    (copy / LOG.parent).mkdir(parents=True)
    (copy / LOG).write_bytes((tmp_path / LOG).read_bytes())
    await coordinator.close()
    again = opened(copy)
    assert offsets(again) == offsets(coordinator) == {"a": {0: 5}, "b": {0: 7}}
    assert again.state.by_id["a"].commits["t", 0] == OffsetCommitValue(5, 3, "said", 1000)
    await again.close()


async def test_a_group_that_is_deleted_stays_deleted(tmp_path: Path) -> None:
    coordinator = opened(tmp_path)
    coordinator.commit([commit("a", 0, 5), commit("b", 0, 6)])
    coordinator.commit([*coordinator.state.by_id["a"].removal()])
    await coordinator.close()
    again = opened(tmp_path)
    assert offsets(again) == {"b": {0: 6}}
    assert list(again.state.topics()) == ["t"]
    await again.close()


async def test_a_torn_tail_is_cut(tmp_path: Path) -> None:
    coordinator = opened(tmp_path)
    coordinator.commit([commit("a", 0, 5)])
    await coordinator.close()
    whole = (tmp_path / LOG).read_bytes()
    (tmp_path / LOG).write_bytes(whole + whole[:-1])
    again = opened(tmp_path)
    assert offsets(again) == {"a": {0: 5}}
    await again.close()


async def test_a_log_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / LOG.parent).mkdir()
    (tmp_path / LOG).write_bytes(encode_batch([Record(key=b"\0", value=b"?")]))
    with pytest.raises(CorruptLogError, match="offset 0"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("ending", "expected"),
    [(ControlRecordType.COMMIT, {"a": {0: 5}}), (ControlRecordType.ABORT, {}), (None, {})],
    ids=["committed", "aborted", "open"],
)
async def test_commits_of_transactions_count_when_they_are_committed(
    tmp_path: Path, ending: ControlRecordType | None, expected: Mapping[str, Mapping[int, int]]
) -> None:
    key, value = encode_coordinator_record("__consumer_offsets", *commit("a", 0, 5), 3)
    log = encode_batch(
        [Record(key=key, value=value)], producer_id=9, producer_epoch=0, base_sequence=0, transactional=True
    )
    if ending is not None:
        key, value = encode_control_record(ending, EndTxnMarker(), 0)
        marker = [Record(key=key, value=value)]
        log += encode_batch(marker, base_offset=1, producer_id=9, producer_epoch=0, transactional=True, control=True)
    (tmp_path / LOG.parent).mkdir()
    (tmp_path / LOG).write_bytes(log)
    coordinator = opened(tmp_path)
    assert offsets(coordinator) == expected
    await coordinator.close()


async def test_a_log_that_has_been_overtaken_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kafkawire.broker.groups.coordinator._FEW", 100)
    coordinator = opened(tmp_path)
    for offset in range(1000):
        coordinator.commit([commit("a", 0, offset), commit("b", offset % 3, offset)])
        await coordinator.durable()
    await coordinator.close()
    size = sum(path.stat().st_size for path in (tmp_path / LOG.parent).iterdir())
    assert size < 30_000
    again = opened(tmp_path)
    assert offsets(again) == offsets(coordinator)
    await again.close()


async def test_without_a_directory_nothing_is_kept() -> None:
    coordinator = GroupCoordinator.opened(None, ManualClock())
    coordinator.commit([commit("a", 0, 5)])
    await coordinator.durable()
    assert offsets(coordinator) == {"a": {0: 5}}
    await coordinator.close()


@pytest.mark.parametrize("number", [0, 1])
async def test_a_log_of_kafka_is_read(tmp_path: Path, number: int) -> None:
    """The newest that Kafka's own tool says of each partition of a group; records of members are passed over."""
    real = next(log for log in real_logs() if log.name == f"__consumer_offsets-{number}/{LOG.name}")
    (tmp_path / LOG.parent).mkdir()
    (tmp_path / LOG).write_bytes(real.read_bytes())
    said: dict[tuple[str, str, int], int] = {}
    for rest in (record.rest for batch in real.read_dump() for record in batch.records):
        found = re.search(r'key: ({"type":"1",.*?}}) payload: (.*)$', rest)
        if found is None:
            continue
        key, value = json.loads(found[1])["data"], json.loads(found[2]) if found[2] != "<DELETE>" else None
        where = (key["group"], key["topic"], key["partition"])
        if value is None:
            said.pop(where, None)
        else:
            said[where] = value["data"]["offset"]
    coordinator = opened(tmp_path)
    assert said == {
        (group.group_id, *partition): value.offset
        for group in coordinator.state.by_id.values()
        for partition, value in group.commits.items()
    }
    assert said
    await coordinator.close()
