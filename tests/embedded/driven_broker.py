"""A whole broker without sockets, in one event loop: requests go in as frames, and answers come out as frames."""

from __future__ import annotations

import asyncio
import itertools
import struct
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, TypeVar, cast

from kafkawire.broker.assembly import Assembled, assemble
from kafkawire.broker.authorization import Authorization
from kafkawire.broker.clock import ManualClock
from kafkawire.broker.cluster import Cluster
from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration
from kafkawire.broker.faults.faults import Faults
from kafkawire.broker.listener.connection import Connection, FrameLimits, Service
from kafkawire.broker.listener.frame_room import FrameRoom
from kafkawire.broker.opened_state import OpenedState
from kafkawire.broker.quotas.quota_updates import QuotaUpdates
from kafkawire.broker.request_log import RequestLog
from kafkawire.broker.sessions import ANONYMOUS, Session
from kafkawire.broker.storage.errors import StorageError
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire import Message

R = TypeVar("R", bound=Message)

_LIMITS: Final = FrameLimits(request_bytes=1 << 20, login_bytes=1 << 20, refusal_delay=0.0)
_HEAD: Final = struct.Struct(">i")


class DrivenBroker:
    """The parts of a broker that answer requests, over a data directory.

    Args:
        data_dir: the directory.
        configuration: of the broker.
        clock: moved by tests.

    Attributes:
        failure: the first error of a write; None if there was none.
    """

    def __init__(self, data_dir: Path, configuration: BrokerConfiguration, clock: ManualClock) -> None:
        self._data_dir = data_dir
        self._configuration = configuration
        self.clock = clock
        self.failure: StorageError | None = None
        self._resources = AsyncExitStack()
        self._assembled: Assembled | None = None
        self._service: Service | None = None

    async def start(self) -> None:
        """Begin as `EmbeddedBroker` does, without its listeners."""
        cluster = Cluster("", self._configuration.integer("node.id"), "localhost", 9092)
        resources = self._resources
        state = await OpenedState.opened(
            self._data_dir, None, self._configuration, cluster, clock=self.clock, on_failure=self._fail
        )
        resources.push_async_callback(state.depart)
        updates = QuotaUpdates(self._configuration, state.controller, cluster, state.nodes, self.clock)
        resources.callback(updates.quotas.close)
        assembled = assemble(
            state,
            access=Authorization(None),
            quotas=updates.quotas,
            faults=Faults(None),
            clock=self.clock,
            received=RequestLog(0),
            resources=resources,
        )
        await state.arrive()
        assembled.load()
        updates.begin()
        assembled.begin(resources)
        self._assembled = assembled
        closed = assembled.shares.connection_closed
        self._service = Service(assembled.dispatcher, state.controller, self.clock, FrameRoom(), closed)

    @property
    def assembled(self) -> Assembled:
        """The parts."""
        assert self._assembled is not None
        return self._assembled

    def connected(self, is_heard: Callable[[], bool]) -> DrivenClient:
        """A client; it gets no answer once it does not hear the broker."""
        assert self._service is not None
        return DrivenClient(self._service, is_heard)

    async def stop(self) -> None:
        """Stop as a broker does that is not killed."""
        await self._resources.aclose()

    def _fail(self, error: StorageError) -> None:
        self.failure = self.failure or error


class DrivenClient:
    """A connection to a broker.

    Args:
        service: the broker's.
        is_heard: whether answers still arrive.
    """

    def __init__(self, service: Service, is_heard: Callable[[], bool]) -> None:
        self._is_heard = is_heard
        self._reader = asyncio.StreamReader(limit=1 << 20)
        self._numbers = itertools.count(1)
        self._waiting: deque[tuple[asyncio.Future[Any], type[Message], int]] = deque()
        self._received = b""
        session = Session(ANONYMOUS, "127.0.0.1", "PLAINTEXT", connection=next(service.numbers))
        writer = cast(asyncio.StreamWriter, self)
        connection = Connection(self._reader, writer, session, login=None, limits=_LIMITS, service=service)
        self._serving = asyncio.get_running_loop().create_task(connection.serve())

    def send(self, request: Message, version: int, response: type[R]) -> asyncio.Future[R]:
        """Send a request; the future gets the answer."""
        assert not self._serving.done(), "the broker has closed the connection"
        frame = encode_request(request, version, correlation_id=next(self._numbers), client_id="c")
        self._reader.feed_data(frame)
        answer: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((answer, response, version))
        return answer

    async def close(self) -> None:
        """Close the connection."""
        self._reader.feed_eof()
        await asyncio.wait((self._serving,))

    # What the broker's end needs of a writer.

    transport = SimpleNamespace(abort=lambda: None)

    def write(self, content: bytes) -> None:
        """The broker sends something."""
        self._received += content
        while len(self._received) >= _HEAD.size and self._is_heard():
            (size,) = _HEAD.unpack_from(self._received)
            assert len(self._received) >= _HEAD.size + size, "answers are written whole"
            frame, self._received = self._received[4 : 4 + size], self._received[4 + size :]
            answer, response, version = self._waiting.popleft()
            if not answer.done():
                answer.set_result(decode_response(frame, response, version)[1])

    async def drain(self) -> None:
        """Nothing is in the way of answers."""
