"""One asyncio connection to a broker: a thin shell around the state machine."""

from __future__ import annotations

import asyncio
import inspect
import ssl
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import TypeVar, cast

from kafkawire.admin.backoff import chance
from kafkawire.admin.connection.diagnosis import is_final, is_unresolved, login_wanted_at, mistake_at, reason
from kafkawire.admin.connection.events import Answered, Closed, Event, Failed, NeedsCredentials, Ready
from kafkawire.admin.connection.machine import Connection
from kafkawire.admin.connection.sasl.credentials import (
    Credentials,
    CredentialsSource,
    OAuthBearerCredentials,
    PlainCredentials,
    ScramCredentials,
)
from kafkawire.admin.connection.settings import ConnectionSettings
from kafkawire.admin.connection.sockets import Place, connected_socket, places_of
from kafkawire.admin.connection.states import HOLDING, SENDING
from kafkawire.admin.connection.tracer import RequestTracer
from kafkawire.admin.connection.versions import BrokerVersions
from kafkawire.admin.event_loop import now
from kafkawire.admin.observed_requests import Observer
from kafkawire.protocol import SaslHandshakeRequest
from kafkawire.protocol.errors import SaslAuthenticationFailedError
from kafkawire.wire import Message
from kafkawire.wire.kafka_errors import (
    BrokenStreamError,
    ConnectionFailedError,
    ConnectionImpossibleError,
    DisconnectedError,
    KafkaError,
    OperationTimeoutError,
    UnresolvedHostError,
)

R = TypeVar("R", bound=Message)

_REQUESTS_BEFORE_A_WRITE = 64
_SECONDS_TO_SAY_GOODBYE = 1.0


