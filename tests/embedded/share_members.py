"""Members of share groups as their clients see them."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace
from tests.embedded.connection import BrokerConnection

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse


@dataclass(slots=True)
class ShareClient:
    """A member of a share group, or one that wants to be.

    Attributes:
        connection: of the client.
        group, member_id: the group, and the id that the client has made.
        topics: to which it subscribes.
        epoch, owned: the epoch and the partitions, as the last answers had them.
        error: of the last answer.
    """

    connection: BrokerConnection
    group: str
    member_id: str
    topics: tuple[str, ...] = ("orders",)
    epoch: int = 0
    owned: dict[Uuid, tuple[int, ...]] = field(default_factory=dict)
    error: int = 0

    async def join(self) -> None:
        """Join, or join again."""
        self.epoch, self.owned = 0, {}
        await self._send(replace(self._short(), subscribed_topic_names=self.topics))

    async def beat(self) -> None:
        """Send a heartbeat."""
        await self._send(self._short())

    async def leave(self) -> None:
        """Leave the group."""
        self.epoch = -1
        await self._send(self._short())

    @property
    def partitions(self) -> list[int]:
        """The partitions of all topics."""
        return sorted(partition for partitions in self.owned.values() for partition in partitions)

    def _short(self) -> ShareGroupHeartbeatRequest:
        return ShareGroupHeartbeatRequest(self.group, self.member_id, self.epoch)

    async def _send(self, request: ShareGroupHeartbeatRequest) -> None:
        answer = await self.connection.ask(request, 1, ShareGroupHeartbeatResponse)
        self.error = answer.error_code
        if not answer.error_code:
            self.epoch = answer.member_epoch
        if answer.assignment is not None:
            self.owned = {each.topic_id: (*each.partitions,) for each in answer.assignment.topic_partitions}
