"""A broker whose answers a test chooses, on a real socket: for behaviour that no real broker can be made to show.

It logs clients in, lists the versions that it is given, and hands every other request to the handlers of the test::

    async with StandInBroker(handlers={MetadataRequest: answer_metadata}) as broker:
        ... connect to broker.host, broker.port
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tests.stand_ins.closing import closing
from tests.stand_ins.sasl_server import LoginError, SaslServer

from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.rpc import UNSUPPORTED_VERSION, Request, decode_request, encode_response
from kafkawire.wire import Message

_SIZE = struct.Struct(">i")
_SECONDS = 10.0
_UNSUPPORTED_SASL_MECHANISM = 33
_ILLEGAL_SASL_STATE = 34
_SASL_AUTHENTICATION_FAILED = 58


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request is answered.

    Attributes:
        response: the answer, or its whole frame; None for no answer ever.
        times: how often it is sent.
        correlation_id: instead of that of the request.
        close: whether the connection is closed then.
    """

    response: Message | bytes | None = None
    times: int = 1
    correlation_id: int | None = None
    close: bool = False


Handler = Callable[[Request], Message | Answer | Awaitable[Message | Answer]]
"""Answers a request; later requests of the connection wait for it, as in a real broker."""


@dataclass(eq=False)
class Client:
    """A connection as the broker sees it.

    Attributes:
        requests: the requests in order, without SASL and ApiVersions.
        logins: how often it has logged in.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    requests: list[Request] = field(default_factory=list)
    logins: int = 0
    login: SaslServer | None = None


class StandInBroker:
    """Listens on a free port of the loopback while its context lasts.

    Args:
        handlers: request class to what answers it; of any other API no version is listed.
        versions: API key to the versions that are listed, where not all stable ones are.
        sasl: the mechanisms that clients may log in by, each a function that begins the server's side; none for a
            listener without SASL.
        session_lifetime_ms: sent to clients that have logged in.
        tls: for a listener with TLS.
        answer_api_versions: answers ApiVersions instead.

    Attributes:
        host, port: where it listens.
        clients: the connections that were ever made.
    """

    def __init__(
        self,
        handlers: Mapping[type[Message], Handler] | None = None,
        *,
        versions: Mapping[int, range] | None = None,
        sasl: Mapping[str, Callable[[], SaslServer]] | None = None,
        session_lifetime_ms: int = 0,
        tls: ssl.SSLContext | None = None,
        answer_api_versions: Handler | None = None,
    ) -> None:
        self._handlers = {request.API_KEY: handler for request, handler in (handlers or {}).items()}
        own = {ApiKey.API_VERSIONS} | ({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE} if sasl else set())
        listed = {key: APIS[key].stable_versions for key in [*own, *(k for k in self._handlers if k is not None)]}
        self.versions: dict[int, range] = {**listed, **(versions or {})}
        self._sasl = sasl
        self._session_lifetime_ms = session_lifetime_ms
        self._tls = tls
        self._answer_api_versions = answer_api_versions
        self.host = "127.0.0.1"
        self.port = 0
        self.clients: list[Client] = []
        self._serving: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, self.host, self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop listening and close all connections, as a broker that is killed."""
        if self._server is None:
            return
        async with closing(self._server):
            for client in self.clients:
                client.writer.transport.abort()
            for task in list(self._serving):
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)

    async def start_again(self) -> None:
        """Listen again on the same port."""
        self._server = await asyncio.start_server(self._accept, self.host, self.port, ssl=self._tls)

    async def no_clients(self) -> None:
        """Wait until all connections are closed.

        Raises:
            TimeoutError: if they are not, after some seconds.
        """
        async with asyncio.timeout(_SECONDS):
            while self._serving:
                await asyncio.wait(self._serving)

    @property
    def requests(self) -> list[Request]:
        """The requests of all connections."""
        return [request for client in self.clients for request in client.requests]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(reader, writer)
        self.clients.append(client)
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            while await self._serve(client, await _frame(reader)):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, client: Client, frame: bytes) -> bool:
        """Answer one frame; whether the connection stays open."""
        if client.login is not None and client.login.is_bare and not client.login.is_complete:
            return await self._bare_token(client, client.login, frame)
        request = decode_request(frame)
        key, version = request.header.request_api_key, request.header.request_api_version
        answer = await self._answer(client, request)
        if isinstance(answer, Message):
            answer = Answer(answer)
        if answer.response is not None:
            content = answer.response
            if not isinstance(content, bytes):
                asked = request.header.correlation_id
                correlation_id = asked if answer.correlation_id is None else answer.correlation_id
                if key == ApiKey.API_VERSIONS and (request.body is None or _refuses_version(content)):
                    version = 0
                content = encode_response(content, version, correlation_id=correlation_id)
            client.writer.write(content * answer.times)
            await client.writer.drain()
        return not answer.close

    async def _answer(self, client: Client, request: Request) -> Message | Answer:
        match request.body:
            case None | ApiVersionsRequest():
                return await self._api_versions(request)
            case SaslHandshakeRequest() if self._sasl is not None:
                return self._handshake(client, request.body, request.header.request_api_version)
            case SaslAuthenticateRequest() if self._sasl is not None:
                return self._token(client, request.body)
        if self._sasl is not None and not client.logins:
            return Answer(close=True)
        client.requests.append(request)
        answer = self._handlers[request.header.request_api_key](request)
        return await answer if isinstance(answer, Awaitable) else answer

    async def _api_versions(self, request: Request) -> Message | Answer:
        if self._answer_api_versions is not None:
            answer = self._answer_api_versions(request)
            return await answer if isinstance(answer, Awaitable) else answer
        own = self.versions[ApiKey.API_VERSIONS]
        if request.header.request_api_version not in own:
            return ApiVersionsResponse(UNSUPPORTED_VERSION, listed_versions({ApiKey.API_VERSIONS: own}))
        return ApiVersionsResponse(api_keys=listed_versions(self.versions))

    # SASL.

    def _handshake(self, client: Client, request: SaslHandshakeRequest, version: int) -> Message:
        assert self._sasl is not None
        if request.mechanism not in self._sasl:
            return SaslHandshakeResponse(_UNSUPPORTED_SASL_MECHANISM, tuple(self._sasl))
        client.login = self._sasl[request.mechanism]()
        client.login.is_bare = version == 0
        return SaslHandshakeResponse(0, tuple(self._sasl))

    def _token(self, client: Client, request: SaslAuthenticateRequest) -> Message | Answer:
        if client.login is None:
            return Answer(SaslAuthenticateResponse(_ILLEGAL_SASL_STATE, "SaslHandshake comes first"), close=True)
        try:
            token = client.login.respond(request.auth_bytes)
        except LoginError as error:
            return Answer(SaslAuthenticateResponse(_SASL_AUTHENTICATION_FAILED, str(error)), close=True)
        lifetime = 0
        if client.login.is_complete:
            client.logins += 1
            lifetime = self._session_lifetime_ms
        return SaslAuthenticateResponse(0, None, token, lifetime)

    async def _bare_token(self, client: Client, login: SaslServer, frame: bytes) -> bool:
        try:
            token = login.respond(frame)
        except LoginError:
            return False
        client.logins += login.is_complete
        client.writer.write(_SIZE.pack(len(token)) + token)
        await client.writer.drain()
        return True


def listed_versions(versions: Mapping[int, range]) -> Sequence[ApiVersionsResponse.ApiVersion]:
    """Versions as an ApiVersions response has them."""
    return tuple(
        ApiVersionsResponse.ApiVersion(key, offered[0], offered[-1]) for key, offered in sorted(versions.items())
    )


def _refuses_version(answer: Message) -> bool:
    return isinstance(answer, ApiVersionsResponse) and answer.error_code == UNSUPPORTED_VERSION


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = _SIZE.unpack(await reader.readexactly(_SIZE.size))
    return await reader.readexactly(size)
