"""The facts about a coordinator's record type that are known before its messages are loaded."""

from __future__ import annotations

import msgspec


class CoordinatorRecordType(msgspec.Struct, frozen=True):
    """A record type of a coordinator's log (coord-key-prefix).

    Attributes:
        number: the int16 in front of the record's key.
        name: Kafka's name of the record type, ``GroupMetadata``.
        key: name of the key message.
        key_version: version in which the key body is encoded; keys have only one.
        value: name of the value message, whose version stands in front of it.
    """

    number: int
    name: str
    key: str
    key_version: int
    value: str
