"""Frames out of a stream of bytes (rule ``frame``)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kafkawire.wire.kafka_errors import BrokenStreamError

_SIZE = struct.Struct(">i")
_TLS_MAJOR_VERSION = 3
_PAGES = frozenset({b"<!do", b"<htm", b"<?xm"})
_TLS_RECORDS = frozenset({0x14, 0x15, 0x16, 0x17})


class FrameBuffer:
    """Collects bytes until they are whole frames. Work and memory grow with the bytes that came, not with claims.

    Args:
        maximum: size above which a frame is refused.
    """

    def __init__(self, maximum: int) -> None:
        self._maximum = maximum
        self._bytes = bytearray()

    def __len__(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._bytes)

    def add(self, data: bytes | bytearray | memoryview) -> Iterator[bytes]:
        """Take bytes, and give the contents of the frames that are whole now.

        Raises:
            BrokenStreamError: for a negative size, or one above the maximum.
        """
        self._bytes += data
        at = 0
        try:
            while len(self._bytes) - at >= _SIZE.size:
                (size,) = _SIZE.unpack_from(self._bytes, at)
                if not 0 <= size <= self._maximum:
                    raise BrokenStreamError(self._refusal(size, at))
                end = at + _SIZE.size + size
                if end > len(self._bytes):
                    return
                with memoryview(self._bytes) as view:
                    frame = bytes(view[at + _SIZE.size : end])
                at = end
                yield frame
        finally:
            del self._bytes[:at]

    def _refusal(self, size: int, at: int) -> str:
        head = bytes(self._bytes[at : at + _SIZE.size])
        reason = f"a frame of {size} bytes; between 0 and {self._maximum} are allowed"
        if is_tls(head):
            return f"{reason}. These are the first bytes of a TLS record: the listener wants TLS, give tls=Tls(...)"
        if is_http(head):
            return f"{reason}. The answer looks like HTTP: this is no Kafka listener"
        if head.isascii() and head.decode().isprintable():
            return f"{reason}. The answer is text, {head.decode()!r}: this is no Kafka listener"
        return reason


def is_tls(head: bytes) -> bool:
    """Whether the first bytes of an answer are those of a TLS record."""
    return len(head) > 1 and head[0] in _TLS_RECORDS and head[1] == _TLS_MAJOR_VERSION


def is_http(head: bytes) -> bool:
    """Whether the first bytes of an answer are those of HTTP, or of a page without its head."""
    return head[:4] == b"HTTP" or head[:4].lower() in _PAGES
