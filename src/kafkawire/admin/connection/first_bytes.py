"""What the first bytes of an answer show about a listener that does not speak Kafka's protocol."""

from __future__ import annotations

_TLS_MAJOR_VERSION = 3
_TLS_RECORDS = frozenset({0x14, 0x15, 0x16, 0x17})
_PAGES = frozenset({b"<!do", b"<htm", b"<?xm"})


def is_tls(head: bytes) -> bool:
    """Whether an answer begins with a TLS record."""
    return len(head) > 1 and head[0] in _TLS_RECORDS and head[1] == _TLS_MAJOR_VERSION


def is_http(head: bytes) -> bool:
    """Whether an answer begins with HTTP, or with a page without its head."""
    return head[:4] == b"HTTP" or head[:4].lower() in _PAGES


def hint(answer: bytes | bytearray) -> str:
    """What the listener likely is, and what to do; empty if the bytes do not show it."""
    head = bytes(answer[:4])
    if is_tls(head):
        return "the answer is a TLS record: the listener wants TLS, give tls=Tls(...)"
    if is_http(head):
        return "the answer looks like HTTP: this is no Kafka listener, take the port of one, usually 9092"
    if head.isascii() and head.decode().isprintable():
        return f"the answer is text, {head.decode()!r}: this is no Kafka listener"
    return ""
