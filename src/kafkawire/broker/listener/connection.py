"""One client's connection: it receives requests and sends the responses in the same order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.dispatch import Dispatcher, Reply
from kafkawire.broker.fair_slices import SLICE
from kafkawire.broker.listener.frame_room import LARGE_FRAME, FrameRoom, LargeFrame
from kafkawire.broker.listener.outbox import Outbox
from kafkawire.broker.listener.sasl.login import SERVE, Login
from kafkawire.broker.request_work import WAITING
from kafkawire.broker.requests import Appended, RefusedRequestError, TooLargeRequestError
from kafkawire.broker.sessions import Session
from kafkawire.broker.storage.errors import StorageError
from kafkawire.protocol.api_table import ApiKey
from kafkawire.rpc import FRAME_HEAD, frame_size
from kafkawire.wire import DecodeError

_log = logging.getLogger(__name__)
_SECONDS_TO_FLUSH: Final = 5.0
_KEY_SIZE: Final = 2
_MOST_UNWRITTEN: Final = 64 * 1024
"""The most bytes of requests whose records are not durable yet; with more, the next request waits for them."""

_MOST_BYTES_WITHOUT_RECORDS: Final = 16 << 20
"""The most bytes of a request without records."""


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of a broker that its connections share.

    Attributes:
        dispatcher: answers requests.
        controller: has the log whose records must be durable.
        clock: the broker's.
        room: limits the memory of large requests.
        on_closed: called with the number of each connection that has ended.
        numbers: of connections.
    """

    dispatcher: Dispatcher
    controller: Controller
    clock: Clock
    room: FrameRoom
    on_closed: Callable[[int], None]
    numbers: Iterator[int] = field(default_factory=lambda: count(1))


@dataclass(frozen=True, slots=True)
class FrameLimits:
    """The limits of a listener.

    Attributes:
        request_bytes: the most bytes of a request (``socket.request.max.bytes``).
        login_bytes: the most bytes of a request before the login (``sasl.server.max.receive.size``).
        refusal_delay: seconds until the response to a failed login, which slows guessing down
            (``connection.failed.authentication.delay.ms``).
    """

    request_bytes: int
    login_bytes: int
    refusal_delay: float


