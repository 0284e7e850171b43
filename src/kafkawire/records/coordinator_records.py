"""Records of the coordinators: groups, transactions, share groups.

The int16 in front of a key is the record type (coord-key-prefix), the one in front of a value the version of the value
message (coord-value-prefix). A null value is a tombstone, which deletes the entry of the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kafkawire.protocol import message_class
from kafkawire.protocol.record_registries import (
    GROUP_COORDINATOR_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from kafkawire.records.version_prefix import PREFIX_SIZE, decode_prefixed, encode_prefixed, read_prefix
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.message import Octets, Struct
from kafkawire.wire.record_types import CoordinatorRecordType

COORDINATOR_TOPICS: Final[Mapping[str, Mapping[int, CoordinatorRecordType]]] = {
    "__consumer_offsets": GROUP_COORDINATOR_RECORDS,
    "__transaction_state": TRANSACTION_COORDINATOR_RECORDS,
    "__share_group_state": SHARE_COORDINATOR_RECORDS,
}
"""Record types of each coordinator, by its topic and their number."""


class CoordinatorRecord(msgspec.Struct, frozen=True, gc=False):
    """A record of a known type.

    Attributes:
        type: the record type.
        key: the key message.
        value: the value message, or None for a tombstone.
        value_version: version of the value, or None for a tombstone.
    """

    type: CoordinatorRecordType
    key: Message
    value: Message | None
    value_version: int | None


class UnknownCoordinatorRecord(Struct, frozen=True, gc=False):
    """A record of an unknown type, undecoded, so that it can be reported and forwarded (coord-unknown).

    Attributes:
        number: the record type.
        key: the whole key.
        value: the whole value, or None for a tombstone.
    """

    number: int
    key: bytes
    value: bytes | None


def decode_coordinator_record(
    topic: str, key: Octets | None, value: Octets | None
) -> CoordinatorRecord | UnknownCoordinatorRecord:
    """The messages of a record. Bytes after them are ignored (coord-leftover).

    Args:
        topic: a topic of ``COORDINATOR_TOPICS``.
        key: key of the record.
        value: value of the record, None for a tombstone.

    Raises:
        KeyError: no coordinator has that topic.
        DecodeError: kind ``null`` (no key), ``version`` (the value message does not have it), or the error of key or
            value.

    Example:
        ```python
        from pathlib import Path

        from kafkawire.records.coordinator_records import CoordinatorRecord, decode_coordinator_record
        from kafkawire.wire.batches import read_records

        segment = Path("/var/lib/kafka/data/__consumer_offsets-0/00000000000000000000.log")
        for record in read_records(segment.read_bytes()):
            found = decode_coordinator_record("__consumer_offsets", record.key, record.value)
            if isinstance(found, CoordinatorRecord):
                print(found.key, "is deleted" if found.value is None else found.value)
        ```
    """
    types = COORDINATOR_TOPICS[topic]
    if key is None:
        raise DecodeError("null", "the key is null", message_name=f"record of {topic}")
    number = read_prefix(key, f"record of {topic}")
    known = types.get(number)
    if known is None:
        return UnknownCoordinatorRecord(number, bytes(key), None if value is None else bytes(value))
    key_message, _ = message_class(known.key).decode_from(key, PREFIX_SIZE, known.key_version)
    if value is None:
        return CoordinatorRecord(known, key_message, None, None)
    value_message, version = decode_prefixed(message_class(known.value), value)
    return CoordinatorRecord(known, key_message, value_message, version)


def encode_coordinator_record(
    topic: str, key: Message, value: Message | None, value_version: int | None = None
) -> tuple[bytes, bytes | None]:
    """Key and value of a record.

    Args:
        topic: a topic of ``COORDINATOR_TOPICS``.
        key: a key message of the topic.
        value: the value message of that key, or None for a tombstone.
        value_version: version to write the value in; needed if there is a value.

    Raises:
        KeyError: no coordinator has that topic.
        ValueError: the topic has no such key, the value does not belong to the key, or ``value_version`` is missing.
        UnsupportedVersionError, EncodeError: as ``Message.encode``.

    Example:
        ```python
        from kafkawire.protocol import OffsetCommitKey, OffsetCommitValue
        from kafkawire.records.coordinator_records import encode_coordinator_record

        key = OffsetCommitKey(group="billing", topic="orders", partition=0)
        encoded_key, tombstone = encode_coordinator_record("__consumer_offsets", key, None)
        _, value = encode_coordinator_record("__consumer_offsets", key, OffsetCommitValue(offset=120), 3)
        ```
    """
    known = next((each for each in COORDINATOR_TOPICS[topic].values() if each.key == key.NAME), None)
    if known is None:
        raise ValueError(f"{key.NAME} is not a key of {topic}")
    encoded_key = known.number.to_bytes(PREFIX_SIZE, "big") + key.encode(known.key_version)
    if value is None:
        return encoded_key, None
    if known.value != value.NAME:
        raise ValueError(f"{key.NAME} goes with {known.value}, not with {value.NAME}")
    if value_version is None:
        raise ValueError(f"{value.NAME} needs a version")
    return encoded_key, encode_prefixed(value, value_version)
