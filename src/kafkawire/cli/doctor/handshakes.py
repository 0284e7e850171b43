"""TLS connections to a listener: the version, the cipher, and the certificates that it sends."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import sys
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from kafkawire.admin.connection.sockets import Place, connected_socket
from kafkawire.protocol import ApiVersionsRequest
from kafkawire.rpc import encode_request

_NO_CHECK_OF_TIME: Final = 0x200000
"""OpenSSL's ``X509_V_FLAG_NO_CHECK_TIME``, for which Python has no name."""

_SECONDS_TO_ANSWER: Final = 1.0
_QUESTION: Final = encode_request(ApiVersionsRequest(), 0, correlation_id=1, client_id="kafkawire")

Certificate = dict[str, Any]
"""A certificate as ``ssl.SSLSocket.getpeercert`` has it; empty if it cannot be read."""


class Handshake(NamedTuple):
    """A TLS connection that was made.

    Attributes:
        version: of TLS.
        cipher: its name.
        sent: the certificates that the listener sent, its own one first; as DER.
        own: the listener's certificate; empty if it was not verified.
        answers: whether the listener answered a request; None without a request.
    """

    version: str
    cipher: str
    sent: tuple[bytes, ...]
    own: Certificate
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
            dict(spoken.getpeercert() or {}),
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


async def certificates(place: Place, spoken: Handshake, host: str) -> list[Certificate]:
    """The certificates that a listener sent, its own one first.

    Python reads only certificates that it has verified, so a refused one is verified against itself.
    """
    if not spoken.sent:
        return []
    own, *others = spoken.sent
    return [spoken.own or await _verified_against_itself(place, own, host), *(authority(each) for each in others)]


def authority(der: bytes) -> Certificate:
    """The certificate of an authority; empty for any other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=der)
    except ssl.SSLError:
        return {}
    return next(iter(context.get_ca_certs()), {})


async def _verified_against_itself(place: Place, der: bytes, host: str) -> Certificate:
    itself = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    itself.check_hostname = False
    itself.verify_flags = ssl.VerifyFlags(ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_OF_TIME)
    try:
        itself.load_verify_locations(cadata=der)
        return (await handshake(place, itself, host)).own
    except (OSError, ValueError):
        return {}


def _sent(spoken: ssl.SSLObject) -> tuple[bytes, ...]:
    """Python has a public name for this since 3.13."""
    if sys.version_info >= (3, 13):
        return tuple(spoken.get_unverified_chain())
    chain: Sequence[Any] = spoken._sslobj.get_unverified_chain() or ()  # type: ignore[attr-defined] # noqa: SLF001 see the docstring
    return tuple(ssl.PEM_cert_to_DER_cert(each.public_bytes()) for each in chain)


async def _answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    try:
        writer.write(_QUESTION)
        return bool(await reader.read(1))
    except OSError:
        return False