class Connection:
    """Serves a client until it disconnects.

    Requests are handled one after the other, even while earlier responses wait for the log: so the changes of pipelined
    requests share one write. Only requests that append records are handled while records of earlier ones wait, so that
    others see these.

    Args:
        reader, writer: the connection.
        session: the client.
        login: the SASL login; None on a listener without SASL.
        limits: the limits of the listener.
        service: the parts that connections share.

    Attributes:
        last_active: when the last request was received or the last response sent, in seconds of the clock.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        session: Session,
        *,
        login: Login | None,
        limits: FrameLimits,
        service: Service,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._session = session
        self._login = login
        self._limits = limits
        self._dispatcher = service.dispatcher
        self._controller = service.controller
        self._clock = service.clock
        self._room = service.room
        self._large: LargeFrame | None = None
        self._outbox = Outbox()
        self._appended: Sequence[Appended] = ()
        self._unwritten_bytes = 0
        self._opened = self.last_active = self._clock.seconds()

    def seconds_left(self, limit: float) -> float:
        """In how many seconds the connection has been idle, or the login has taken, for a time; below 0 if it has."""
        since = self.last_active if self._is_logged_in else self._opened
        return since + limit - self._clock.seconds()

    def abort(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()

    async def serve(self) -> None:
        """Answer requests until either side closes the connection."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send())
                tasks.create_task(self._receive())
            await self._flush()
        except* (asyncio.IncompleteReadError, ConnectionError, OSError):
            pass
        except* RefusedRequestError as refused:
            for error in refused.exceptions:
                level = logging.WARNING if isinstance(error, TooLargeRequestError) else logging.INFO
                _log.log(level, "Closing the connection from %s: %s", self._session.host, error)
        except* StorageError:
            pass  # the broker halts, and logs the error once
        except* Exception:  # noqa: BLE001 - a defect must not affect other clients
            _log.exception("Closing the connection from %s", self._session.host)
        finally:
            self._answered()
            self.abort()

    @property
    def _is_logged_in(self) -> bool:
        return self._login is None or self._login.is_complete

    async def _receive(self) -> None:
        spent = 0.0
        is_open = True
        while is_open:
            # No variable keeps the frame: it may be large, and the next one may arrive much later.
            frame_came, is_open = await self._take(await self._frame())
            await self._outbox.room()
            spent += perf_counter() - frame_came
            if spent > SLICE:  # pipelined requests take turns with those of other clients
                await asyncio.sleep(0)
                spent = 0.0

    async def _take(self, frame: bytes) -> tuple[float, bool]:
        """Answer a request; returns when that began, and whether the connection stays open."""
        begun = perf_counter()
        step = SERVE if self._login is None else self._login.receive(frame, self._clock.seconds())
        if step.is_served:
            await self._make_way(frame)
            reply = await self._dispatcher.reply(frame, self._session)
            self._appended = reply.appended or self._appended
            if self._large is not None:
                await _written(reply.appended)
            self._answered()
            self._session = reply.session or self._session
            self._outbox.add(reply)
            if reply.muted_until:
                await self._dispatcher.unmuted(reply)
        elif step.closes:
            await self._refuse(step.frame)
            return begun, False
        else:
            self._answered()
            self._outbox.add(Reply(step.frame, 0))
            self._take_principal()
        return begun, True

    async def _make_way(self, frame: bytes) -> None:
        """Let a request wait for the records of earlier ones, unless it appends more and they take little memory."""
        self._unwritten_bytes += len(frame)
        if self._unwritten_bytes > _MOST_UNWRITTEN or int.from_bytes(frame[:_KEY_SIZE]) != ApiKey.PRODUCE:
            await _written(self._appended)
            self._appended, self._unwritten_bytes = (), 0

    async def _frame(self) -> bytes:
        maximum = self._limits.request_bytes if self._is_logged_in else self._limits.login_bytes
        try:
            size = frame_size(await self._reader.readexactly(FRAME_HEAD.size), maximum=maximum)
        except DecodeError as error:
            raise RefusedRequestError(str(error)) from error
        frame = await (self._reader.readexactly(size) if size < LARGE_FRAME else self._large_frame(size))
        self.last_active = self._clock.seconds()
        return frame

    async def _large_frame(self, size: int) -> bytes:
        """A frame that takes room until it is answered."""
        parts = [await self._reader.readexactly(_KEY_SIZE)]
        key = int.from_bytes(parts[0])
        if size > _MOST_BYTES_WITHOUT_RECORDS and key != ApiKey.PRODUCE:
            reason = (
                f"a frame of {size} bytes without records; {_MOST_BYTES_WITHOUT_RECORDS} are allowed: split the request"
            )
            raise TooLargeRequestError(reason)
        self._large = LargeFrame(size, self.abort, waits=key in WAITING)
        await self._room.enter(self._large)
        left = size - _KEY_SIZE
        while left:
            parts.append(await self._reader.read(left))
            if not parts[-1]:
                raise ConnectionResetError("the client disconnected in the middle of a request")
            left -= len(parts[-1])
        self._large.is_complete = True
        return b"".join(parts)

    def _answered(self) -> None:
        """Release the room of a large request."""
        if self._large is not None:
            self._room.leave(self._large)
            self._large = None

    async def _refuse(self, answer: bytes | None) -> None:
        _log.info("A login from %s failed on %s", self._session.host, self._session.listener)
        await self._clock.sleep(self._limits.refusal_delay)
        self._outbox.add(Reply(answer, 0))
        self._outbox.end()

    def _take_principal(self) -> None:
        login, session = self._login, self._session
        if login is not None and (login.principal, login.has_token) != (session.principal, session.has_token):
            self._session = replace(session, principal=login.principal, has_token=login.has_token)

    async def _send(self) -> None:
        while replies := await self._outbox.take(self._durable):
            self._writer.write(b"".join(reply.frame for reply in replies if reply.frame is not None))
            await self._writer.drain()
            self._outbox.sent(replies)
            self.last_active = self._clock.seconds()

    async def _durable(self, reply: Reply) -> None:
        await self._controller.log.durable(reply.end_offset)
        await _written(reply.appended)

    async def _flush(self) -> None:
        """Close the connection after the last response, with a limit on the wait for a client that does not read it."""
        self._writer.close()
        try:
            async with asyncio.timeout(_SECONDS_TO_FLUSH):
                await self._writer.wait_closed()
        except TimeoutError:
            _log.info("The client at %s does not read the response to its failed login", self._session.host)


async def _written(appended: Sequence[Appended]) -> None:
    """Wait until records are durable. Those of requests before them are then durable too.

    Raises:
        StorageError: they could not be written.
    """
    for log, offset in appended:
        await log.durable(offset)
