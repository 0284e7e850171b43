"""The log of a partition of an internal topic, in Kafka's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kafkawire.broker.groups.records import GROUP_RECORDS
from kafkawire.broker.internal_topics.entries import Change, Ended, Written
from kafkawire.broker.internal_topics.partition_log import InternalPartitionLog
from kafkawire.broker.storage.partition_files import read_leader_epochs, write_leader_epochs
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
from kafkawire.wire.batches import Record, encode_batch

TOPIC_ID = Uuid(b"o" * 16)
FIRST_SEGMENT = f"{0:020}.log"
PRODUCER, OTHER = Producer(7, 3), Producer(8, 0)
MOST = 104_857_600
UNKNOWN_KEY = (1000).to_bytes(2)


def commit(group: str, offset: int) -> Change:
    return OffsetCommitKey(group, "t", 0), OffsetCommitValue(offset, -1, "", 1000)


def epochs_of(folder: Path, leader_epoch: int) -> Sequence[tuple[int, int]]:
    """Leader epochs and their first offsets, in the order of the file, after a leader begins."""
    log = InternalPartitionLog(folder, GROUP_RECORDS)
    log.lead(TOPIC_ID, leader_epoch)
    return [*read_leader_epochs(folder).items()]


@pytest.mark.parametrize(
    ("batches", "recorded", "epoch", "expected"),
    [
        ({}, {}, 0, {0: 0}),
        ({}, {}, 4, {4: 0}),
        ({}, {}, -1, {0: 0}),
        ({0: 0}, {}, 0, {0: 0}),
        ({0: 0}, {}, 1, {0: 0, 1: 1}),
        ({0: 1}, {}, 1, {1: 0}),
        ({0: 1}, {}, 3, {1: 0, 3: 1}),
        ({0: 0, 1: 1}, {0: 0, 1: 1}, 1, {0: 0, 1: 1}),
        ({0: 0, 1: 1}, {0: 0, 1: 1}, 2, {0: 0, 1: 1, 2: 2}),
        ({0: 2}, {0: 0, 2: 0}, 1, {0: 0, 2: 0}),  # an epoch never falls
        ({0: 0}, {0: 0, 5: 1}, 1, {0: 0, 5: 1}),
    ],
)
def test_each_leader_epoch_is_recorded_with_its_first_offset(
    tmp_path: Path, batches: Mapping[int, int], recorded: Mapping[int, int], epoch: int, expected: Mapping[int, int]
) -> None:
    """``batches`` has the leader epoch of the record at each offset."""
    folder = tmp_path / "__consumer_offsets-0"
    folder.mkdir()
    records = (
        encode_batch([Record(key=b"\0\7", value=b"")], base_offset=offset, partition_leader_epoch=of_batch)
        for offset, of_batch in batches.items()
    )
    (folder / FIRST_SEGMENT).write_bytes(b"".join(records))
    if recorded:
        write_leader_epochs(folder, recorded)
    assert epochs_of(folder, epoch) == [*expected.items()]
    assert epochs_of(folder, epoch) == [*expected.items()]


async def test_a_segment_has_at_most_a_hundred_mebibytes(tmp_path: Path) -> None:
    """As the ``segment.bytes`` that Kafka gives to internal topics."""
    log = InternalPartitionLog(tmp_path / "__consumer_offsets-0", GROUP_RECORDS)
    log.lead(TOPIC_ID, 0)

    async def add(value: int) -> None:
        """A batch of one record, whose value has that many bytes."""
        log.files.append([(b"", bytes(value))], 1)
        await log.files.durable(log.files.end_offset)

    def sizes() -> Sequence[int]:
        return [path.stat().st_size for path in sorted(log.files.folder.glob("*.log"))]

    await add(MOST // 2)
    (first,) = sizes()
    overhead = first - MOST // 2
    await add(MOST - first - overhead)
    assert sizes() == [MOST]
    await add(0)
    assert sizes() == [MOST, sizes()[1]]
    await log.files.close()


async def test_changes_and_transactions_are_read_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "__consumer_offsets-0"
    log = InternalPartitionLog(folder, GROUP_RECORDS)
    log.lead(TOPIC_ID, 0)
    log.append([commit("a", 1), commit("b", 2)], 10)
    log.append([commit("a", 3)], 20, PRODUCER)
    log.append([commit("c", 4)], 20, PRODUCER)
    log.append([commit("d", 5)], 30, OTHER)
    log.append_marker(PRODUCER, 40, committed=True, coordinator_epoch=2)
    log.append_marker(OTHER, 50, committed=False, coordinator_epoch=2)
    log.append_marker(PRODUCER, 60, committed=True, coordinator_epoch=2)
    log.append([(OffsetCommitKey("b", "t", 0), None)], 70)
    assert log.size == 9
    await log.files.close()
    again = InternalPartitionLog(folder, GROUP_RECORDS)
    assert list(again.entries()) == [
        (10, Written(*commit("a", 1))),
        (10, Written(*commit("b", 2))),
        (20, Written(*commit("a", 3), PRODUCER)),
        (20, Written(*commit("c", 4), PRODUCER)),
        (30, Written(*commit("d", 5), OTHER)),
        (40, Ended(7, frozenset("ac"), committed=True)),
        (50, Ended(8, frozenset("d"), committed=False)),
        (60, Ended(7, frozenset(), committed=True)),
        (70, Written(OffsetCommitKey("b", "t", 0), None)),
    ]
    assert again.size == 9
    await again.files.close()


async def test_a_log_that_kafka_has_compacted_is_read(tmp_path: Path) -> None:
    """Its batches have no records at some offsets, within them and between them; others are of later versions."""
    folder = tmp_path / "__consumer_offsets-0"
    folder.mkdir()
    batches = []
    for base, last, offsets in ((2, 4, (3,)), (7, 8, (7,)), (10, 15, (10, 12))):
        pairs = [GROUP_RECORDS.record(commit("a", offset)) for offset in offsets]
        records = [
            Record(offset=offset, timestamp=1, key=key, value=value)
            for offset, (key, value) in zip(offsets, pairs, strict=True)
        ]
        records.append(Record(offset=last, timestamp=1, key=UNKNOWN_KEY, value=b"?"))
        batches.append(encode_batch(records, base_offset=base, last_offset=last))
    (folder / FIRST_SEGMENT).write_bytes(b"".join(batches))
    log = InternalPartitionLog(folder, GROUP_RECORDS)
    assert [entry for _, entry in log.entries()] == [Written(*commit("a", offset)) for offset in (3, 7, 10, 12)]
    assert log.files.end_offset == 16
    await log.files.close()


async def test_only_segments_with_earlier_records_alone_are_deleted(tmp_path: Path) -> None:
    log = InternalPartitionLog(tmp_path / "__consumer_offsets-0", GROUP_RECORDS)
    log.lead(TOPIC_ID, 0)
    bounds = []
    for number in range(3):
        bounds.append(log.files.end_offset)
        log.append_anew([Written(*commit(group, number)) for group in "ab"], 10)
        await log.files.durable(log.files.end_offset)
    assert bounds == [0, 2, 4]
    for offset, kept in ((0, [0, 2, 4]), (2, [2, 4]), (4, [4])):
        await log.delete_before(offset)
        assert [int(path.stem) for path in sorted(log.files.folder.glob("*.log"))] == kept
        assert [segment.base_offset for segment in log.readable.segments] == kept
        assert log.size == 6 - kept[0]
    await log.files.close()
