"""The certificates of a listener, from its own to that of an authority: what is wrong with which, and what to do."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from kafkawire.cli.doctor.handshakes import Certificate

_SECONDS_OF_A_DAY: Final = 86_400
_DAYS_TO_RENEW: Final = 30
_NAMES_SHOWN: Final = 5

_SIGNED_BY_ANOTHER: Final = frozenset({7, 20})
"""OpenSSL's numbers for a signature of another key, and for an issuer that is not known."""


class Trust(NamedTuple):
    """What the settings trust.

    Attributes:
        authorities: their certificates.
        store: where these are, for people.
        to_extend: what to do so that one more is trusted.
    """

    authorities: tuple[Certificate, ...]
    store: str
    to_extend: str


class Soundness(StrEnum):
    """Whether a certificate can be used."""

    SOUND = "sound"
    ENDS_SOON = "ends soon"
    UNUSABLE = "unusable"


class Finding(NamedTuple):
    """What is found of one certificate.

    Attributes:
        soundness: whether it can be used.
        detail: what it is, and what is wrong.
        advice: what to do; None if nothing is wrong.
    """

    soundness: Soundness
    detail: str
    advice: str | None = None


def findings(sent: Sequence[Certificate], host: str | None, trust: Trust, *, verify_code: int = 0) -> list[Finding]:
    """What is found of the certificates that lead from a listener to an authority, in this order.

    Args:
        sent: by the listener, its own one first; empty ones cannot be read.
        host: the name that the first one must have; None if any name will do.
        trust: what the settings trust.
        verify_code: why OpenSSL refuses them; 0 if it does not.

    Returns:
        A finding for each certificate, and one more for a certificate that is missing.
    """
    path = _path(sent)
    found = [_of_one(each, host if at == 0 else None, is_own=at == 0) for at, each in enumerate(path)]
    if path and path[-1]:
        found += _of_the_end(path, found, trust, is_signed_by_another=verify_code in _SIGNED_BY_ANOTHER)
    named = [_name_of(each) for each in path]
    count = len(found)
    return [
        each._replace(detail=f"{at} of {count}, {name}{each.detail}")
        for at, (each, name) in enumerate(zip(found, [*named, ""], strict=False), start=1)
    ]


def names(certificate: Certificate) -> tuple[str, ...]:
    """The alternative names of a certificate, those that a host name is compared with."""
    return tuple(str(name) for _, name in certificate.get("subjectAltName", ()))


def is_for(certificate: Certificate, host: str) -> bool:
    """Whether a certificate is for a host name or an IP address."""
    try:
        wanted = ipaddress.ip_address(host)
    except ValueError:
        return any(_matches(name, host.rstrip(".").lower()) for name in _hosts(certificate))
    return any(
        kind == "IP Address" and _address(name) == wanted for kind, name in certificate.get("subjectAltName", ())
    )


def days_left(certificate: Certificate) -> int | None:
    """The days until a certificate expires; negative after that. None if it does not say."""
    end = certificate.get("notAfter")
    return _days(end) if isinstance(end, str) else None


def _path(sent: Sequence[Certificate]) -> list[Certificate]:
    """From the listener's own certificate, each with the one of its issuer after it, in whatever order they came."""
    path = list(sent[:1])
    others = list(sent[1:])
    while path and path[-1] and not _is_self_signed(path[-1]):
        issuer = next((each for each in others if each and each["subject"] == path[-1]["issuer"]), None)
        if issuer is None:
            # A certificate that is no authority's cannot be read, and is in its place.
            return [*path, {}] if {} in others else path
        others.remove(issuer)
        path.append(issuer)
    return path


