"""Hypothesis strategies for messages, built from their layouts; needs ``hypothesis`` (the ``test`` extra).

What they draw is legal in the version of the layout, shrinks field by field towards the defaults, and comes back
equal from bytes and, unknown tagged fields apart, from JSON (so floating-point numbers are finite).
"""

from __future__ import annotations

from functools import cache
from typing import TypeVar, cast

import msgspec
from hypothesis import strategies as st

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout
from kafkawire.wire.errors import UnsupportedVersionError
from kafkawire.wire.message import Message
from kafkawire.wire.values import FIRST_UNKNOWN_TAG, LARGEST_TAG

M = TypeVar("M", bound=Message)
S = TypeVar("S", bound=msgspec.Struct)

_SHORT = 4
"""Most elements of an array that is drawn: the shape matters, not the size."""

# On a new machine hypothesis builds its table of Unicode, which takes a second. Within a draw that second would fail
# a health check, and with it the first test that a user runs.
st.characters(codec="utf-8").validate()


def messages(cls: type[M], version: int) -> st.SearchStrategy[M]:
    """Legal values of a message at a version.

    Raises:
        UnsupportedVersionError: if the message has no such version.
    """
    if version not in cls.VERSIONS:
        raise UnsupportedVersionError(cls.NAME, version, cls.VERSIONS)
    return _messages(cls, version)


def instances(message_cls: type[S], layout: StructLayout, *, unknown_tags: bool = True) -> st.SearchStrategy[S]:
    """Legal values of a message at the version of ``layout``.

    Args:
        message_cls: the class of the message, with the classes of its structs as attributes.
        layout: the layout of the version.
        unknown_tags: whether flexible structs may carry unknown tagged fields.
    """
    return _structs(message_cls, message_cls, layout, unknown_tags)


@cache
def _messages(cls: type[M], version: int) -> st.SearchStrategy[M]:
    return instances(cls, cls.layouts().of_version(version))


def _structs(
    message_cls: type[msgspec.Struct], struct_cls: type[S], layout: StructLayout, unknown_tags: bool
) -> st.SearchStrategy[S]:
    required: dict[str, st.SearchStrategy[object]] = {}
    # The rest is optional in the draw, so that defaults are drawn often: they decide what tagged sections hold.
    optional: dict[str, st.SearchStrategy[object]] = {}
    for field in layout.fields:
        if field.presence != "absent":
            drawn = required if _default_may_be_illegal(field) else optional
            drawn[field.attribute] = _field_values(message_cls, field, unknown_tags)
    if layout.flexible and unknown_tags:
        optional["unknown_tagged_fields"] = _unknown_tagged_fields()
    return st.fixed_dictionaries(required, optional=optional).map(lambda drawn: struct_cls(**drawn))


def _default_may_be_illegal(field: FieldLayout) -> bool:
    """Whether a field must be set: null stands by default in ``records`` that may not be null (null-encode-refused)."""
    if field.type == STRUCT and field.presence == "inline" and not field.array:
        return True
    return field.default is None and not field.nullable


def _field_values(
    message_cls: type[msgspec.Struct], field: FieldLayout, unknown_tags: bool
) -> st.SearchStrategy[object]:
    drawn = _elements(message_cls, field, unknown_tags)
    if field.array:
        drawn = st.lists(drawn, max_size=_SHORT).map(tuple)
    return st.none() | drawn if field.nullable else drawn


def _elements(message_cls: type[msgspec.Struct], field: FieldLayout, unknown_tags: bool) -> st.SearchStrategy[object]:
    if field.struct is None:
        return cast("st.SearchStrategy[object]", FIELD_TYPES[field.type].strategy(st))
    struct_cls: type[msgspec.Struct] = getattr(message_cls, field.struct.name)
    return _structs(message_cls, struct_cls, field.struct, unknown_tags)


def _unknown_tagged_fields() -> st.SearchStrategy[object]:
    tags = st.integers(FIRST_UNKNOWN_TAG, LARGEST_TAG)
    return st.dictionaries(tags, st.binary(max_size=_SHORT), max_size=2).map(lambda drawn: tuple(sorted(drawn.items())))
