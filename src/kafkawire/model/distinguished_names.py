"""The subject of a certificate as Java writes it (``X500Principal.getName``, RFC 2253) and ACLs have it.

``SSLSocket.getpeercert()`` cannot replace this: it omits the encoding, which Java writes in hexadecimal for attributes
without a keyword in RFC 2253, such as an e-mail address.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

_KEYWORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "2.5.4.3": "CN",
        "2.5.4.6": "C",
        "2.5.4.7": "L",
        "2.5.4.8": "ST",
        "2.5.4.9": "STREET",
        "2.5.4.10": "O",
        "2.5.4.11": "OU",
        "0.9.2342.19200300.100.1.25": "DC",
        "0.9.2342.19200300.100.1.1": "UID",
    }
)
_TEXTS: Final = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E})
"""Tags of texts: UTF8String, PrintableString, T61String, IA5String, GeneralString, BMPString. Java decodes all of them
as UTF-8."""

_VERSION: Final = 0xA0
_ESCAPED: Final = frozenset(',=+<>#;"\\')


def subject_of(certificate: bytes) -> str:
    """The subject of a certificate that TLS has verified, the most specific part first: ``CN=alice,O=Example``.

    Args:
        certificate: X.509, in DER.

    Raises:
        ValueError: it is truncated.
    """
    (_, whole, _), *_ = _elements(certificate)
    (_, signed, _), *_ = _elements(whole)
    fields = [content for tag, content, _ in _elements(signed) if tag != _VERSION]
    _serial, _algorithm, _issuer, _validity, subject, *_ = fields
    return ",".join(reversed([_relative(attributes) for _, attributes, _ in _elements(subject)]))


def _relative(attributes: bytes) -> str:
    return "+".join(_attribute(content) for _, content, _ in _elements(attributes))


def _attribute(content: bytes) -> str:
    (_, kind, _), (tag, value, encoded), *_ = _elements(content)
    identifier = _object_identifier(kind)
    keyword = _KEYWORDS.get(identifier)
    if keyword is None or tag not in _TEXTS:
        return f"{keyword or identifier}=#{encoded.hex()}"
    return f"{keyword}={_escaped(value.decode(errors='replace'))}"


def _escaped(text: str) -> str:
    stripped = text.strip(" ")
    before = len(text) - len(text.lstrip(" "))
    after = len(text) - len(stripped) - before if stripped else 0
    inner = "".join(f"\\{character}" if character in _ESCAPED else character for character in stripped)
    inner = inner.replace("\0", "\\00")
    return "\\ " * before + inner + "\\ " * after


def _elements(content: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """The consecutive elements: tag, content, and all bytes."""
    at = 0
    while at < len(content):
        start, tag = at, content[at]
        length = content[at + 1]
        at += 2
        if length & 0x80:
            octets = length & 0x7F
            length = int.from_bytes(content[at : at + octets])
            at += octets
        if at + length > len(content):
            raise ValueError("the certificate is truncated")
        yield tag, content[at : at + length], content[start : at + length]
        at += length


def _object_identifier(content: bytes) -> str:
    first, *rest = _base_128(content)
    top = min(first // 40, 2)
    return ".".join(map(str, (top, first - 40 * top, *rest)))


def _base_128(content: bytes) -> Iterator[int]:
    number = 0
    for octet in content:
        number = number << 7 | octet & 0x7F
        if not octet & 0x80:
            yield number
            number = 0
