"""How far the tasks of members are: the offsets of their changelogs, which clients of Apache Kafka 4.4 report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Self

from msgspec import field
from msgspec.structs import replace

from kafkawire.broker.groups.assignors.tasks import Offsets
from kafkawire.broker.groups.errors import GroupError
from kafkawire.protocol import StreamsGroupDescribeResponse, StreamsGroupHeartbeatRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

_BYTES: Final = 200
"""Of an offset in memory, without the name."""


class TaskOffsets(Struct, frozen=True):
    """What a member has reported; no record has it.

    Attributes:
        ends: of the changelogs.
        restored: as far as the member has them.
    """

    restored: Offsets = field(default_factory=dict)
    ends: Offsets = field(default_factory=dict)

    @property
    def size(self) -> int:
        """About how many bytes of memory they take."""
        return sum(_BYTES + len(name) for offsets in (self.restored, self.ends) for name, _ in offsets)

    def updated(self, request: StreamsGroupHeartbeatRequest) -> Self:
        """The offsets after a heartbeat; what is null in it has not changed.

        Raises:
            GroupError: a task occurs twice.
        """
        restored, ends = request.task_offsets, request.task_end_offsets
        if restored is None and ends is None:
            return self
        return replace(
            self,
            restored=self.restored if restored is None else _by_task(restored),
            ends=self.ends if ends is None else _by_task(ends),
        )


NO_TASK_OFFSETS: Final = TaskOffsets()


def size_of_offsets(request: StreamsGroupHeartbeatRequest) -> int:
    """About how many bytes of memory the offsets of a request take."""
    return sum(
        _BYTES + len(each.subtopology_id) for each in (*(request.task_offsets or ()), *(request.task_end_offsets or ()))
    )


def described(offsets: Offsets) -> Iterator[StreamsGroupDescribeResponse.TaskOffset]:
    """The offsets as administrators see them."""
    for task in sorted(offsets):
        yield StreamsGroupDescribeResponse.TaskOffset(*task, offsets[task])


def _by_task(offsets: Sequence[StreamsGroupHeartbeatRequest.TaskOffset]) -> Offsets:
    found: dict[tuple[str, int], int] = {}
    for each in offsets:
        task = (each.subtopology_id, each.partition)
        if task in found:
            reason = f"duplicate entry for subtopology {each.subtopology_id} and partition {each.partition}."
            raise GroupError(ErrorCode.INVALID_REQUEST, f"Task offsets contain a {reason}")
        found[task] = each.offset
    return found
