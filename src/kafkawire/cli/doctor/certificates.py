"""The certificate that a listener presents: its names, its issuer, and until when it holds."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import time
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from kafkawire.admin.connection.sockets import Place, connected_socket

_NO_CHECK_OF_TIME: Final = 0x200000
"""OpenSSL's ``X509_V_FLAG_NO_CHECK_TIME``, for which Python has no name."""

_SECONDS_OF_A_DAY: Final = 86_400


class Handshake(NamedTuple):
    """A TLS connection that was made.

    Attributes:
        version: of TLS.
        cipher: its name.
        certificate: of the listener, as ``ssl.SSLSocket.getpeercert`` has it; empty if it was not verified.
        der: the same as bytes.
    """

    version: str
    cipher: str
    certificate: dict[str, Any]
    der: bytes


async def handshake(place: Place, context: ssl.SSLContext, host: str) -> Handshake:
    """Make a TLS connection, and close it.

    Raises:
        OSError: it cannot be made.
    """
    connected = await connected_socket(place)
    _, writer = await asyncio.open_connection(sock=connected, ssl=context, server_hostname=host)
    try:
        spoken: ssl.SSLObject = writer.get_extra_info("ssl_object")
        cipher = spoken.cipher()
        return Handshake(
            spoken.version() or "TLS",
            cipher[0] if cipher else "no cipher",
            dict(spoken.getpeercert() or {}),
            spoken.getpeercert(binary_form=True) or b"",
        )
    finally:
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def refused_certificate(place: Place, host: str) -> dict[str, Any]:
    """The certificate of a listener that is not trusted; empty if it cannot be read.

    Python reads only certificates that it has verified, so this one is verified against itself.
    """
    unverified = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unverified.check_hostname = False
    unverified.verify_mode = ssl.CERT_NONE  # nothing is sent on this connection
    try:
        der = (await handshake(place, unverified, host)).der
        itself = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        itself.check_hostname = False
        itself.verify_flags = ssl.VerifyFlags(ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_OF_TIME)
        itself.load_verify_locations(cadata=der)
        return (await handshake(place, itself, host)).certificate
    except (OSError, ValueError):
        return {}


def described(certificate: dict[str, Any]) -> str:
    """Names, issuer and end of a certificate, for people."""
    names = ", ".join(_names(certificate)) or "no name"
    said = f"the certificate is for {names}; issued by {_common_name(certificate, 'issuer')}"
    days = days_left(certificate)
    if days is None:
        return said
    end = certificate["notAfter"]
    if days < 0:
        return f"{said}; expired {end}"
    return f"{said}; expires {end}, in {days} day{'' if days == 1 else 's'}"


def days_left(certificate: dict[str, Any]) -> int | None:
    """The days until a certificate expires; negative after that. None if it does not say."""
    end = certificate.get("notAfter")
    if not isinstance(end, str):
        return None
    return int((ssl.cert_time_to_seconds(end) - time.time()) // _SECONDS_OF_A_DAY)


def _names(certificate: dict[str, Any]) -> Iterator[str]:
    alternatives = [str(name) for _, name in certificate.get("subjectAltName", ())]
    yield from alternatives or [_common_name(certificate, "subject")]


def _common_name(certificate: dict[str, Any], part: str) -> str:
    """The common name of the subject or the issuer, or else its organisation."""
    fields = {name: str(value) for group in certificate.get(part, ()) for name, value in group}
    return fields.get("commonName") or fields.get("organizationName") or "an unknown name"
