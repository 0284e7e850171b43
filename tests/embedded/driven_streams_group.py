"""A streams group without a broker: time is a number, topics are a table, and the records are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple, TypeVar, TypeVarTuple

from msgspec.structs import replace
from tests.embedded.configurations import configuration_of
from tests.embedded.driven_topics import DrivenTopics
from tests.embedded.received import received
from tests.embedded.streams_members import TaskIds, Topology

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.group import Answer, StreamsGroup
from kafkawire.broker.groups.streams.group_state import StreamsChange, StreamsGroupState, StreamsKey
from kafkawire.broker.groups.streams.long_work import DeferredWork, LongWorkError
from kafkawire.broker.groups.streams.member import LEFT
from kafkawire.broker.groups.streams.settings import StreamsGroupSettings
from kafkawire.broker.groups.streams.topology import InternalTopic
from kafkawire.broker.groups.timers import Now
from kafkawire.protocol import StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

R = TypeVar("R")
Ts = TypeVarTuple("Ts")

CLIENT: Final = ("client", "/127.0.0.1")
_GONE: Final = frozenset({ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.GROUP_ID_NOT_FOUND})


class DrivenStreamsGroup(DrivenTopics):
    """A group, its records, and the topics of its cluster.

    Attributes:
        seconds: the time.
        configs: those that are set for the group.
        group: the group.
        log: all records that it has written.
        records: the last of each key.
        wanted_topics: the internal topics that the last answer wants to be created.
    """

    def __init__(self, **properties: str) -> None:
        super().__init__()
        self.seconds = 1000.0
        self.configs: dict[str, str] = {}
        self.log: list[StreamsChange] = []
        self.records: dict[StreamsKey, Message] = {}
        self.wanted_topics: Sequence[InternalTopic] = ()
        self.settings = StreamsGroupSettings(configuration_of(**properties), lambda _: self.configs)
        self.group = self.made()

    @property
    def now(self) -> Now:
        return Now(self.seconds, int(self.seconds * 1000))

    @property
    def state(self) -> StreamsGroupState:
        return self.group.state

    def made(self) -> StreamsGroup:
        """The group as a broker makes it that starts now."""
        return StreamsGroup("g", self.records.items(), self.settings, self.topics, self.now)

    def restart(self) -> None:
        self.group = self.made()

    def send(self, request: StreamsGroupHeartbeatRequest) -> StreamsGroupHeartbeatResponse:
        """Send a heartbeat; an error is an answer here."""
        answer = self.answer_of(self.group, request)
        self.wanted_topics = [*answer.internal_topics.values()]
        self.write()
        return answer.response

    def answer_of(self, group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> Answer:
        """The answer of a group, which may be another one than that of the broker."""
        request = received(request, 0)
        try:
            if request.member_epoch == LEFT:
                return Answer(group.leave(request), {})
            return self._heartbeat(group, request)
        except GroupError as refused:
            assert not group.changes(), "a request that is refused writes nothing"
            response = StreamsGroupHeartbeatResponse(error_code=refused.code, error_message=refused.message)
            return Answer(response, {})

    def _heartbeat(self, group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> Answer:
        """Try a heartbeat until all work is done, as for large groups."""
        work = _LongWork()
        while True:
            try:
                return group.heartbeat(request, CLIENT, self.now, work)
            except LongWorkError as long:
                assert not group.changes(), "a heartbeat that is tried again has written nothing"
                long.work()

    def wait(self, seconds: float) -> None:
        self.seconds += seconds
        self.group.expire(self.now)
        self.write()

    def write(self) -> None:
        """Keep the records, as the log does."""
        for key, value in self.group.changes():
            self.log.append((key, value))
            if value is None:
                self.records.pop(key, None)
            else:
                self.records[key] = value


class _LongWork(DeferredWork):
    """Defers all work, however short it is."""

    def result(self, function: Callable[[*Ts], R], *arguments: *Ts, is_long: bool) -> R:
        """The result of a function."""
        del is_long
        return super().result(function, *arguments, is_long=True)


class OwnedTask(NamedTuple):
    """A task in the role in which a client has it.

    Attributes:
        role: the position of active, standby and warm-up tasks.
        subtopology: its id.
        partition: its number.
    """

    role: int
    subtopology: str
    partition: int


class DrivenStreamer:
    """A member as its client sees it.

    Attributes:
        member_id, process_id: its ids.
        topology: of its application.
        epoch: as the last answer had it.
        assigned: what it shall have, as the last answer with tasks had it.
        owned: what it has: also what it has not given up yet.
        error: of the last answer.
        status: the codes of the conditions in it.
    """

    def __init__(
        self,
        group: DrivenStreamsGroup,
        member_id: str,
        topology: Topology,
        *,
        process_id: str = "p",
        rebalance_ms: int = 30_000,
    ) -> None:
        self._group = group
        self.member_id, self.process_id = member_id, process_id
        self.topology, self.rebalance_ms = topology, rebalance_ms
        self.epoch = 0
        self.assigned: frozenset[OwnedTask] = frozenset()
        self.owned: frozenset[OwnedTask] = frozenset()
        self.error = ErrorCode.NONE
        self.status: list[int] = []

    def join(self) -> StreamsGroupHeartbeatResponse:
        """Join, or join again; it has no tasks then."""
        self.lose_all()
        return self.take(self._group.send(self.joining()))

    def beat(self, *, is_silent: bool = False, is_slow: bool = False) -> StreamsGroupHeartbeatResponse:
        """Send a heartbeat; join if it is not a member.

        Args:
            is_silent: whether it says nothing of its tasks.
            is_slow: whether it keeps those that it shall give up.
        """
        if self.epoch <= 0:
            return self.join()
        if not is_slow:
            self.owned = self.assigned
        return self.take(self._group.send(self.short() if is_silent else self.full()))

    def leave(self) -> StreamsGroupHeartbeatResponse:
        answer = self._group.send(replace(self.short(), member_epoch=LEFT))
        self.lose_all()
        return answer

    def joining(self) -> StreamsGroupHeartbeatRequest:
        return StreamsGroupHeartbeatRequest(
            "g",
            self.member_id,
            0,
            rebalance_timeout_ms=self.rebalance_ms,
            topology=self.topology,
            active_tasks=(),
            standby_tasks=(),
            warmup_tasks=(),
            process_id=self.process_id,
        )

    def short(self) -> StreamsGroupHeartbeatRequest:
        return StreamsGroupHeartbeatRequest("g", self.member_id, self.epoch)

    def full(self) -> StreamsGroupHeartbeatRequest:
        return with_tasks(self.short(), self.owned)

    def take(self, answer: StreamsGroupHeartbeatResponse) -> StreamsGroupHeartbeatResponse:
        """Do as the answer says: begin new tasks now; those that are not assigned any more are given up later."""
        self.error = ErrorCode(answer.error_code)
        if self.error:
            if self.error in _GONE:
                self.lose_all()
            return answer
        self.epoch = answer.member_epoch
        self.status = [each.status_code for each in answer.status or ()]
        if answer.active_tasks is not None:
            roles = (answer.active_tasks, answer.standby_tasks or (), answer.warmup_tasks or ())
            self.assigned = frozenset(
                OwnedTask(role, each.subtopology_id, partition)
                for role, tasks in enumerate(roles)
                for each in tasks
                for partition in each.partitions
            )
            self.owned |= self.assigned
        return answer

    def lose_all(self) -> None:
        """Give up all tasks, and be no member."""
        self.epoch, self.assigned, self.owned = 0, frozenset(), frozenset()


def with_tasks(request: StreamsGroupHeartbeatRequest, tasks: Iterable[OwnedTask]) -> StreamsGroupHeartbeatRequest:
    """A request that reports tasks."""
    roles: list[dict[str, list[int]]] = [{}, {}, {}]
    for task in sorted(tasks):
        roles[task.role].setdefault(task.subtopology, []).append(task.partition)
    active, standby, warmup = (tuple(TaskIds(name, tuple(each)) for name, each in role.items()) for role in roles)
    return replace(request, active_tasks=active, standby_tasks=standby, warmup_tasks=warmup)
