"""Logs of record batches: when they are durable, and their state after an error."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from tests.embedded.synced_paths import synced_paths

from kafkawire.broker.storage.batch_log import BatchLog
from kafkawire.broker.storage.errors import CorruptLogError, StorageError
from kafkawire.broker.storage.segments import list_segments
from kafkawire.broker.storage.unwritten_batches import KeyValue, Producer
from kafkawire.wire.batches import decode_records, read_batches

LARGE = 1 << 30


NOW = 7


def records(*values: bytes) -> list[KeyValue]:
    return [(None, value) for value in values]


def values_of(log: BatchLog) -> list[tuple[int, bytes | None]]:
    return [(record.offset, record.value) for batch in log.batches() for record in decode_records(batch)]


def note_system_calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the calls that write, as they are made."""
    done: list[str] = []
    write, fsync = os.write, os.fsync

    def noted_write(descriptor: int, data: bytes) -> int:
        done.append("write")
        return write(descriptor, data)

    def noted_fsync(descriptor: int) -> None:
        done.append("fsync")
        fsync(descriptor)

    monkeypatch.setattr(os, "write", noted_write)
    monkeypatch.setattr(os, "fsync", noted_fsync)
    return done


async def test_durable_batches_are_there_after_the_next_start(tmp_path: Path) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.leader_epoch = 3
    assert log.append(records(b"a", b"b"), NOW) == 0
    assert log.append(records(b"c"), NOW) == 2
    assert not log.is_durable(3)
    await log.durable(3)
    assert log.is_durable(3)
    await log.close()

    again = BatchLog(tmp_path, segment_bytes=LARGE)
    assert values_of(again) == [(0, b"a"), (1, b"b"), (2, b"c")]
    assert (again.end_offset, again.leader_epoch) == (3, 3)
    assert again.append(records(b"d"), NOW) == 3
    await again.close()
    assert values_of(BatchLog(tmp_path, segment_bytes=LARGE))[-1] == (3, b"d")


async def test_appends_of_the_same_moment_share_one_batch_and_one_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"the first batch of a segment is noted"), NOW)
    await log.durable(1)
    done = note_system_calls(monkeypatch)
    for number in range(100):
        log.append(records(b"%d" % number), NOW)
    await log.durable(101)
    assert done == ["write", "fsync"]
    await log.close()
    _, batch = read_batches((tmp_path / "00000000000000000000.log").read_bytes())
    assert batch.records_count == 100


async def test_a_batch_has_one_append_time_that_of_the_records_that_began_it(tmp_path: Path) -> None:
    """As KRaft demands it: the times of records that join a batch later may differ in both directions."""
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    for timestamp in (1000, 1003, 998):
        log.append(records(b"joined"), timestamp)
    assert log.last_timestamp == 1000
    log.seal()
    log.append(records(b"another batch"), 1005)
    await log.close()
    again = BatchLog(tmp_path, segment_bytes=LARGE)
    batches = [*again.batches()]
    assert [[record.timestamp for record in decode_records(batch)] for batch in batches] == [[1000] * 3, [1005]]
    assert [(batch.base_timestamp, batch.max_timestamp) for batch in batches] == [(1000, 1000), (1005, 1005)]
    assert again.last_timestamp == 1005


async def test_a_shared_batch_is_no_larger_than_the_largest_of_kraft(tmp_path: Path) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    for _ in range(3):
        log.append(records(bytes(3 * 1024 * 1024)), NOW)
    await log.close()
    sizes = [batch.records_count for batch in BatchLog(tmp_path, segment_bytes=LARGE).batches()]
    assert sizes == [2, 1]


