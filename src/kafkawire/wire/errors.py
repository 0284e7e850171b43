"""Errors of encoding and decoding.

::

    WireError
     ├─ DecodeError                bytes that are not a message of the version
     │   └─ CorruptBatchError      a record batch whose length, CRC or compression is broken
     │       └─ OutputLimitError   compressed data that are larger than the reader allows
     ├─ EncodeError                a value that the version cannot carry
     └─ UnsupportedVersionError    a version that the message does not have

    EngineError                    an engine that cannot be used, or two that differ: no fault of a message
"""

from __future__ import annotations


class WireError(Exception):
    """Base of everything that encoding and decoding raise."""


class DecodeError(WireError, ValueError):
    """Bytes that do not decode.

    Attributes:
        kind: stable word for programs: ``truncated``, ``trailing``, ``length``, ``null``, ``utf8``, ``varint``,
            ``tag``, ``crc``, ``compression``, ``version``, ``record_type``, ``json``.
        message_name: Kafka's name of the message, or what was being read.
        version: version of the message, or None where there is none.
        path: where in the message, ``topics[3].partitions[1].leader_id``; empty for the message itself.
        offset: position in the buffer of the value that failed, or None for JSON.
        reason: what was wrong, in one sentence.
    """

    def __init__(
        self, kind: str, reason: str, *, message_name: str, version: int | None = None, path: str = "",
        offset: int | None = None,
    ) -> None:  # fmt: skip
        self.kind = kind
        self.reason = reason
        self.message_name = message_name
        self.version = version
        self.path = path
        self.offset = offset
        super().__init__(describe(message_name, version, path, offset, reason))


class CorruptBatchError(DecodeError):
    """A record batch or legacy message set whose length, CRC, magic or compression is broken."""


class OutputLimitError(CorruptBatchError):
    """Compressed data whose output is larger than the reader allows; they may be intact."""


class EncodeError(WireError, ValueError):
    """A value that the version cannot carry.

    Attributes:
        kind: stable word for programs: ``null``, ``range``, ``type``, ``length``, ``utf8``, ``unsupported_field``,
            ``tag``, ``json``.
        message_name: Kafka's name of the message.
        version: version of the message.
        path: where in the message; empty for the message itself.
        reason: what was wrong, in one sentence. Never quotes octets or long texts: they may be secrets.
    """

    def __init__(
        self, kind: str, reason: str, *, message_name: str, version: int | None = None, path: str = ""
    ) -> None:
        self.kind = kind
        self.reason = reason
        self.message_name = message_name
        self.version = version
        self.path = path
        super().__init__(describe(message_name, version, path, None, reason))


class UnsupportedVersionError(WireError, ValueError):
    """A version that the message does not have.

    Attributes:
        message_name: Kafka's name of the message.
        version: the version.
        versions: the versions of the message.
    """

    kind = "version"

    def __init__(self, message_name: str, version: int, versions: range) -> None:
        self.message_name = message_name
        self.version = version
        self.versions = versions
        self.reason: str = f"there is no version {version}; versions are {versions.start} to {versions.stop - 1}"
        super().__init__(f"{message_name}: {self.reason}")


class EngineError(RuntimeError):
    """An engine that does not exist or is not installed, or two engines that give different results."""


def describe(message_name: str, version: int | None, path: str, offset: int | None, reason: str) -> str:
    """One line: ``MetadataResponse v12: topics[3].name at byte 412: needs 4 bytes, 2 are left``."""
    head = message_name if version is None else f"{message_name} v{version}"
    where = path if offset is None else f"{path} at byte {offset}".strip()
    return f"{head}: {where}: {reason}" if where else f"{head}: {reason}"