class Channel(asyncio.Protocol):
    """A connection that is logged in and has the API versions of its broker; made by :meth:`connect`.

    Requests of one turn of the event loop leave in few writes. While the network does not take what is written,
    requests wait before they are encoded.

    Attributes:
        last_used: when the last request was made, in the time of the event loop.
    """

    def __init__(self, connection: Connection, credentials: CredentialsSource | None, name: str) -> None:
        self._connection = connection
        self._credentials = credentials
        self._name = name
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._ready: asyncio.Future[KafkaError | None] = self._loop.create_future()
        self._lost: asyncio.Future[None] = self._loop.create_future()
        self._answers: dict[int, asyncio.Future[Answered | Failed]] = {}
        self._writable = asyncio.Event()
        self._writable.set()
        self._unwritten = 0
        self._timer: asyncio.TimerHandle | None = None
        self._asking: asyncio.Task[Credentials] | None = None
        self._is_retiring = False
        self._was_connected = False
        self._was_heard = False
        self._stage = "before the network was connected"
        self._ask_about_login: Callable[[], Awaitable[str | None]] | None = None
        self.last_used = self._loop.time()

    def __repr__(self) -> str:
        return f"<Channel to {self._name}: {self._connection!r}>"

    @classmethod
    async def connect(
        cls,
        host: str,
        port: int,
        settings: ConnectionSettings,
        credentials: CredentialsSource | None = None,
        tls: ssl.SSLContext | None = None,
        *,
        deadline: float,
        ask_again: bool = True,
        observer: Observer | None = None,
    ) -> Channel:
        """Connect, log in and learn the broker's versions; the addresses of the host are tried one after the other.

        Args:
            host, port: of the listener.
            settings: what can be set; ``setup_timeout`` is for each address.
            credentials: credentials, or a callback that returns them; None for a listener without SASL.
            tls: for a listener with TLS.
            deadline: when to give up, in the time of the event loop.
            ask_again: whether a listener that closed without an answer is tried in other ways, to find out what it is;
                that may take up to two seconds more.
            observer: sees each request; None for none.

        Raises:
            ConnectionFailedError: if no address can be connected to; says why for each, causes chained. An
                `UnresolvedHostError` if the name does not exist, and a `ConnectionImpossibleError` if another try
                would end in the same way: what listens there is no Kafka, or wants TLS, or has none, or one side
                refuses the certificate of the other.
            ApiError: if the broker refuses the login or the negotiation of versions.
        """
        name = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        failures: dict[str, BaseException] = {}
        try:
            async with asyncio.timeout_at(deadline):
                places = await places_of(host, port)
        except (OSError, UnicodeError) as error:
            kind = UnresolvedHostError if is_unresolved(error) else ConnectionFailedError
            raise kind(_said(name, {host: error})) from error
        for place in places:
            until = min(deadline, now() + settings.setup_timeout)
            tracer = None if observer is None else RequestTracer(observer, name, _expected_node(settings))
            channel = cls(Connection(settings, credentials, spread=chance(), tracer=tracer), credentials, name)
            try:
                async with asyncio.timeout_at(until):
                    await channel._open(place, tls, host)
            except TimeoutError as error:
                failure = error if error.errno else TimeoutError(f"timed out {channel._stage}")
                failures[str(place)] = failure
            except (OSError, DisconnectedError, BrokenStreamError) as error:
                failures[str(place)] = error
            else:
                return channel
            if ask_again and channel._got_no_answer:
                failures[str(place)] = await _explained(failures[str(place)], place, tls, host)
        kind = ConnectionImpossibleError if all(map(is_final, failures.values())) else ConnectionFailedError
        raise kind(_said(name, failures)) from _cause(failures)

    @property
    def versions(self) -> BrokerVersions:
        """What the broker offers."""
        return self._connection.api_versions

    @property
    def in_flight(self) -> int:
        """The number of requests without an answer, abandoned ones included."""
        return self._connection.in_flight

    @property
    def is_usable(self) -> bool:
        """Whether to send new requests here; not after a missed deadline: they would wait for the late answer.

        A connection that missed a deadline is closed as soon as nothing is in flight on it.
        """
        return self._connection.state in SENDING | HOLDING and not self._is_retiring

    @property
    def throttled_until(self) -> float:
        """The time of the event loop before which the broker does not want requests (KIP-219)."""
        return self._connection.throttled_until

    async def request(self, request: Message, response_class: type[R], version: int, deadline: float) -> R:
        """The answer to a request. Cancelling it does not affect others: the answer is thrown away when it comes.

        Args:
            request: the request.
            response_class: class that reads its answer.
            version: of both; one that ``versions.choose`` has given.
            deadline: when to give up, in the time of the event loop.

        Raises:
            OperationTimeoutError: if the deadline passes first.
            DisconnectedError: if the connection is or becomes closed.
            ConnectionImpossibleError: if the broker has closed it because it wants a login.
            UnsupportedVersionError: Kafka's error 35, if the version cannot say what the request says.
            EncodeError: for any other value that the version cannot carry.
            KafkaError: any other reason for which the connection ended.
        """
        try:
            async with asyncio.timeout_at(deadline):
                await self._writable.wait()
                outcome = await self._answer(request, response_class, version)
        except TimeoutError:
            self._is_retiring = True
            raise OperationTimeoutError(type(request).__name__, f"{self._name} did not answer in time") from None
        if isinstance(outcome, Failed):
            await self._explain(outcome.error)
            raise outcome.error
        self._ask_about_login = None
        return cast(R, outcome.response)

    def retire(self) -> None:
        """Close the connection as soon as nothing is in flight, which may be at once."""
        self._is_retiring = True
        self._apply(())

    async def close(self, error: KafkaError | None = None) -> None:
        """Close the connection; whatever is in flight fails. Closing twice is no error.

        Args:
            error: why, for those that wait; a ``ClosedError`` if nothing is given.
        """
        self._apply(self._connection.close(error))
        if self._transport is None or self._lost.done():
            return
        try:
            async with asyncio.timeout(_SECONDS_TO_SAY_GOODBYE):
                await asyncio.shield(self._lost)
        except TimeoutError:
            self._transport.abort()

    async def _open(self, place: Place, tls: ssl.SSLContext | None, host: str) -> None:
        connected = await connected_socket(place)
        self._was_connected = True
        server_name = host if tls else None
        self._stage = "in the TLS handshake; perhaps the listener has no TLS" if tls else self._stage
        try:
            await self._loop.create_connection(lambda: self, sock=connected, ssl=tls, server_hostname=server_name)
            error = await self._ready
        except BaseException:
            self._apply(self._connection.close())
            raise
        if error is not None:
            raise error
        if self._credentials is None and self.versions.offered(SaslHandshakeRequest):
            self._ask_about_login = partial(login_wanted_at, place, tls, host)

    async def _explain(self, error: KafkaError) -> None:
        """Raise the reason why the broker has closed the connection at the first request, if it can be found out."""
        ask, self._ask_about_login = self._ask_about_login, None
        if ask is None or not isinstance(error, DisconnectedError) or is_final(error):
            return
        mistake = await ask()
        if mistake is not None:
            raise ConnectionImpossibleError(f"{self._name}: {mistake}") from error

    @property
    def _got_no_answer(self) -> bool:
        return self._was_connected and not self._was_heard

    async def _answer(self, request: Message, response_class: type[Message], version: int) -> Answered | Failed:
        self.last_used = self._loop.time()
        correlation_id = self._connection.send(request, version, self.last_used, response_class)
        answer: asyncio.Future[Answered | Failed] = self._loop.create_future()
        self._answers[correlation_id] = answer
        self._write_soon()
        try:
            return await answer
        finally:
            if self._answers.pop(correlation_id, None) is not None:
                self._apply(self._connection.abandon(correlation_id, self._loop.time()))

    # Events of the state machine.

    def _apply(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case Answered() | Failed():
                    answer = self._answers.pop(event.correlation_id, None)
                    if answer is not None and not answer.done():
                        answer.set_result(event)
                case Ready():
                    self._settle(None)
                case NeedsCredentials():
                    self._asking = self._loop.create_task(_asked(self._credentials))
                    self._asking.add_done_callback(self._credentials_given)
                case Closed():
                    self._over(event.error)
        if self._is_retiring and not self._connection.in_flight:
            self._is_retiring = False
            self._apply(self._connection.close())
        self._write()
        self._set_timer()

    def _settle(self, error: KafkaError | None) -> None:
        if not self._ready.done():
            self._ready.set_result(error)

    def _over(self, error: KafkaError | None) -> None:
        self._settle(error or DisconnectedError(f"{self._name}: the connection was closed"))
        self._writable.set()
        if self._asking is not None:
            self._asking.cancel()
        if self._transport is not None:
            if error is None:
                self._transport.close()
            else:
                self._transport.abort()

    def _credentials_given(self, asking: asyncio.Task[Credentials]) -> None:
        self._asking = None
        if asking.cancelled():
            return
        failure = asking.exception()
        if failure is None:
            self._apply(self._connection.provide(asking.result(), self._loop.time()))
            return
        # What is in flight when a login is to be renewed was not refused: another connection may serve it.
        kind: type[KafkaError] = DisconnectedError if self._ready.done() else SaslAuthenticationFailedError
        error = kind(f"the callback for credentials raised {type(failure).__name__}")
        error.__cause__ = failure
        self._apply(self._connection.close(error))

    def _set_timer(self) -> None:
        """Set the timer of the state machine; one that is early does no harm."""
        wanted = self._connection.next_timer()
        if self._timer is not None and (wanted is None or wanted < self._timer.when()):
            self._timer.cancel()
            self._timer = None
        if self._timer is None and wanted is not None:
            self._timer = self._loop.call_at(wanted, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        self._apply(self._connection.on_timer(self._loop.time()))

    # Writing.

    def _write_soon(self) -> None:
        self._unwritten += 1
        if self._unwritten == 1:
            self._loop.call_soon(self._write_and_set_timer)
        elif self._unwritten % _REQUESTS_BEFORE_A_WRITE == 0:
            self._write()

    def _write_and_set_timer(self) -> None:
        self._unwritten = 0
        self._write()
        self._set_timer()

    def _write(self) -> None:
        data = self._connection.data_to_send()
        if data and self._transport is not None:
            self._transport.write(data)

    # Callbacks of the event loop (asyncio.Protocol).

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is connected, TLS included."""
        self._stage = "before the login and the negotiation of versions were done"
        self._transport = cast(asyncio.Transport, transport)
        self._connection.open(self._loop.time())
        self._apply(())

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        self._was_heard = True
        self._apply(self._connection.receive(data, self._loop.time()))

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is closed, by whichever side."""
        self._apply(self._connection.end_of_stream(exc))
        if not self._lost.done():
            self._lost.set_result(None)

    def pause_writing(self) -> None:
        """The send buffer is full: requests wait, so that unsent data stays bounded."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The send buffer has room again."""
        self._writable.set()


async def _asked(source: CredentialsSource | None) -> Credentials:
    """The credentials from a callback, which may be a function or a coroutine function."""
    if not callable(source):
        raise TypeError("there is no callback for credentials")
    given: object = source() if inspect.iscoroutinefunction(source) else await asyncio.to_thread(source)
    if inspect.isawaitable(given):
        given = await given
    if not isinstance(given, (PlainCredentials, ScramCredentials, OAuthBearerCredentials)):
        raise TypeError(f"the callback for credentials gave a {type(given).__name__}")
    return given


def _expected_node(settings: ConnectionSettings) -> int | None:
    return settings.node_id if settings.node_id >= 0 else None


async def _explained(error: BaseException, place: Place, tls: ssl.SSLContext | None, host: str) -> BaseException:
    """The reason why an attempt at an address failed, diagnosed where the error does not say it."""
    if is_final(error):
        return error
    found = await mistake_at(place, tls, host)
    if found is None:
        return error
    mistake = BrokenStreamError(found) if isinstance(found, str) else found
    mistake.__cause__ = error
    return mistake


def _said(name: str, failures: Mapping[str, BaseException]) -> str:
    said = (f"{place}: {reason(error)}" if place not in name else reason(error) for place, error in failures.items())
    return f"{name}: {'; '.join(said)}"


def _cause(failures: Mapping[str, BaseException]) -> BaseException:
    if len(failures) == 1:
        return next(iter(failures.values()))
    return BaseExceptionGroup("no address can be connected to", list(failures.values()))
