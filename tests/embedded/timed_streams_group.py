"""A streams group without a broker, whose time and topics a test changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace
from tests.embedded.configurations import configuration_of
from tests.embedded.driven_topics import DrivenTopics
from tests.embedded.streams_members import READS_ORDERS, TaskIds, Topology, joining

from kafkawire.broker.groups.streams.group import Answer, StreamsGroup
from kafkawire.broker.groups.streams.group_state import StreamsChange
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.states import StreamsGroupStatus
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)

CLIENT = ("c", "/h")


class TimedStreamsGroup(DrivenTopics):
    """The group ``g`` of a cluster with the topic ``orders``, which has two partitions.

    It assigns tasks whenever it has an epoch, unless its properties say otherwise.

    Args:
        most_members: that it may have.
        of_group: its properties, as in ``session_timeout_ms=1000``.

    Attributes:
        at: the time in milliseconds since it began.
        group: the group.
        written: the records that it has written.
    """

    def __init__(self, most_members: int = 9, **of_group: int) -> None:
        super().__init__()
        properties = {"initial_rebalance_delay_ms": 0, "assignment_interval_ms": 0, **of_group}
        self.properties: Mapping[str, str] = {
            f"streams.{name.replace('_', '.')}": str(value) for name, value in properties.items()
        }
        configuration = configuration_of(**{"group.streams.max.size": str(most_members)})
        self._settings = StreamsGroupSettings(configuration, lambda _: self.properties)
        self.create("orders", 2)
        self.at = 0
        self.written: list[StreamsChange] = []
        self.group = StreamsGroup("g", [], self._settings, self.topics, self.now)

    # Time and members.

    @property
    def now(self) -> Now:
        """The time."""
        return Now(1000 + self.at / 1000, 1_000_000 + self.at)

    def pass_until(self, at: int) -> Iterable[str]:
        """Let time pass; returns the members that are there then."""
        self.at = at
        self.group.expire(self.now)
        self.written += self.group.changes()
        return [*self.group.state.members]

    def status(self) -> StreamsGroupStatus:
        """The state of the group."""
        return self.group.state.state

    def join(
        self, member_id: str, topology: Topology = READS_ORDERS, *, rebalance_ms: int = 10_000
    ) -> StreamsGroupHeartbeatResponse:
        """A member joins."""
        return self.send(joining(member_id, topology, rebalance_ms=rebalance_ms)).response

    def short(self, member_id: str) -> StreamsGroupHeartbeatRequest:
        """The heartbeat of a member without news."""
        return StreamsGroupHeartbeatRequest("g", member_id, self.group.state.members[member_id].epoch)

    def beat(self, member_id: str, *tasks: int) -> StreamsGroupHeartbeatResponse:
        """A heartbeat of a member that has active tasks of the subtopology ``0`` and no other tasks."""
        active = (TaskIds("0", tasks),) if tasks else ()
        request = replace(self.short(member_id), active_tasks=active, standby_tasks=(), warmup_tasks=())
        return self.send(request).response

    def send(self, request: StreamsGroupHeartbeatRequest) -> Answer:
        """A heartbeat."""
        answer = self.group.heartbeat(request, CLIENT, self.now)
        self.written += self.group.changes()
        return answer

    def leave(self, member_id: str) -> None:
        """A member leaves."""
        self.group.leave(replace(self.short(member_id), member_epoch=-1))
        self.written += self.group.changes()

    def restart(self) -> None:
        """The group is made again from its records."""
        self.group = StreamsGroup("g", self.written, self._settings, self.topics, self.now)


def codes(answer: StreamsGroupHeartbeatResponse) -> list[int]:
    """The codes of the conditions in an answer."""
    return [each.status_code for each in answer.status or ()]


def active_tasks(answer: StreamsGroupHeartbeatResponse) -> dict[str, tuple[int, ...]] | None:
    """The active tasks in an answer, by subtopology; None if it has none."""
    if answer.active_tasks is None:
        return None
    return {each.subtopology_id: tuple(each.partitions) for each in answer.active_tasks}
