"""Members of streams groups as their clients see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace
from tests.embedded.connection import BrokerConnection

from kafkawire.protocol import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse

TaskIds = StreamsGroupHeartbeatRequest.TaskIds
Topology = StreamsGroupHeartbeatRequest.Topology
Subtopology = StreamsGroupHeartbeatRequest.Subtopology
TopicInfo = StreamsGroupHeartbeatRequest.TopicInfo

READS_ORDERS: Final = Topology(0, (Subtopology("0", ("orders",)),))
COUNTS_ORDERS: Final = Topology(0, (Subtopology("0", ("orders",), state_changelog_topics=(TopicInfo("g-changes"),)),))


def joining(
    member_id: str, topology: Topology = READS_ORDERS, *, group: str = "g", rebalance_ms: int = 10_000
) -> StreamsGroupHeartbeatRequest:
    """The request with which a member joins."""
    return StreamsGroupHeartbeatRequest(
        group,
        member_id,
        0,
        -1,
        rebalance_timeout_ms=rebalance_ms,
        topology=topology,
        active_tasks=(),
        standby_tasks=(),
        warmup_tasks=(),
        process_id=f"process of {member_id}",
    )


@dataclass(slots=True)
class StreamsClient:
    """A member of the streams group ``g``, or one that wants to be.

    Attributes:
        connection: of the client.
        member_id: that it has made.
        topology: that it has.
        epoch: as the last answer had it.
        active: the partitions of its active tasks in the only subtopology, as the last answer with tasks had them.
        error: of the last answer.
        status: the codes of the conditions in it.
    """

    connection: BrokerConnection
    member_id: str
    topology: Topology = READS_ORDERS
    epoch: int = 0
    active: Sequence[int] = ()
    error: int = 0
    status: list[int] = field(default_factory=list)

    async def join(self) -> None:
        """Join, or join again."""
        self.epoch, self.active = 0, ()
        await self._send(joining(self.member_id, self.topology))

    async def beat(self) -> None:
        """Send a heartbeat with its tasks."""
        active = (TaskIds("0", self.active),) if self.active else ()
        await self._send(replace(self._short(), active_tasks=active, standby_tasks=(), warmup_tasks=()))

    async def leave(self) -> None:
        """Leave the group."""
        self.epoch = -1
        await self._send(self._short())

    def _short(self) -> StreamsGroupHeartbeatRequest:
        return StreamsGroupHeartbeatRequest("g", self.member_id, self.epoch)

    async def _send(self, request: StreamsGroupHeartbeatRequest) -> None:
        answer = await self.connection.ask(request, 0, StreamsGroupHeartbeatResponse)
        self.error, self.status = answer.error_code, [each.status_code for each in answer.status or ()]
        if not answer.error_code:
            self.epoch = answer.member_epoch
        if answer.active_tasks is not None:
            self.active = [partition for each in answer.active_tasks for partition in each.partitions]
