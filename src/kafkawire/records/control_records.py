"""Control records (control-records): the ends of transactions, and the state of a KRaft quorum."""

from __future__ import annotations

import enum
import struct
from collections.abc import Mapping
from typing import Final

import msgspec

from kafkawire.protocol import message_class
from kafkawire.records.version_prefix import (
    PREFIX_SIZE,
    decode_prefixed,
    encode_prefixed,
    read_prefix,
)
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message import Octets, Struct

_KEY: Final = struct.Struct(">hh")
_KEY_VERSION: Final = 0


class ControlRecordType(enum.IntEnum):
    """The type of a control record: the second number of its key."""

    ABORT = 0
    COMMIT = 1
    LEADER_CHANGE = 2
    SNAPSHOT_HEADER = 3
    SNAPSHOT_FOOTER = 4
    KRAFT_VERSION = 5
    KRAFT_VOTERS = 6


_MESSAGES: Final[Mapping[ControlRecordType, str]] = {
    ControlRecordType.ABORT: "EndTxnMarker",
    ControlRecordType.COMMIT: "EndTxnMarker",
    ControlRecordType.LEADER_CHANGE: "LeaderChangeMessage",
    ControlRecordType.SNAPSHOT_HEADER: "SnapshotHeaderRecord",
    ControlRecordType.SNAPSHOT_FOOTER: "SnapshotFooterRecord",
    ControlRecordType.KRAFT_VERSION: "KRaftVersionRecord",
    ControlRecordType.KRAFT_VOTERS: "VotersRecord",
}
_TRANSACTION_MARKERS: Final = frozenset((ControlRecordType.ABORT, ControlRecordType.COMMIT))


class ControlRecord(msgspec.Struct, frozen=True, gc=False):
    """A control record of a known type.

    Attributes:
        type: the type.
        message: the content.
        version: the version that was used to decode the message.
    """

    type: ControlRecordType
    message: Message
    version: int


class UnknownControlRecord(Struct, frozen=True, gc=False):
    """A control record of an unknown type, which readers ignore.

    Attributes:
        number: the type.
        value: the undecoded value.
    """

    number: int
    value: bytes | None


def decode_control_record(key: Octets | None, value: Octets | None) -> ControlRecord | UnknownControlRecord:
    """The control record in the key and value of a record of a control batch.

    Raises:
        DecodeError: kind ``null``, ``truncated``, ``version``, or the error of the message.

    Example:
        ```python
        from kafkawire.protocol import EndTxnMarker
        from kafkawire.records.control_records import (
            ControlRecord,
            ControlRecordType,
            decode_control_record,
            encode_control_record,
        )

        key, value = encode_control_record(ControlRecordType.COMMIT, EndTxnMarker(coordinator_epoch=4), 0)
        found = decode_control_record(key, value)
        assert isinstance(found, ControlRecord)
        assert found.type is ControlRecordType.COMMIT
        ```
    """
    number = _read_key(key)
    if number not in _MESSAGES:
        return UnknownControlRecord(number, None if value is None else bytes(value))
    control_type = ControlRecordType(number)
    found = message_class(_MESSAGES[control_type])
    if value is None:
        raise DecodeError("null", "the value is null", message_name=found.NAME)
    if control_type in _TRANSACTION_MARKERS:
        return ControlRecord(control_type, *decode_prefixed(found, value, newer_as_highest=True))
    return ControlRecord(control_type, *_decode_with_own_version(found, value))


def encode_control_record(control_type: ControlRecordType, message: Message, version: int) -> tuple[bytes, bytes]:
    """Key and value of a control record.

    Raises:
        ValueError: the message does not belong to the type, or its ``version`` field has another version.
        UnsupportedVersionError, EncodeError: as ``Message.encode``.

    Example:
        ```python
        from kafkawire.protocol import EndTxnMarker
        from kafkawire.records.control_records import ControlRecordType, encode_control_record
        from kafkawire.wire.batches import Record, encode_batch

        key, value = encode_control_record(ControlRecordType.ABORT, EndTxnMarker(coordinator_epoch=4), 0)
        marker = Record(key=key, value=value)
        batch = encode_batch([marker], producer_id=7, producer_epoch=0, transactional=True, control=True)
        ```
    """
    if _MESSAGES[control_type] != message.NAME:
        raise ValueError(f"{control_type.name} goes with {_MESSAGES[control_type]}, not with {message.NAME}")
    key = _KEY.pack(_KEY_VERSION, control_type)
    if control_type in _TRANSACTION_MARKERS:
        return key, encode_prefixed(message, version)
    own_version = getattr(message, "version", None)
    if own_version != version:
        raise ValueError(f"the version field of {message.NAME} is {own_version}, but version {version} was requested")
    return key, message.encode(version)


def _read_key(key: Octets | None) -> int:
    if key is None:
        raise DecodeError("null", "the key is null", message_name="control record")
    # Later versions of the key would append fields, so the type keeps its place.
    if read_prefix(key, "control record") < _KEY_VERSION:
        raise DecodeError("version", "the key has a negative version", message_name="control record", offset=0)
    return read_prefix(key, "control record", offset=PREFIX_SIZE)


def _decode_with_own_version(found: type[Message], value: Octets) -> tuple[Message, int]:
    """The KRaft messages have no prefix: their first field is their version."""
    stated = read_prefix(value, found.NAME)
    if stated < found.VERSIONS.start:
        raise DecodeError("version", f"there is no version {stated}", message_name=found.NAME, offset=0)
    version = min(stated, found.VERSIONS.stop - 1)
    message, _ = found.decode_from(value, 0, version)
    return message, version
