from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kafkawire.broker import CorruptLogError, ManualClock
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.groups.state import Change
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
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
