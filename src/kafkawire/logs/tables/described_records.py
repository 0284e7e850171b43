"""A description of any record of any log: type, version and content as JSON, or the error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from kafkawire.logs.frames.flaws import code_of
from kafkawire.logs.registry import METADATA_TOPIC, RecordRegistry
from kafkawire.logs.tables.record_types import upper_snake_case
from kafkawire.logs.tables.secret_records import hide_in_json
from kafkawire.records.control_records import ControlRecord, decode_control_record
from kafkawire.records.framed_records import METADATA_RECORD, read_frame
from kafkawire.records.version_prefix import PREFIX_SIZE, read_prefix
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.json_form import decoded_writer
from kafkawire.wire.record_types import CoordinatorRecordType


class Description(msgspec.Struct, frozen=True, gc=False):
    """A record in words.

    Attributes:
        type: name as kafka-dump-log prints it, ``UNKNOWN(77)`` for an unknown number; None in a log without types.
        version: of the record, or of a coordinator record's value.
        json: content in Kafka's JSON form, or None.
        code: one of ``FLAW_CODES`` if something is wrong, or None.
        reason: the error in a sentence.
        secret: whether the bytes of the record are hidden, as those of a metadata record that was not decoded are.
    """

    type: str | None = None
    version: int | None = None
    json: str | None = None
    code: str | None = None
    reason: str = ""
    secret: bool = False


_NOTHING_KNOWN: Final = Description()


def describe_record(
    topic: str | None,
    key: bytes | None,
    value: bytes | None,
    registry: RecordRegistry,
    *,
    control: bool,
    full: bool,
    secrets: bool = False,
) -> Description:
    """Describe a record of a topic.

    Args:
        topic: of the log; None if unknown.
        key: of the record.
        value: of the record.
        registry: all record types.
        control: whether it is a control record.
        full: whether to decode the content too.
        secrets: whether to show salts, keys and sensitive configurations in the content.
    """
    try:
        if control:
            return _control_record(key, value, full=full)
        if topic == METADATA_TOPIC:
            return _metadata_record(value, registry, full=full, secrets=secrets)
        if topic is not None and topic in registry.coordinators:
            return _coordinator_record(key, value, registry.coordinators[topic], registry, full=full)
    except DecodeError as error:
        return Description(code=code_of(error), reason=str(error), secret=topic == METADATA_TOPIC)
    return _NOTHING_KNOWN


def _metadata_record(value: bytes | None, registry: RecordRegistry, *, full: bool, secrets: bool) -> Description:
    if value is None:
        return Description(code="decode_error", reason="the value is null", secret=True)
    number, version, start = read_frame(value, METADATA_RECORD)
    name = registry.metadata.get(number)
    if name is None:
        reason = f"no record has the id {number}"
        return Description(f"UNKNOWN({number})", version, None, "unknown_type", reason, secret=True)
    type_name = upper_snake_case(name)
    message_class = registry.message(name)
    if version not in message_class.VERSIONS:
        reason = _no_version(message_class, version)
        return Description(type_name, version, None, "unsupported_version", reason, secret=True)
    if not full:
        return Description(type_name, version, secret=True)
    try:
        message, end = message_class.decode_from(value, start, version)
    except DecodeError as error:
        return Description(type_name, version, None, "decode_error", str(error), secret=True)
    content = decoded_writer(message_class, version)(message)
    secret = (not secrets and hide_in_json(name, content)) or end < len(value)
    json = _json({"type": type_name, "version": version, "data": content})
    return Description(type_name, version, json, *_trailing(len(value) - end), secret=secret)


def _coordinator_record(
    key: bytes | None,
    value: bytes | None,
    types: Mapping[int, CoordinatorRecordType],
    registry: RecordRegistry,
    *,
    full: bool,
) -> Description:
    if key is None:
        return Description(code="decode_error", reason="the key is null")
    number = read_prefix(key, "key")
    known = types.get(number)
    if known is None:
        return Description(f"UNKNOWN({number})", None, None, "unknown_type", f"no record has the type {number}")
    type_name = upper_snake_case(known.name)
    value_class = registry.message(known.value)
    version = None
    if value is not None:
        try:
            version = read_prefix(value, known.value)
        except DecodeError as error:
            return Description(type_name, None, None, "decode_error", str(error))
        if version not in value_class.VERSIONS:
            return Description(type_name, version, None, "unsupported_version", _no_version(value_class, version))
    if not full:
        return Description(type_name, version)
    try:
        return _coordinator_json(known, key, value, version, registry)
    except DecodeError as error:
        return Description(type_name, version, None, "decode_error", str(error))


def _coordinator_json(
    known: CoordinatorRecordType, key: bytes, value: bytes | None, version: int | None, registry: RecordRegistry
) -> Description:
    key_class, value_class = registry.message(known.key), registry.message(known.value)
    message, end = key_class.decode_from(key, PREFIX_SIZE, known.key_version)
    left = len(key) - end
    described: dict[str, object] = {
        "key": {"type": str(known.number), "data": decoded_writer(key_class, known.key_version)(message)},
        "value": None,
    }
    if value is not None and version is not None:
        message, end = value_class.decode_from(value, PREFIX_SIZE, version)
        left = left or len(value) - end
        described["value"] = {"version": str(version), "data": decoded_writer(value_class, version)(message)}
    return Description(upper_snake_case(known.name), version, _json(described), *_trailing(left))


def _control_record(key: bytes | None, value: bytes | None, *, full: bool) -> Description:
    record = decode_control_record(key, value)
    if not isinstance(record, ControlRecord):
        reason = f"no control record has the type {record.number}"
        return Description(f"UNKNOWN({record.number})", None, None, "unknown_type", reason)
    if not full:
        return Description(record.type.name, record.version)
    content = decoded_writer(type(record.message), record.version)(record.message)
    described = {"type": record.type.name, "version": record.version, "data": content}
    return Description(record.type.name, record.version, _json(described))


def _trailing(left: int) -> tuple[str | None, str]:
    return ("trailing_bytes", f"{left} bytes after the record") if left else (None, "")


def _no_version(message_class: type[Message], version: int) -> str:
    known = message_class.VERSIONS
    return f"{message_class.NAME} has no version {version}; versions are {known.start} to {known.stop - 1}"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
