"""A message in all its versions: its fields with the versions that have them, and the layout of each version."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import cache, cached_property

import msgspec

from kafkawire.layout.field_types import FIELD_TYPES, STRUCT
from kafkawire.layout.model import DefaultValue, FieldLayout, StructLayout

_END = 0x8000
"""One more than the greatest version, an int16."""

_INSIDE_A_NAME = re.compile("(?<=[^A-Z])(?=[A-Z])")


class Field(msgspec.Struct, frozen=True):
    """A field of a struct in all versions of the message, as the definition states it.

    Ranges of versions are written as in definitions: ``3+``, ``0-5``, ``2``, or ``none``.

    Attributes:
        name: Kafka's name, ``TopicId``.
        type: name of a field type or class of a struct, after ``[]`` if the field is an array.
        versions: versions that have the field.
        nullable: versions in which null is legal.
        tagged: versions in which the field is tagged.
        tag: its tag in those versions.
        flexible: versions in which its length or count is compact; None for the flexible versions of the message.
        default: the default, if it is not that of the type (of an array or a struct: ``()``).
        ignorable: whether a non-default value may be dropped in a version that lacks the field (encode-ignorable).
        map_key: whether the field is part of the key of its struct (field-map-key).
        attribute: the Python attribute, if it is not the name in snake case.
    """

    name: str
    type: str
    versions: str = "0+"
    nullable: str = "none"
    tagged: str = "none"
    tag: int | None = None
    flexible: str | None = None
    default: DefaultValue | msgspec.UnsetType = msgspec.UNSET
    ignorable: bool = False
    map_key: bool = False
    attribute: str = ""


class MessageLayouts:
    """All layouts of a message. A layout is made when it is first needed.

    Attributes:
        name: Kafka's name of the message.
    """

    def __init__(self, name: str, versions: str, flexible: str, structs: Mapping[str, tuple[Field, ...]]) -> None:
        """Describe a message.

        Args:
            name: Kafka's name of the message.
            versions: its versions, as in definitions.
            flexible: its flexible versions, as in definitions.
            structs: class name to fields, first the message itself, then its structs.
        """
        self.name = name
        self._versions = version_range(versions)
        self._flexible = flexible
        self._structs = structs
        self._made: dict[int, StructLayout] = {}

    def of_version(self, version: int) -> StructLayout:
        """The layout of a version.

        Raises:
            KeyError: if the message has no such version.
        """
        if version not in self._versions:
            raise KeyError(version)
        stretch = bisect_right(self._ends, version)
        if stretch not in self._made:
            self._made[stretch] = self._struct(next(iter(self._structs)), version)
        return self._made[stretch]

    @cached_property
    def layouts(self) -> tuple[StructLayout, ...]:
        """The distinct layouts, in the order of their first versions."""
        return tuple(dict.fromkeys(map(self.of_version, self._versions)))

    @cached_property
    def by_version(self) -> dict[int, int]:
        """For each version the index of its layout in ``layouts``."""
        index = {layout: index for index, layout in enumerate(self.layouts)}
        return {version: index[self.of_version(version)] for version in self._versions}

    @cached_property
    def _ends(self) -> list[int]:
        """Where a range of versions begins or has ended: all versions between two of these have the same layout."""
        texts = {self._flexible}
        for fields in self._structs.values():
            for field in fields:
                texts |= {field.versions, field.nullable, field.tagged, field.flexible or "none"}
        return sorted({end for text in texts if (found := version_range(text)) for end in (found.start, found.stop)})

    def _struct(self, name: str, version: int) -> StructLayout:
        flexible = version in version_range(self._flexible)
        fields = tuple(self._field(field, version, flexible=flexible) for field in self._structs[name])
        return StructLayout(name, fields, flexible)

    def _field(self, field: Field, version: int, *, flexible: bool) -> FieldLayout:
        type_ = field.type.removeprefix("[]")
        is_array = type_ != field.type
        is_struct = type_ in self._structs
        present = version in version_range(field.versions)
        tagged = present and version in version_range(field.tagged)
        default = field.default
        if isinstance(default, msgspec.UnsetType):
            default = () if is_array or is_struct else FIELD_TYPES[type_].default
        if field.flexible is not None:
            flexible = version in version_range(field.flexible)
        return FieldLayout(
            name=field.name,
            attribute=field.attribute or snake_case(field.name),
            type=STRUCT if is_struct else type_,
            array=is_array,
            struct=self._struct(type_, version) if is_struct and present else None,
            struct_name=type_ if is_struct else "",
            presence="tagged" if tagged else "inline" if present else "absent",
            tag=field.tag if tagged else None,
            nullable=present and version in version_range(field.nullable),
            ever_nullable=bool(version_range(field.nullable)),
            compact=present and flexible,
            default=default,
            ignorable=field.ignorable,
            map_key=field.map_key,
        )


@cache
def version_range(text: str) -> range:
    """A range of versions as definitions write it: ``3+``, ``0-5``, ``2``, or ``none``."""
    if text == "none":
        return range(0)
    if text.endswith("+"):
        return range(int(text[:-1]), _END)
    low, _, high = text.partition("-")
    return range(int(low), int(high or low) + 1)


def snake_case(name: str) -> str:
    """Kafka's own rule: an underscore goes before a capital unless the character before it is one too.

    Digits count as lower case: ``KRaftVersion`` is ``kraft_version``, ``V3AndBelow`` is ``v3_and_below``
    (name-snake-upstream).
    """
    return _INSIDE_A_NAME.sub("_", name).lower()
