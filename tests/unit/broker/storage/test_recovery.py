"""Damaged logs: tails are cut, anything else is refused."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkawire.broker.storage.batch_log import BatchLog
from kafkawire.broker.storage.errors import CorruptLogError
from kafkawire.wire.batches import Record, decode_records, encode_batch

FIRST = encode_batch([Record(value=b"one"), Record(value=b"two")], partition_leader_epoch=1)
SECOND = encode_batch([Record(value=b"three")], base_offset=2, partition_leader_epoch=1)
LAST = encode_batch([Record(value=b"four"), Record(value=b"five")], base_offset=3, partition_leader_epoch=2)
WHOLE = FIRST + SECOND + LAST
NOT_COVERED = range(12, 16)
"""The leader epoch is written by brokers on batches that others have sealed, so no CRC covers it."""
LAST_BYTE_OF_OFFSET = 7


@pytest.fixture(autouse=True)
def no_fsync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of logs are cut here, and no power is cut."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)


def write(folder: Path, content: bytes, base_offset: int = 0) -> Path:
    path = folder / f"{base_offset:020d}.log"
    path.write_bytes(content)
    return path


def read(folder: Path, *, compacted: bool = False) -> list[bytes | None]:
    log = BatchLog(folder, segment_bytes=1 << 30, compacted=compacted)
    return [record.value for batch in log.batches() for record in decode_records(batch)]


@pytest.mark.parametrize("size", range(len(WHOLE) + 1))
def test_a_log_that_ends_anywhere_is_cut_at_its_last_whole_batch(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, size: int
) -> None:
    path = write(tmp_path, WHOLE[:size])
    whole = max(end for end in (0, len(FIRST), len(FIRST + SECOND), len(WHOLE)) if end <= size)
    with caplog.at_level(logging.WARNING):
        values = read(tmp_path)
    assert values == [b"one", b"two", b"three", b"four", b"five"][: {0: 0, len(FIRST): 2, len(WHOLE): 5}.get(whole, 3)]
    assert path.read_bytes() == WHOLE[:whole]
    if size == whole:
        assert caplog.messages == []
    else:
        (message,) = caplog.messages
        assert message.startswith(
            f"{path}: cut off {size - whole} bytes at byte {whole}, after offset {len(values) - 1}: "
        )


@pytest.mark.parametrize("position", range(len(WHOLE)))
def test_a_wrong_bit_in_the_last_batch_cuts_it_and_one_before_it_is_refused(tmp_path: Path, position: int) -> None:
    """Whether a complete last batch was cut later: it cannot be distinguished from an unfinished write."""
    for bit in (1, 128):
        content = bytearray(WHOLE)
        content[position] ^= bit
        path = write(tmp_path, bytes(content))
        batch = 0 if position < len(FIRST) else 1 if position < len(FIRST + SECOND) else 2
        start = (0, len(FIRST), len(FIRST + SECOND))[batch]
        offset = (0, 2, 3)[batch]
        if position - start in NOT_COVERED:
            assert len(read(tmp_path)) == 5
        elif position == len(FIRST + SECOND) + LAST_BYTE_OF_OFFSET and bit == 128:
            # No CRC covers the offset: a batch that is whole, of an offset that is to come, is no unfinished write.
            with pytest.raises(CorruptLogError, match="the batch of offset 131 at byte"):
                read(tmp_path)
            assert path.read_bytes() == content
        elif batch == 2:
            assert read(tmp_path) == [b"one", b"two", b"three"]
            assert path.read_bytes() == FIRST + SECOND
        else:
            with pytest.raises(CorruptLogError) as refused:
                read(tmp_path)
            expected = f"{path}: damaged at byte {start}, where offset {offset} should be ("
            assert str(refused.value).startswith(expected)
            assert path.read_bytes() == content


@pytest.mark.parametrize("garbage", [bytes(500), b"\xff" * 500, FIRST[:-1], SECOND, FIRST + SECOND])
def test_bytes_that_are_no_batch_of_the_log_are_cut_off(tmp_path: Path, garbage: bytes) -> None:
    """Batches of lower offsets are not what follows: blocks of deleted files look like that."""
    path = write(tmp_path, WHOLE + garbage)
    assert len(read(tmp_path)) == 5
    assert path.read_bytes() == WHOLE


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ([(0, FIRST), (2, SECOND), (3, LAST)], 5),
        ([(0, FIRST), (2, SECOND), (3, LAST[:-1])], 3),
        ([(0, FIRST), (2, SECOND), (3, b"")], 3),
        ([(0, FIRST), (2, SECOND[:-1]), (3, b"")], 2),
        ([(0, FIRST[:20]), (2, SECOND[:20]), (3, LAST[:20])], 0),
    ],
    ids=["whole", "torn", "empty", "torn before an empty one", "torn everywhere"],
)
def test_segments_after_the_cut_are_deleted(
    tmp_path: Path, segments: Sequence[tuple[int, bytes]], expected: int
) -> None:
    for base_offset, content in segments:
        write(tmp_path, content, base_offset)
    assert len(read(tmp_path)) == expected
    assert len(read(tmp_path)) == expected


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (
            [(0, FIRST[:-1]), (2, SECOND)],
            r"0\.log: damaged at byte 0, where offset 0 should be .* in 0+2\.log is valid",
        ),
        ([(0, FIRST), (2, SECOND[:-1]), (3, LAST)], r"0+2\.log: damaged at byte 0, where offset 2 should be"),
        ([(0, FIRST), (3, LAST)], r"the records from offset 2 on are missing before 0+3\.log"),
        ([(0, FIRST + SECOND), (2, SECOND)], r"the records from offset 3 on are missing before 0+2\.log"),
    ],
    ids=["first", "middle", "missing", "twice"],
)
def test_damage_before_whole_segments_is_refused(
    tmp_path: Path, segments: Sequence[tuple[int, bytes]], message: str
) -> None:
    contents = {write(tmp_path, content, base_offset): content for base_offset, content in segments}
    with pytest.raises(CorruptLogError, match=message):
        read(tmp_path)
    assert {path: path.read_bytes() for path in contents} == contents


def test_records_that_hold_the_bytes_of_batches_are_no_batches_that_follow(tmp_path: Path) -> None:
    inner = encode_batch([Record(value=b"x")], base_offset=0)
    content = FIRST + encode_batch([Record(value=inner)], base_offset=2)
    write(tmp_path, content[:-1])
    assert read(tmp_path) == [b"one", b"two"]


COMPACTED = [(0, FIRST + LAST), (9, encode_batch([Record(value=b"six")], base_offset=1_000_000))]
"""As Kafka's log cleaner leaves a log: whole batches are gone, and so are the beginnings of segments."""


def test_gaps_between_batches_are_read_where_logs_are_compacted(tmp_path: Path) -> None:
    for base_offset, content in COMPACTED:
        write(tmp_path, content, base_offset)
    assert read(tmp_path, compacted=True) == [b"one", b"two", b"four", b"five", b"six"]
    assert BatchLog(tmp_path, segment_bytes=1 << 30, compacted=True).end_offset == 1_000_001
    with pytest.raises(CorruptLogError):
        read(tmp_path)


def test_damage_before_whole_batches_is_refused_in_compacted_logs_too(tmp_path: Path) -> None:
    (_, first), (at, second) = COMPACTED
    path = write(tmp_path, first[:-1])
    write(tmp_path, second, at)
    with pytest.raises(
        CorruptLogError, match=r"damaged at byte \d+, where offset 2 should be .* offset 1000000 in 0+9"
    ):
        read(tmp_path, compacted=True)
    assert path.read_bytes() == first[:-1]
    write(tmp_path, LAST + FIRST)
    write(tmp_path, b"", at)
    assert read(tmp_path, compacted=True) == [b"four", b"five"], "offsets never go back"