def _of_one(certificate: Certificate, host: str | None, *, is_own: bool) -> Finding:
    """Whether a certificate alone is sound: its time and its names."""
    if not certificate:
        return Finding(
            Soundness.UNUSABLE,
            "it cannot be read" if is_own else "it is not one of an authority, and signs nothing",
            "give the broker certificates that openssl x509 -text reads, each with its issuer after it",
        )
    own = names(certificate)
    shown = ", ".join([*own[:_NAMES_SHOWN], *(["..."] if len(own) > _NAMES_SHOWN else [])])
    said = f"{f' for {shown}' if shown else ''}{_signed(certificate)}"
    starts, days = certificate.get("notBefore"), days_left(certificate)
    if isinstance(starts, str) and ssl.cert_time_to_seconds(starts) > time.time():
        return Finding(
            Soundness.UNUSABLE, f"{said}; valid only from {_date(starts)}", "compare the clocks of both machines"
        )
    if days is None:
        return Finding(Soundness.SOUND, said)
    end = _date(certificate["notAfter"])
    renewal = "renew it at the broker" if is_own else "have this authority renewed, and give the broker the new one"
    if days < 0:
        return Finding(Soundness.UNUSABLE, f"{said}; expired {end}, {_counted(-days - 1)} ago", renewal)
    said = f"{said}; expires {end}, in {_counted(days)}"
    if host is not None and not is_for(certificate, host):
        without = "" if own else "has no subject alternative names, and "
        return Finding(Soundness.UNUSABLE, f"{said}; it {without}is not for {host}", _other_name(own, host))
    return Finding(Soundness.ENDS_SOON, said, renewal) if days < _DAYS_TO_RENEW else Finding(Soundness.SOUND, said)


def _of_the_end(
    path: Sequence[Certificate], found: list[Finding], trust: Trust, *, is_signed_by_another: bool
) -> Iterator[Finding]:
    """Whether the last certificate leads to an authority that is trusted; marks it, or adds the one that is missing."""
    last = path[-1]
    if any(each == last for each in trust.authorities):
        return
    if _is_self_signed(last):
        advice = f"if it is yours, {trust.to_extend}; if not, see what listens there"
        worst = found[-1].advice if found[-1].soundness is Soundness.UNUSABLE else advice
        found[-1] = Finding(Soundness.UNUSABLE, f"{found[-1].detail}; {trust.store} does not have it", worst)
        return
    issuer = _common_name(last, "issuer")
    if any(each["subject"] == last["issuer"] for each in trust.authorities):
        if is_signed_by_another:
            yield Finding(
                Soundness.UNUSABLE,
                f"{issuer}: {trust.store} has another certificate of this name, with another key",
                f"if the authority was renewed, {trust.to_extend} too; if not, see what listens there",
            )
        return
    yield Finding(
        Soundness.UNUSABLE,
        f"{issuer}: missing: the listener does not send it, and {trust.store} does not have it",
        "have the broker send it: put it after the certificate in its ssl.keystore; or, if it is the authority to "
        f"trust, {trust.to_extend}",
    )


def _other_name(own: Sequence[str], host: str) -> str:
    first = f"connect to {own[0]}" if own else "connect to a name that it is for"
    return (
        f"{first}, or have a certificate issued with {host} among its subject alternative names, or set the property "
        "ssl.endpoint.identification.algorithm to nothing"
    )


def _signed(certificate: Certificate) -> str:
    return "; self-signed" if _is_self_signed(certificate) else f"; issued by {_common_name(certificate, 'issuer')}"


def _is_self_signed(certificate: Certificate) -> bool:
    return bool(certificate["subject"] == certificate["issuer"])


def _name_of(certificate: Certificate) -> str:
    return _common_name(certificate, "subject") if certificate else ""


def _common_name(certificate: Certificate, part: str) -> str:
    """The common name of the subject or the issuer, or else its organisation."""
    fields = {name: str(value) for group in certificate.get(part, ()) for name, value in group}
    return fields.get("commonName") or fields.get("organizationName") or "an unknown name"


def _hosts(certificate: Certificate) -> Iterator[str]:
    """The host names of a certificate; without any, the common name counts, as OpenSSL has it."""
    alternatives = certificate.get("subjectAltName", ())
    hosts = [str(name).lower() for kind, name in alternatives if kind == "DNS"]
    yield from hosts if alternatives else [_common_name(certificate, "subject").lower()]


def _matches(pattern: str, host: str) -> bool:
    """A star is one whole label, the first one."""
    if pattern.startswith("*."):
        return "." in host and host.partition(".")[2] == pattern.removeprefix("*.")
    return pattern == host


def _address(text: object) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(str(text).strip())
    except ValueError:
        return None


def _days(end: str) -> int:
    return int((ssl.cert_time_to_seconds(end) - time.time()) // _SECONDS_OF_A_DAY)


def _date(time_of_certificate: str) -> str:
    return dt.datetime.fromtimestamp(ssl.cert_time_to_seconds(time_of_certificate), dt.UTC).date().isoformat()


def _counted(days: int) -> str:
    return f"{days} day{'' if days == 1 else 's'}"
