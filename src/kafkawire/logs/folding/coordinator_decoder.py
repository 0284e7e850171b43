"""The coordinator records that a history needs, decoded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from kafkawire.logs.folding.message_decoder import MessageDecoder, Reader
from kafkawire.logs.frames.flaws import code_of
from kafkawire.logs.registry import RecordRegistry
from kafkawire.records.version_prefix import PREFIX_SIZE, read_prefix
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message_codec import FAST_PATH_FAILS
from kafkawire.wire.record_types import CoordinatorRecordType

_FAILS: Final = (*FAST_PATH_FAILS, KeyError)


class DecodedRecord(msgspec.Struct, gc=False):
    """A record.

    Attributes:
        type: name of its type; None if that is not known.
        key: None if it could not be decoded.
        value: None for a tombstone, and if it could not be decoded.
        is_tombstone: whether the record has no value.
        raw: the bytes of the value, or of the key if there is no value.
        error: the code of the error, or None. With ``trailing_bytes`` the messages are complete.
        reason: the error in words.
    """

    type: str | None = None
    key: Message | None = None
    value: Message | None = None
    is_tombstone: bool = False
    raw: bytes | None = None
    error: str | None = None
    reason: str = ""


class _Known(NamedTuple):
    """A record type that the history needs.

    Attributes:
        name: of the type.
        key: decodes keys.
        key_version: the version of all keys.
        value: decodes values.
    """

    name: str
    key: MessageDecoder
    key_version: int
    value: MessageDecoder


class CoordinatorDecoder:
    """Decodes records of a coordinator.

    Args:
        topic: of its log.
        needed: names of the record types that the history needs; the records have no others that are known.
        registry: all record types.
    """

    def __init__(self, topic: str, needed: frozenset[str], registry: RecordRegistry) -> None:
        types = registry.coordinators[topic]
        self._needed = {_prefix(each.number): _known(each, registry) for each in types.values() if each.name in needed}
        self._readers = {prefix: _readers(known) for prefix, known in self._needed.items()}

    def decode(self, key: bytes | None, value: bytes | None) -> DecodedRecord:
        """The record."""
        if key is None or len(key) < PREFIX_SIZE:
            return DecodedRecord(error="decode_error", reason="the record has no key, or one too short for a type")
        prefix = key[:PREFIX_SIZE]
        readers = self._readers.get(prefix)
        if readers is None:
            number = int.from_bytes(prefix, "big", signed=True)
            return DecodedRecord(error="unknown_type", reason=f"no record has the type {number}")
        name, read_key, read_value = readers
        try:
            key_message, end = read_key(key, PREFIX_SIZE)
            if end == len(key):
                if value is None:
                    return DecodedRecord(name, key_message, is_tombstone=True, raw=key)
                value_message, end = read_value[value[:PREFIX_SIZE]](value, PREFIX_SIZE)
                if end == len(value):
                    return DecodedRecord(name, key_message, value_message, raw=value)
        except _FAILS:
            pass
        return _decode_exactly(self._needed[prefix], key, value)


def _prefix(number: int) -> bytes:
    return number.to_bytes(PREFIX_SIZE, "big", signed=True)


def _known(kind: CoordinatorRecordType, registry: RecordRegistry) -> _Known:
    key, value = MessageDecoder(kind.key, registry), MessageDecoder(kind.value, registry)
    return _Known(kind.name, key, kind.key_version, value)


def _readers(known: _Known) -> tuple[str, Reader, Mapping[bytes, Reader]]:
    """The name of a type, the reader of its keys, and the readers of its values by their version prefix."""
    read_value = {_prefix(version): reader for version, reader in known.value.readers.items()}
    return known.name, known.key.readers.get(known.key_version, _unreadable), read_value


def _unreadable(_buffer: bytes, _at: int) -> tuple[Message, int]:
    """The reader of keys whose definition is unusable; the exact decoder then reports why."""
    raise KeyError


def _decode_exactly(known: _Known, key: bytes, value: bytes | None) -> DecodedRecord:
    """Decode a record that the fast path refused, and report its error."""
    decoded = DecodedRecord(known.name, is_tombstone=value is None, raw=key if value is None else value)
    try:
        decoded.key, end = known.key.decode_from(key, PREFIX_SIZE, known.key_version)
        if end < len(key):
            decoded.error, decoded.reason = "trailing_bytes", f"{len(key) - end} bytes after the key"
        if value is not None:
            version = read_prefix(value, known.value.name)
            decoded.value, end = known.value.decode_from(value, PREFIX_SIZE, version)
            if end < len(value):
                decoded.error, decoded.reason = "trailing_bytes", f"{len(value) - end} bytes after the value"
    except DecodeError as error:
        decoded.error, decoded.reason = code_of(error), str(error)
    return decoded
