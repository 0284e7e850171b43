"""What messages look like on the wire, as data: field types and the layout of each version.

A leaf: it imports nothing else of kafkawire, and both the generator and the run-time packages read it.
"""

from __future__ import annotations

from kafkawire.layout.field_types import ENTITY_TYPES, FIELD_TYPES, STRUCT
from kafkawire.layout.kinds import (
    BoolType,
    FieldType,
    FloatType,
    IntegerType,
    OctetsType,
    TextType,
    UuidType,
    floating,
    integer,
)
from kafkawire.layout.messages import Field, MessageLayouts, snake_case
from kafkawire.layout.model import DefaultValue, FieldLayout, Presence, StructLayout
from kafkawire.layout.uuid import Uuid

__all__ = [
    "ENTITY_TYPES",
    "FIELD_TYPES",
    "STRUCT",
    "BoolType",
    "DefaultValue",
    "Field",
    "FieldLayout",
    "FieldType",
    "FloatType",
    "IntegerType",
    "MessageLayouts",
    "OctetsType",
    "Presence",
    "StructLayout",
    "TextType",
    "Uuid",
    "UuidType",
    "floating",
    "integer",
    "snake_case",
]
