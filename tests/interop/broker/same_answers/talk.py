"""The requests to a broker and its answers, recorded so that two brokers can be compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from tests.apache_kafka.connection import Connection, connected_to
from tests.interop.broker.same_answers.normalised import Normalised, normalised, without_words

from kafkawire.admin.connection.sasl.credentials import ScramCredentials
from kafkawire.admin.connection.sasl.scram_client import ScramExchange
from kafkawire.protocol import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    message_class,
)
from kafkawire.rpc import api_of
from kafkawire.wire import Message

R = TypeVar("R", bound=Message)

CLOSED = "the connection is closed"
"""The answer of a broker that gives none."""

_SECONDS_TO_SETTLE = 20.0
_SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True, slots=True)
class Side:
    """A broker to talk to.

    Attributes:
        name: of the broker, for failures.
        host, port: of the plain listener.
        sasl_port: of the listener with SASL and without TLS; 0 if there is none.
    """

    name: str
    host: str
    port: int
    sasl_port: int = 0


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its answer, without what must differ between two brokers.

    Attributes:
        request, version: the request.
        answer: the answer, or ``CLOSED``.
    """

    request: str
    version: int
    answer: Normalised


@dataclass(slots=True)
class Talk:
    """Asks one broker, and keeps what it answers.

    ::

        answer = talk.ask(CreateTopicsRequest(...), 7, CreateTopicsResponse)

    Attributes:
        side: the broker.
        exchanges: all requests in order.
    """

    side: Side
    exchanges: list[Exchange] = field(default_factory=list)
    _client_id: str = "kafkawire"
    _log_in: Callable[[Connection], None] | None = None
    _connected: ExitStack = field(default_factory=ExitStack)
    _connection: Connection | None = None
    _clients: ExitStack = field(default_factory=ExitStack)

    def ask(self, request: Message, version: int, response: type[R]) -> R:
        """The answer, which both brokers must give alike.

        Raises:
            OSError: the broker closes the connection, or does not answer; use ``refused`` where it should.
        """
        answer = self._asked(request, version, response)
        self.keep(request, version, answer)
        return answer

    def learn(self, request: Message, version: int, response: type[R]) -> R:
        """The answer, which may differ: what must not is given to ``keep``."""
        return self._asked(request, version, response)

    def keep(self, request: Message, version: int, answer: Message) -> None:
        """Keep an answer that came over another connection, or a part of one."""
        self._keep(request, version, normalised(answer))

    def ask_for_codes(self, request: Message, version: int) -> None:
        """Ask where the words of errors are about objects inside of Kafka, and only the codes can be alike."""
        answer = self._asked(request, version, message_class(api_of(request).response))
        self._keep(request, version, without_words(normalised(answer)))

    def tell(self, request: Message, version: int) -> None:
        """Ask, or learn that the connection is closed, where nothing further depends on the answer."""
        try:
            self.ask(request, version, message_class(api_of(request).response))
        except OSError:
            self.disconnect()
            self._keep(request, version, CLOSED)

    def ask_until(self, request: Message, version: int, response: type[R], done: Callable[[R], bool]) -> R:
        """Ask until an answer is good, since what was changed may take a moment to be seen; only that one counts.

        Raises:
            AssertionError: it takes too long.
            OSError: the broker closes the connection.
        """
        deadline = time.monotonic() + _SECONDS_TO_SETTLE
        while not done(answer := self._asked(request, version, response)):
            assert time.monotonic() < deadline, f"{self.side.name} does not come to what is waited for: {answer}"
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        self._keep(request, version, normalised(answer))
        return answer

    def client(self, client_id: str) -> Client:
        """A client with a connection of its own, whose requests may wait for those of others."""
        connection = self._clients.enter_context(connected_to(self.side.host, self.side.port, client_id=client_id))
        return Client(self, connection)

    @contextmanager
    def called(self, client_id: str) -> Iterator[None]:
        """Ask with a client id, whose quotas have not been used by other scenarios, until the context ends."""
        self.disconnect()
        self._client_id, usual = client_id, self._client_id
        try:
            yield
        finally:
            self._client_id = usual
            self.disconnect()

    @contextmanager
    def logged_in(self, user: str, password: str) -> Iterator[None]:
        """Ask as somebody, over the listener with SASL, until the context ends."""
        with self._logged_in(partial(_log_in_by_plain, f"\0{user}\0{password}".encode())):
            yield

    @contextmanager
    def logged_in_by(self, credentials: ScramCredentials) -> Iterator[None]:
        """Ask with a SCRAM login, such as that of a delegation token, until the context ends."""
        with self._logged_in(partial(_log_in_by_scram, credentials)):
            yield

    @contextmanager
    def _logged_in(self, log_in: Callable[[Connection], None]) -> Iterator[None]:
        self.disconnect()
        self._log_in = log_in
        try:
            yield
        finally:
            self._log_in = None
            self.disconnect()

    def disconnect(self) -> None:
        """Ask over a new connection from now on."""
        self._connected.close()
        self._connection = None

    def close(self) -> None:
        """Close all connections."""
        self.disconnect()
        self._clients.close()

    def _asked(self, request: Message, version: int, response: type[R]) -> R:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection.ask(request, version, response)

    def _connect(self) -> Connection:
        if self._log_in is None:
            return self._connected.enter_context(self._connected_to(self.side.port))
        connection = self._connected.enter_context(self._connected_to(self.side.sasl_port))
        self._log_in(connection)
        return connection

    def _connected_to(self, port: int) -> AbstractContextManager[Connection]:
        return connected_to(self.side.host, port, client_id=self._client_id)

    def _keep(self, request: Message, version: int, answer: Normalised) -> None:
        self.exchanges.append(Exchange(str(request), version, answer))


def _log_in_by_plain(proof: bytes, connection: Connection) -> None:
    shaken = connection.ask(SaslHandshakeRequest("PLAIN"), 1, SaslHandshakeResponse)
    assert shaken.error_code == 0, shaken
    done = connection.ask(SaslAuthenticateRequest(proof), 2, SaslAuthenticateResponse)
    assert done.error_code == 0, done


def _log_in_by_scram(credentials: ScramCredentials, connection: Connection) -> None:
    shaken = connection.ask(SaslHandshakeRequest(credentials.mechanism), 1, SaslHandshakeResponse)
    assert shaken.error_code == 0, shaken
    exchange = ScramExchange(credentials, maximum_iterations=16384)
    proof: bytes | None = exchange.first()
    while proof is not None:
        done = connection.ask(SaslAuthenticateRequest(proof), 2, SaslAuthenticateResponse)
        if done.error_code:
            raise ConnectionRefusedError(f"{done.error_code}: {done.error_message}")
        proof = exchange.respond(done.auth_bytes)


@dataclass(slots=True)
class Client:
    """A client beside others of one talk.

    Attributes:
        talk: keeps the answers.
        connection: of this client only.
    """

    talk: Talk
    connection: Connection
    _sent: tuple[Message, int, int] | None = None

    def ask(self, request: Message, version: int, response: type[R]) -> R:
        """The answer, which both brokers must give alike."""
        self.send(request, version)
        return self.answer(response)

    def send(self, request: Message, version: int) -> None:
        """Send a request whose answer may be a long time coming."""
        self._sent = (request, version, self.connection.send(request, version))

    def answer(self, response: type[R]) -> R:
        """The answer to the request that was sent."""
        assert self._sent is not None, "send a request first"
        request, version, correlation_id = self._sent
        answer = self.connection.answer(correlation_id, version, response)
        self.talk.keep(request, version, answer)
        return answer