async def test_a_batch_is_written_only_when_the_one_before_is_durable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So damage before a complete batch cannot come from an unfinished write."""
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"the first batch of a segment is noted"), NOW)
    await log.durable(1)
    done = note_system_calls(monkeypatch)
    for number in range(3):
        log.append(records(b"%d" % number), NOW)
        log.seal()
    await log.durable(4)
    assert done == ["write", "fsync"] * 3
    await log.close()


async def test_control_records_and_new_leaders_have_batches_of_their_own(tmp_path: Path) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"a"), NOW)
    log.append(records(b"b"), NOW, control=True)
    log.leader_epoch = 1
    log.append(records(b"c"), NOW, control=True)
    await log.close()
    batches = [*BatchLog(tmp_path, segment_bytes=LARGE).batches()]
    assert [(each.is_control, each.partition_leader_epoch) for each in batches] == [(False, -1), (True, -1), (True, 1)]


async def test_a_full_segment_is_followed_by_a_new_one(tmp_path: Path) -> None:
    log = BatchLog(tmp_path, segment_bytes=200)
    for _ in range(5):
        log.append(records(bytes(60)), NOW)
        log.seal()
    await log.close()
    assert [segment.base_offset for segment in list_segments(tmp_path)] == [0, 1, 2, 3, 4]
    again = BatchLog(tmp_path, segment_bytes=200)
    assert len(values_of(again)) == 5
    await again.delete_before(3)
    assert [segment.base_offset for segment in list_segments(tmp_path)] == [3, 4]
    assert again.start_offset == 3
    await again.close()


async def test_a_segment_that_is_needed_in_part_is_kept(tmp_path: Path) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"a", b"b"), NOW)
    await log.durable(2)
    assert await log.roll() == 2
    log.append(records(b"c", b"d"), NOW)
    await log.durable(4)
    await log.delete_before(1)
    assert log.start_offset == 0
    await log.delete_before(3)
    assert log.start_offset == 2
    assert [await log.roll(), await log.roll()] == [4, 4], "an empty segment is not followed by another one"
    await log.delete_before(4)
    assert [segment.base_offset for segment in list_segments(tmp_path)] == [4]
    await log.close()


async def test_a_log_that_ends_before_a_snapshot_continues_after_it(tmp_path: Path) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"a"), NOW)
    await log.close()
    again = BatchLog(tmp_path, segment_bytes=LARGE, start_offset=10)
    assert (again.end_offset, values_of(again)) == (10, [])
    await again.close()
    assert [segment.base_offset for segment in list_segments(tmp_path)] == [10]


def test_a_log_whose_beginning_is_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "00000000000000000007.log").touch()
    with pytest.raises(CorruptLogError, match=r"begins at offset 7, and nothing has the records from 5 on"):
        BatchLog(tmp_path, segment_bytes=LARGE, start_offset=5)
    assert BatchLog(tmp_path, segment_bytes=LARGE).end_offset == 7


@pytest.mark.parametrize("failing", ["write", "fsync"])
async def test_after_an_error_nothing_is_acknowledged_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    told: list[StorageError] = []
    log = BatchLog(tmp_path, segment_bytes=LARGE, on_failure=told.append)
    log.append(records(b"kept"), NOW)
    await log.durable(1)

    def fail(*_arguments: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, fail)
    log.append(records(b"lost"), NOW)
    with pytest.raises(StorageError, match=r"00000000000000000000\.log: writing the records from offset 1 on failed"):
        await log.durable(2)
    monkeypatch.undo()
    with pytest.raises(StorageError, match="No space left on device"):
        log.append(records(b"later"), NOW)
    with pytest.raises(StorageError, match="Free space or repair the disk, then start the broker again"):
        await log.durable(2)
    assert not log.is_durable(2)
    assert told == [log.failure]
    await log.close()
    assert values_of(BatchLog(tmp_path, segment_bytes=LARGE))[0] == (0, b"kept")


async def test_an_unfinished_write_is_cut_off_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"kept"), NOW)
    await log.durable(1)
    write, left = os.write, [30]

    def write_some(descriptor: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, data[: left[0]])
        left[0] -= written
        return written

    monkeypatch.setattr(os, "write", write_some)
    log.append(records(b"lost"), NOW)
    with pytest.raises(StorageError):
        await log.durable(2)
    monkeypatch.undo()
    await log.close()
    assert values_of(BatchLog(tmp_path, segment_bytes=LARGE)) == [(0, b"kept")]


async def test_a_segment_is_appended_whole(tmp_path: Path) -> None:
    """What was appended before and after it is in other segments."""
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"before"), NOW)
    producer = Producer(7, 1)
    assert log.append_segment([(None, records(b"a", b"b")), (producer, records(b"c"))], 3, NOW) == 1
    log.append(records(b"after"), NOW)
    await log.close()
    assert [segment.base_offset for segment in list_segments(tmp_path)] == [0, 1]
    again = BatchLog(tmp_path, segment_bytes=LARGE)
    assert values_of(again) == [(0, b"before"), (1, b"a"), (2, b"b"), (3, b"c"), (4, b"after")]
    assert [batch.producer_id for batch in again.batches()] == [-1, -1, 7, -1]
    await again.close()


async def test_a_segment_without_batches_follows_what_is_there(tmp_path: Path) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"a"), NOW)
    await log.durable(1)
    await log.roll()
    start = log.append_segment([], 0, NOW)
    assert start == 1
    log.append(records(b"b"), NOW)
    await log.durable(2)
    await log.delete_before(start)
    await log.close()
    assert values_of(BatchLog(tmp_path, segment_bytes=LARGE)) == [(1, b"b")]


@pytest.mark.parametrize("writes", [0, 1, 2])
async def test_an_incomplete_segment_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"before"), NOW)
    await log.durable(1)
    done = note_system_calls(monkeypatch)
    write = os.write

    def full(descriptor: int, data: bytes) -> int:
        if done.count("write") == writes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(Path, "unlink", lambda *_arguments, **_options: None)  # as after a crash
    log.append_segment([(None, records(b"a")), (Producer(7, 1), records(b"b")), (None, records(b"c"))], 3, NOW)
    with pytest.raises(StorageError, match="No space left"):
        await log.durable(4)
    monkeypatch.undo()
    await log.close()
    assert (tmp_path / "00000000000000000001.log.part").exists()
    again = BatchLog(tmp_path, segment_bytes=LARGE)
    assert values_of(again) == [(0, b"before")]
    assert not (tmp_path / "00000000000000000001.log.part").exists()
    await again.close()


async def filled(folder: Path, batches: int, segment_bytes: int = 200) -> None:
    """A log with the given number of batches, by default each in a segment of its own."""
    log = BatchLog(folder, segment_bytes=segment_bytes)
    for _ in range(batches):
        log.append(records(bytes(60)), NOW)
        log.seal()
    await log.close()


async def test_a_log_whose_newest_segment_is_missing_is_refused(tmp_path: Path) -> None:
    await filled(tmp_path, 3)
    newest = list_segments(tmp_path)[-1].path
    content = newest.read_bytes()
    newest.unlink()
    checkpoint = tmp_path / "end-offset-checkpoint"
    with pytest.raises(CorruptLogError) as refused:
        BatchLog(tmp_path, segment_bytes=200)
    assert str(refused.value) == (
        f"{tmp_path}: the log ends at offset 2, but according to end-offset-checkpoint it had all records below 3, so "
        "its newest segment is missing or truncated; put the segment back, or restore the directory from a backup. To "
        f"continue without these records, delete {checkpoint}"
    )
    newest.write_bytes(content)
    assert BatchLog(tmp_path, segment_bytes=200).end_offset == 3
    newest.unlink()
    checkpoint.unlink()
    assert BatchLog(tmp_path, segment_bytes=200).end_offset == 2


async def test_a_segment_is_noted_with_its_first_batch(tmp_path: Path) -> None:
    """Not only when the log is closed: a broker that was killed has no time for that."""
    log = BatchLog(tmp_path, segment_bytes=200)
    for number in range(3):
        log.append(records(bytes(60)), NOW)
        await log.durable(number + 1)
        assert (tmp_path / "end-offset-checkpoint").read_text() == f"0\n{number + 1}\n"
    await log.close()


async def test_a_last_batch_that_was_durable_for_certain_is_not_cut_off(tmp_path: Path) -> None:
    await filled(tmp_path, 2, LARGE)
    (segment,) = list_segments(tmp_path)
    content = segment.path.read_bytes()
    segment.path.write_bytes(content[:-1])
    with pytest.raises(CorruptLogError, match="all records below 2 were durable, so this is not an incomplete write"):
        BatchLog(tmp_path, segment_bytes=LARGE)
    assert segment.path.read_bytes() == content[:-1]


@pytest.mark.parametrize("text", ["", "0\n", "1\n5\n", "0\nfive\n", "0\n5\nmore\n", "0\n-5\n", "\xff"])
def test_a_checkpoint_that_makes_no_sense_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "end-offset-checkpoint").write_text(text, "latin-1")
    with pytest.raises(
        StorageError, match=r"end-offset-checkpoint: expected version 0 and an offset; restore the file"
    ):
        BatchLog(tmp_path, segment_bytes=LARGE)


async def test_a_checkpoint_that_cannot_be_written_at_the_end_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log = BatchLog(tmp_path, segment_bytes=LARGE)
    log.append(records(b"a"), NOW)
    await log.durable(1)
    log.append(records(b"b"), NOW)
    await log.durable(2)

    def full(path: Path, *_arguments: int) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(os, "open", full)
    await log.close()
    monkeypatch.undo()
    assert "end-offset-checkpoint: not written: [Errno 28] No space left on device" in caplog.text
    assert BatchLog(tmp_path, segment_bytes=LARGE).end_offset == 2


async def test_the_name_of_a_new_log_is_durable(tmp_path: Path) -> None:
    with synced_paths() as synced:
        log = BatchLog(tmp_path / "new" / "log-0", segment_bytes=LARGE)
    await log.close()
    assert {tmp_path, tmp_path / "new", tmp_path / "new" / "log-0"} <= synced


async def test_what_a_killed_broker_may_have_written_is_durable_after_the_next_start(tmp_path: Path) -> None:
    """A broker that is killed between a write and its fsync leaves a batch that a power failure takes away again."""
    folder = tmp_path / "log-0"
    log = BatchLog(folder, segment_bytes=LARGE)
    log.append(records(b"a"), NOW)
    await log.close()
    with synced_paths() as synced:
        again = BatchLog(folder, segment_bytes=LARGE)
    await again.close()
    assert {folder / f"{0:020d}.log", folder, tmp_path} <= synced
