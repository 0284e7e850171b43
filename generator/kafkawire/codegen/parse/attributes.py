"""The attributes of messages, common structs and fields as tables, see docs/reference/definition-language.md.

A new attribute of the language is one entry here and its use in `kafkawire.codegen.parse.model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from kafkawire.codegen.definition import MessageType
from kafkawire.layout import ENTITY_TYPES

ValueKind = Literal["text", "int16", "int32", "bool", "versions", "choice", "choices", "objects", "map"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """The kind of an attribute's value; `choices` are the legal texts of the kinds ``choice`` and ``choices``."""

    kind: ValueKind
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AttributeTable:
    """The attributes of a kind of object."""

    kind: Literal["message", "struct", "field"]
    attributes: Mapping[str, Attribute]


_MESSAGE: Mapping[str, Attribute] = {
    "apiKey": Attribute("int16"),
    "type": Attribute("choice", get_args(MessageType)),
    "listeners": Attribute("choices", ("zkBroker", "broker", "controller")),
    "name": Attribute("text"),
    "validVersions": Attribute("versions"),
    "deprecatedVersions": Attribute("versions"),
    "latestVersionUnstable": Attribute("bool"),
    "flexibleVersions": Attribute("versions"),
    "headerVersions": Attribute("map"),
    "commonStructs": Attribute("objects"),
    "fields": Attribute("objects"),
}

_STRUCT: Mapping[str, Attribute] = {
    "name": Attribute("text"),
    "versions": Attribute("versions"),
    "deprecatedVersions": Attribute("versions"),
    "fields": Attribute("objects"),
}

_FIELD: Mapping[str, Attribute] = {
    "name": Attribute("text"),
    "type": Attribute("text"),
    "versions": Attribute("versions"),
    "nullableVersions": Attribute("versions"),
    "tag": Attribute("int32"),
    "taggedVersions": Attribute("versions"),
    "default": Attribute("text"),
    "ignorable": Attribute("bool"),
    "mapKey": Attribute("bool"),
    "entityType": Attribute("choice", ("unknown", *ENTITY_TYPES)),
    "zeroCopy": Attribute("bool"),
    "flexibleVersions": Attribute("versions"),
    "about": Attribute("text"),
    "fields": Attribute("objects"),
}

MESSAGE_ATTRIBUTES = AttributeTable("message", _MESSAGE)
STRUCT_ATTRIBUTES = AttributeTable("struct", _STRUCT)
FIELD_ATTRIBUTES = AttributeTable("field", _FIELD)
