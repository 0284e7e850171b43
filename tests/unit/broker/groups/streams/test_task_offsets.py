"""The offsets of tasks that members of streams groups report, as Apache Kafka 4.4 has them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kafkawire.broker.groups.streams.task_offsets import NO_TASK_OFFSETS, TaskOffsets, size_of_offsets
from kafkawire.protocol import StreamsGroupHeartbeatRequest

Offset = StreamsGroupHeartbeatRequest.TaskOffset
FULL = StreamsGroupHeartbeatRequest(
    "g", "a", 1, task_offsets=(Offset("0", 1, 5), Offset("subtopol", 1, 6)), task_end_offsets=(Offset("0", 1, 9),)
)


def test_what_is_null_has_not_changed() -> None:
    known = NO_TASK_OFFSETS.updated(FULL)
    assert known == TaskOffsets({("0", 1): 5, ("subtopol", 1): 6}, {("0", 1): 9})
    for restored in (None, (), (Offset("0", 2, 7),)):
        for ends in (None, (), (Offset("0", 3, 8),)):
            after = known.updated(replace(FULL, task_offsets=restored, task_end_offsets=ends))
            expected = {(each.subtopology_id, each.partition): each.offset for each in restored or ()}
            assert after.restored == (known.restored if restored is None else expected)
            expected = {(each.subtopology_id, each.partition): each.offset for each in ends or ()}
            assert after.ends == (known.ends if ends is None else expected)


@pytest.mark.parametrize(
    ("request_", "size"),
    [
        (FULL, 610),
        (replace(FULL, task_end_offsets=None), 409),
        (replace(FULL, task_offsets=()), 201),
        (replace(FULL, task_offsets=None, task_end_offsets=None), 0),
    ],
)
def test_each_offset_takes_room_besides_the_name_of_its_subtopology(
    request_: StreamsGroupHeartbeatRequest, size: int
) -> None:
    assert size_of_offsets(request_) == NO_TASK_OFFSETS.updated(request_).size == size
