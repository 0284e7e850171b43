"""The records of a coordinator's batch that a history wants, decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from kafkawire.logs.histories.metadata_records import FAILURE_CODES
from kafkawire.protocol import message_class
from kafkawire.protocol.record_registries import GROUP_COORDINATOR_RECORDS
from kafkawire.records.version_prefix import PREFIX_SIZE
from kafkawire.wire import DecodeError, Message, UnsupportedVersionError
from kafkawire.wire.message import FAST_PATH_FAILS
from kafkawire.wire.record_types import CoordinatorRecordType

__all__ = ["CoordinatorDecoder", "DecodedRecord"]


_Reader: TypeAlias = Callable[[bytes, int], tuple[Message, int]]
_FAILS: Final = (*FAST_PATH_FAILS, KeyError)


class DecodedRecord(msgspec.Struct, gc=False):
    """A record.

    Attributes:
        type: name of its type; None if that is not known.
        key: None if it could not be decoded.
        value: None for a tombstone, and if it could not be decoded.
        is_tombstone: whether there is no value.
        raw: the value as it came, or the key if there is none.
        error: the code of what is wrong, or None. With ``trailing_bytes`` all values are there.
        reason: the same in words.
    """

    type: str | None = None
    key: Message | None = None
    value: Message | None = None
    is_tombstone: bool = False
    raw: bytes | None = None
    error: str | None = None
    reason: str = ""


class CoordinatorDecoder:
    """Decodes records of the group coordinator.

    Args:
        wanted: names of the record types that are wanted.
        known: all record types of the topic by their numbers, own ones as well; others than the wanted are passed over.
    """

    def __init__(self, wanted: frozenset[str], known: Mapping[int, CoordinatorRecordType]) -> None:
        self._known = known
        self._wanted = {kind.number: kind for kind in GROUP_COORDINATOR_RECORDS.values() if kind.name in wanted}
        self._readers = {_prefix(kind.number): _readers_of(kind) for kind in self._wanted.values()}

    def decode(self, key: bytes | None, value: bytes | None) -> DecodedRecord | None:
        """The record, or None for one of a type that is not wanted."""
        if key is None or len(key) < PREFIX_SIZE:
            return DecodedRecord(error="decode_error", reason="the record has no key that tells its type")
        readers = self._readers.get(key[:PREFIX_SIZE])
        if readers is None:
            number = int.from_bytes(key[:PREFIX_SIZE], "big", signed=True)
            if number in self._known:
                return None
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
        return self._exactly(key, value)

    def _exactly(self, key: bytes, value: bytes | None) -> DecodedRecord:
        """Decode what is not as it should be, and say why."""
        kind = self._wanted[int.from_bytes(key[:PREFIX_SIZE], "big", signed=True)]
        decoded = DecodedRecord(kind.name, is_tombstone=value is None, raw=key if value is None else value)
        try:
            decoded.key, key_end = message_class(kind.key).decode_from(key, PREFIX_SIZE, kind.key_version)
            if key_end < len(key):
                decoded.error, decoded.reason = "trailing_bytes", f"{len(key) - key_end} bytes after the key"
            if value is not None:
                _decode_value(decoded, message_class(kind.value), value)
        except DecodeError as error:
            decoded.error, decoded.reason = FAILURE_CODES.get(error.kind, "decode_error"), str(error)
        return decoded


def _prefix(number: int) -> bytes:
    return number.to_bytes(PREFIX_SIZE, "big", signed=True)


def _readers_of(kind: CoordinatorRecordType) -> tuple[str, _Reader, Mapping[bytes, _Reader]]:
    """The name of a type, what reads its keys, and what reads its values by the version in front of them."""
    values = message_class(kind.value)
    of_versions = {_prefix(version): values.fast_reader(version) for version in values.VERSIONS}
    return kind.name, message_class(kind.key).fast_reader(kind.key_version), of_versions


def _decode_value(decoded: DecodedRecord, value_class: type[Message], value: bytes) -> None:
    version = int.from_bytes(value[:PREFIX_SIZE], "big", signed=True)
    if len(value) < PREFIX_SIZE:
        decoded.error, decoded.reason = "decode_error", f"a value of {len(value)} bytes has no version"
        return
    try:
        decoded.value, end = value_class.decode_from(value, PREFIX_SIZE, version)
    except UnsupportedVersionError as error:
        decoded.error, decoded.reason = "unsupported_version", str(error)
        return
    if end < len(value):
        decoded.error, decoded.reason = "trailing_bytes", f"{len(value) - end} bytes after the value"
