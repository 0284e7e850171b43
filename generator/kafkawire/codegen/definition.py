"""Definition files as typed values, with the place of every attribute.

Nothing is resolved: versions are those of the attributes (with the defaults of the language), and types of structs are
names. Places are ignored in comparisons.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kafkawire.codegen.versions import NO_VERSIONS, Versions

MessageType = Literal["request", "response", "header", "data", "metadata", "coordinator-key", "coordinator-value"]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file; lines and columns count from 1, the end column is that after the last character."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an object in a file, and of each of its attributes.

    Attributes:
        file: path as the user gave it.
        span: the whole object.
        attributes: attribute name to the span of its value.
        refused: attributes whose value has a finding from reading; they have a placeholder, which no rule checks.
    """

    file: str
    span: Span
    attributes: Mapping[str, Span]
    refused: frozenset[str] = frozenset()

    def of(self, attribute: str) -> Span:
        """The span of an attribute's value, or of the object if the attribute is missing."""
        return self.attributes.get(attribute, self.span)


@dataclass(frozen=True, slots=True)
class TypeRef:
    """A ``type`` text: a primitive (``int32``), a struct (``name`` is its capitalised name), or an array of one.

    Attributes:
        name: element type: a primitive's or a struct's name.
        array: whether it is an array of that.
        is_struct: whether ``name`` names a struct.
    """

    name: str
    array: bool
    is_struct: bool

    def __str__(self) -> str:
        return f"[]{self.name}" if self.array else self.name


@dataclass(frozen=True, slots=True)
class FieldDefinition:
    """A field as written; ``versions`` are by default the ``taggedVersions``."""

    name: str
    type: TypeRef
    versions: Versions
    nullable_versions: Versions
    tag: int | None
    tagged_versions: Versions
    default: str | None
    ignorable: bool
    map_key: bool
    entity_type: str
    about: str
    zero_copy: bool
    flexible_versions: Versions | None
    fields: tuple[FieldDefinition, ...]
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StructDefinition:
    """A common struct as written."""

    name: str
    versions: Versions
    fields: tuple[FieldDefinition, ...]
    place: Place = field(compare=False, repr=False)
    deprecated_versions: Versions = NO_VERSIONS


@dataclass(frozen=True, slots=True)
class MessageDefinition:
    """A definition file as written.

    Attributes:
        header_versions: (message versions, header version) in ascending order, or None where not given.
        group: folder of the file relative to the root of the definitions, with slashes (``clients``,
            ``proposals/kip-888``); empty for files of the root itself.
    """

    name: str
    type: MessageType
    api_key: int | None
    valid_versions: Versions
    deprecated_versions: Versions
    flexible_versions: Versions
    header_versions: tuple[tuple[Versions, int], ...] | None
    listeners: tuple[str, ...]
    latest_version_unstable: bool
    common_structs: tuple[StructDefinition, ...]
    fields: tuple[FieldDefinition, ...]
    group: str
    place: Place = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A sentence of ``field-meanings.toml`` that says what a field is.

    Attributes:
        message: the message that it is for; empty for all messages.
        path: name of the field, or its dotted path inside the message: the names of the fields that lead to it.
        sentence: the text as written.
        file: path of the file as the user gave it.
        span: the key.
    """

    message: str
    path: str
    sentence: str
    file: str = field(compare=False, repr=False)
    span: Span = field(compare=False, repr=False)
