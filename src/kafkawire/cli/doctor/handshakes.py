"""TLS connections to a listener: the version, the cipher, and the certificates that it sends."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kafkawire.admin.connection.sockets import Place, connected_socket
from kafkawire.protocol import ApiVersionsRequest
from kafkawire.rpc import encode_request

_SECONDS_TO_ANSWER: Final = 1.0
_QUESTION: Final = encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id="kafkawire")

Certificate = dict[str, Any]
"""A certificate as ``ssl.SSLSocket.getpeercert`` has it; empty if it cannot be read."""


class Handshake(NamedTuple):
    """A TLS connection that was made.

    Attributes:
        version: of TLS.
        cipher: its name.
        sent: the certificates that the listener sent, its own one first.
        answers: whether the listener answered a request; None without a request.
    """

    version: str
    cipher: str
    sent: tuple[Certificate, ...]
    answers: bool | None


async def handshake(place: Place, context: ssl.SSLContext, host: str, *, asks: bool = False) -> Handshake:
    """Make a TLS connection, and close it.

    Args:
        place: where.
        context: of TLS.
        host: the name that the certificate must have.
        asks: whether to send a request. A listener with TLS 1.3 refuses a client's certificate after the handshake.

    Raises:
        OSError: it cannot be made.
    """
    connected = await connected_socket(place)
    reader, writer = await asyncio.open_connection(sock=connected, ssl=context, server_hostname=host)
    try:
        spoken: ssl.SSLObject = writer.get_extra_info("ssl_object")
        cipher = spoken.cipher()
        return Handshake(
            spoken.version() or "TLS",
            cipher[0] if cipher else "no cipher",
            _sent(spoken),
            await _answers(reader, writer) if asks else None,
        )
    finally:
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def answers_plain_text(place: Place) -> bool:
    """Whether a listener answers a request without TLS within a second."""
    try:
        async with asyncio.timeout(_SECONDS_TO_ANSWER):
            reader, writer = await asyncio.open_connection(sock=await connected_socket(place))
            try:
                return await _answers(reader, writer)
            finally:
                writer.transport.abort()
    except OSError:  # TimeoutError is one
        return False


def unverified(context: ssl.SSLContext) -> ssl.SSLContext:
    """A context changed so that it verifies no certificate. Send nothing on its connections."""
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _sent(spoken: ssl.SSLObject) -> tuple[Certificate, ...]:
    """Python has no public name for what a certificate says before it is verified; since 3.13 one for its bytes."""
    chain: Sequence[Any] = spoken._sslobj.get_unverified_chain() or ()  # type: ignore[attr-defined] # noqa: SLF001 see the docstring
    return tuple(each.get_info() for each in chain)


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    try:
        writer.write(_QUESTION)
        return bool(await reader.read(1))
    except OSError:
        return False
