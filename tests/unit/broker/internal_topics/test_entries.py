"""What is written to internal topics: its batches, and what reading it again does to a state."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.records import GROUP_RECORDS
from kafkawire.broker.internal_topics.entries import Written
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue

FIRST, SECOND = Producer(7, 0), Producer(8, 3)


def written(count: int, producer: Producer | None = None) -> list[Written]:
    return [
        Written(OffsetCommitKey("g", "t", number), OffsetCommitValue(number, -1, "", 1), producer)
        for number in range(count)
    ]


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(0, []), (1, [1]), (999, [999]), (1000, [1000]), (1001, [1000, 1]), (2001, [1000, 1000, 1])],
)
def test_a_batch_has_at_most_a_thousand_records(count: int, sizes: list[int]) -> None:
    entries = written(count)
    batches = list(GROUP_RECORDS.batches(entries))
    assert [(producer, len(records)) for producer, records in batches] == [(None, size) for size in sizes]
    expected = [GROUP_RECORDS.record((each.key, each.value)) for each in entries]
    assert [record for _, records in batches for record in records] == expected


def test_a_batch_has_records_of_one_producer() -> None:
    entries = [*written(2), *written(1001, FIRST), *written(3, SECOND), *written(1)]
    assert [(producer, len(records)) for producer, records in GROUP_RECORDS.batches(entries)] == [
        (None, 2),
        (FIRST, 1000),
        (FIRST, 1),
        (SECOND, 3),
        (None, 1),
    ]
