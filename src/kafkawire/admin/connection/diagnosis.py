"""Why a connection cannot be made: the reason with what to do, and whether a retry could help.

Some mistakes look like a broker that stops: a listener with TLS closes the connection of a client without it, and the
other way round. After such an end the client tries the same address in the other way, which shows the difference.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import socket
import ssl
import struct
from collections.abc import Iterator

from kafkawire import protocol
from kafkawire.admin.connection.first_bytes import is_http, is_tls
from kafkawire.admin.connection.sockets import Place, connected_socket
from kafkawire.protocol.errors import UnsupportedSaslMechanismError
from kafkawire.rpc import FRAME_HEAD, decode_response, encode_request, frame_size
from kafkawire.wire import DecodeError
from kafkawire.wire.kafka_errors import BrokenStreamError

_SECONDS_TO_ASK = 1.0
_HTTP_REQUEST = b"GET / HTTP/1.0\r\n\r\n"
_CORRELATION_ID = 0x6B61666B
_HEAD = struct.Struct(">ii")
_LONGEST_ANSWER = 1 << 20
_HANDSHAKE_VERSION = 1
_MECHANISMS_NAMED = 10
_MECHANISM = re.compile(r"[A-Z0-9_-]{1,20}")
"""Names of mechanisms as RFC 4422 has them; an error shows no others, since anything may listen there."""

_ISSUER_CODES = frozenset({2, 18, 19, 20, 21})
"""OpenSSL's numbers for certificates that no trusted authority has signed."""

_NAME_CODES = frozenset({62, 63, 64})
"""OpenSSL's numbers for certificates of another host name, e-mail address or IP address."""

_EXPIRED = 10
_NOT_YET_VALID = 9

_PASSING_REASONS = frozenset({
    None, "DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "SSLV3_ALERT_BAD_RECORD_MAC", "TLSV1_ALERT_INTERNAL_ERROR",
    "TLSV1_ALERT_USER_CANCELLED", "UNEXPECTED_EOF_WHILE_READING",
})  # fmt: skip
"""OpenSSL's reasons for a connection that was cut or damaged; all others mean that the two sides do not agree."""

_NEEDS_CERTIFICATE = "give Tls(certificate=..., key=...)"
_NO_TLS_THERE = "what listens there does not speak TLS: take the port of a listener with TLS, or leave out tls"

_ADVICE = {
    "WRONG_VERSION_NUMBER": _NO_TLS_THERE,
    "RECORD_LAYER_FAILURE": _NO_TLS_THERE,
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": f"the broker wants a certificate of the client: {_NEEDS_CERTIFICATE}",
    "SSLV3_ALERT_BAD_CERTIFICATE": f"the broker refuses the client's certificate, or wants one: {_NEEDS_CERTIFICATE}",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": (
        "the broker refuses the client's certificate: it has expired, or the broker does not trust its authority"
    ),
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "the client's certificate has expired: renew it",
    "TLSV1_ALERT_UNKNOWN_CA": "the broker does not trust the authority of the client's certificate",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the broker wants a certificate of the client, or has no cipher in common with it",
    "TLSV1_ALERT_PROTOCOL_VERSION": "the broker has no version of TLS in common with the client",
}

WANTS_TLS = "the listener wants TLS: give tls=Tls(...), or take the port of a listener without TLS"
HAS_NO_TLS = "the listener has no TLS: take the port of a listener with TLS, or leave out tls"
IS_HTTP = "the answer looks like HTTP: this is no Kafka listener, take the port of one, usually 9092"


def reason(error: BaseException) -> str:
    """The reason of a network error in a few words, and what to do about it."""
    match next((each for each in _causes(error) if isinstance(each, ssl.SSLError)), error):
        case ssl.SSLCertVerificationError() as refused:
            said = f"TLS: the broker's certificate is refused: {refused.verify_message.rstrip('.')}"
            return f"{said}; {_advice_for(refused.verify_code)}"
        case ssl.SSLError() as failed:
            said = f"TLS: {failed.reason or failed.strerror or failed}"
            return f"{said}: {_ADVICE[failed.reason]}" if failed.reason in _ADVICE else said
        case socket.gaierror() as unresolved:
            advice = "; check how it is written" if is_unresolved(unresolved) else ""
            return f"the name cannot be resolved: {unresolved.strerror}{advice}"
        case OSError(errno=int(number)) if number in errno.errorcode:
            return os.strerror(number).lower()
    return str(error) or ("timed out" if isinstance(error, TimeoutError) else type(error).__name__)


def is_final(error: BaseException) -> bool:
    """Whether every further attempt fails until a setting or a certificate is changed."""
    return any(
        isinstance(each, BrokenStreamError)
        or (isinstance(each, ssl.SSLError) and not _is_passing(each))
        for each in _causes(error)
    )  # fmt: skip


def is_unresolved(error: BaseException | None) -> bool:
    """Whether a name does not exist; a name server that does not answer does not say so."""
    return isinstance(error, UnicodeError) or (isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN)


async def mistake_at(place: Place, tls: ssl.SSLContext | None, host: str) -> ssl.SSLError | str | None:
    """Diagnose a listener that closed the connection, or let the time pass, without an answer.

    Args:
        place: where.
        tls: what was tried; None for plain text.
        host: the name that the certificate must have.

    Returns:
        What is wrong and what to do, or the error that says so; None if the listener does not show.
    """
    if tls is None:
        to_tls, to_http = await asyncio.gather(_answer_to(_client_hello(), place), _answer_to(_HTTP_REQUEST, place))
        return WANTS_TLS if is_tls(to_tls) else IS_HTTP if is_http(to_http) else None
    to_kafka, to_http = await asyncio.gather(_answer_to(_kafka_request(), place), _answer_to(_HTTP_REQUEST, place))
    if is_http(to_kafka) or is_http(to_http):
        return IS_HTTP
    return HAS_NO_TLS if _is_kafka(to_kafka) else await _alert_after_handshake(place, tls, host)


