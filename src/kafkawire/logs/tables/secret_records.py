"""Secrets in the metadata log that tables hide: salts and keys of SCRAM, and sensitive configurations.

In decoded records, single fields are hidden. The bytes of a record are shown as a whole or not at all. Bytes that could
not be decoded are hidden, since they may contain anything (decision 0025).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.options import ReadOptions
from kafkawire.logs.registry import METADATA_TOPIC
from kafkawire.model.configs.sensitive import HIDDEN, is_sensitive
from kafkawire.protocol import ConfigRecord, UserScramCredentialRecord
from kafkawire.records.framed_records import FRAME_VERSION, METADATA_RECORD, read_frame
from kafkawire.wire.errors import WireError

SECRET_FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    UserScramCredentialRecord.NAME: {"salt": "salt", "stored_key": "storedKey", "server_key": "serverKey"}
}
"""Secret fields by message, with their names in JSON."""

_NUMBERS: Final = (UserScramCredentialRecord.API_KEY, ConfigRecord.API_KEY)
_HEADS: Final = pa.array([bytes((FRAME_VERSION, number)) for number in _NUMBERS], pa.binary())


def shows_broken_bytes(file: LogFile, options: ReadOptions) -> bool:
    """Whether to show bytes of a file that could not be decoded.

    Without the option ``secrets`` they are hidden in the metadata log, and in a log that may be the metadata log.
    """
    return options.secrets or file.topic not in (None, METADATA_TOPIC)


def hide_in_json(message: str, content: object) -> bool:
    """Replace the secrets of a message by ``[hidden]``; returns whether it has any.

    Args:
        message: its name.
        content: its fields, by their names in JSON.
    """
    if not isinstance(content, dict):
        return False
    fields = tuple(SECRET_FIELDS.get(message, {}).values())
    if message == ConfigRecord.NAME and hides_config(content.get("resourceType"), content.get("name")):
        fields = ("value",)
    for name in fields:
        if content.get(name) is not None:
            content[name] = HIDDEN
    return bool(fields)


def hides_config(resource_type: object, name: object) -> bool:
    """Whether to hide the value of a configuration: it is sensitive, or its type or name is not as Kafka defines it."""
    return not isinstance(resource_type, int) or not isinstance(name, str) or is_sensitive(resource_type, name)


def secret_values(values: pa.BinaryArray, *, named: bool) -> pa.BooleanArray:
    """Which values are metadata records with secrets, in a log that is not known to be the metadata log.

    A copy of the metadata log can be in a folder of any name.

    Args:
        values: of the records.
        named: whether the folder has the name of another topic. Then only a valid record counts, since other values
            can begin with the same bytes.
    """
    found = pc.is_in(pc.binary_slice(values, 0, 2), _HEADS)
    if not pc.any(found).as_py():
        return found
    candidates = zip(values.to_pylist(), found.to_pylist(), strict=True)
    return pa.array(
        [begins and _is_secret(value or b"", unknown=not named) for value, begins in candidates], pa.bool_()
    )


def _is_secret(value: bytes, *, unknown: bool) -> bool:
    """Whether a value is a record with secrets; returns ``unknown`` if it cannot be decoded."""
    try:
        number, version, start = read_frame(value, METADATA_RECORD)
        if number == ConfigRecord.API_KEY:
            config = ConfigRecord.decode(value[start:], version)
            return config.value is not None and is_sensitive(config.resource_type, config.name)
        UserScramCredentialRecord.decode(value[start:], version)
    except WireError:
        return unknown
    return number == UserScramCredentialRecord.API_KEY