async def login_wanted_at(place: Place, tls: ssl.SSLContext | None, host: str) -> str | None:
    """Diagnose a listener that listed its versions and then closed the connection at the first request.

    A listener with SASL does that to a client which does not log in.

    Args:
        place, tls, host: of the connection that was closed.

    Returns:
        What is wrong and what to do; None if the listener has no SASL, or does not show.
    """
    mechanisms = await mechanisms_at(place, tls, host)
    if not mechanisms:
        return None
    enabled = ", ".join(mechanisms)
    return f"the listener wants a login (SASL; it has {enabled}): give credentials=..., or take the port of another"


async def mechanisms_at(place: Place, tls: ssl.SSLContext | None, host: str) -> tuple[str, ...]:
    """The SASL mechanisms of a listener.

    Args:
        place, tls, host: of the listener.

    Returns:
        The first ten; none if the listener has no SASL, or does not show.
    """
    answer = await sasl_answer_at(place, tls, host)
    return () if answer is None else mechanisms_in(answer)


async def sasl_answer_at(place: Place, tls: ssl.SSLContext | None, host: str) -> protocol.SaslHandshakeResponse | None:
    """What a listener answers to a login by a mechanism that there is not.

    Args:
        place, tls, host: of the listener.

    Returns:
        The answer; None if none comes in time.
    """
    question = encode_request(
        protocol.SaslHandshakeRequest(""), _HANDSHAKE_VERSION, correlation_id=_CORRELATION_ID, client_id="kafkawire"
    )
    try:
        async with asyncio.timeout(_SECONDS_TO_ASK):
            connected = await connected_socket(place)
            server_name = host if tls else None
            reader, writer = await asyncio.open_connection(sock=connected, ssl=tls, server_hostname=server_name)
            try:
                writer.write(question)
                size = frame_size(await reader.readexactly(FRAME_HEAD.size), maximum=_LONGEST_ANSWER)
                frame = await reader.readexactly(size)
            finally:
                writer.transport.abort()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
        return decode_response(frame, protocol.SaslHandshakeResponse, _HANDSHAKE_VERSION)[1]
    except (OSError, EOFError, DecodeError):  # TimeoutError is an OSError
        return None


def mechanisms_in(answer: protocol.SaslHandshakeResponse) -> tuple[str, ...]:
    """The first ten mechanisms that a listener names when it refuses another; none if it has no SASL."""
    if answer.error_code != UnsupportedSaslMechanismError.code:
        return ()
    return tuple(name for name in answer.mechanisms if _MECHANISM.fullmatch(name))[:_MECHANISMS_NAMED]


def _advice_for(verify_code: int) -> str:
    if verify_code in _ISSUER_CODES:
        return "name the authority that signed it: Tls(ca=...)"
    if verify_code in _NAME_CODES:
        return "connect to a name that it is for, or give Tls(verify_hostname=False)"
    if verify_code == _EXPIRED:
        return "it has to be renewed at the broker"
    if verify_code == _NOT_YET_VALID:
        return "compare the clocks of both machines"
    return "the broker needs another one"


def _is_passing(error: ssl.SSLError) -> bool:
    if isinstance(error, ssl.SSLCertVerificationError):
        return False
    return isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)) or error.reason in _PASSING_REASONS


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


async def _answer_to(question: bytes, place: Place) -> bytes:
    """The first bytes of a listener's answer; empty if none comes in time."""
    loop = asyncio.get_running_loop()
    head = b""
    try:
        async with asyncio.timeout(_SECONDS_TO_ASK):
            with await connected_socket(place) as connected:
                await loop.sock_sendall(connected, question)
                while len(head) < _HEAD.size and (more := await loop.sock_recv(connected, _HEAD.size - len(head))):
                    head += more
    except OSError:  # TimeoutError is one
        return head
    return head


async def _alert_after_handshake(place: Place, tls: ssl.SSLContext, host: str) -> ssl.SSLError | None:
    """The alert of a listener with TLS 1.3 about the client's certificate, which it checks after the handshake.

    A client that has sent something by then may lose the alert with the connection. This one sends nothing.
    """
    try:
        async with asyncio.timeout(_SECONDS_TO_ASK):
            connected = await connected_socket(place)
            reader, writer = await asyncio.open_connection(sock=connected, ssl=tls, server_hostname=host)
            try:
                await reader.read(1)
            finally:
                writer.close()
    except ssl.SSLError as error:
        return error if is_final(error) else None
    except OSError:  # TimeoutError is one
        return None
    return None


def _kafka_request() -> bytes:
    return encode_request(
        protocol.ApiVersionsRequest(), 0, correlation_id=_CORRELATION_ID, client_id="kafkawire"
    )  # fmt: skip


def _is_kafka(head: bytes) -> bool:
    if len(head) < _HEAD.size:
        return False
    size: int
    size, correlation_id = _HEAD.unpack(head)
    return 0 < size <= _LONGEST_ANSWER and correlation_id == _CORRELATION_ID


def _client_hello() -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # it is only checked whether the listener answers, and nothing is sent
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()
