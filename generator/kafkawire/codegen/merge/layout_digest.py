"""Digests of layouts: with equal digests, equal values have equal bytes and JSON."""

from __future__ import annotations

import hashlib

import msgspec

from kafkawire.layout import FieldLayout, StructLayout

DIGEST_DIGITS = 16


def layout_digest(layout: StructLayout) -> str:
    """The first 16 hexadecimal digits of a sha256 of all that determines bytes and JSON of a layout.

    Names of structs, absent fields, ``ignorable`` and ``mapKey`` are left out, since they affect neither.
    """
    return hashlib.sha256(msgspec.json.encode(_struct(layout))).hexdigest()[:DIGEST_DIGITS]


def _struct(layout: StructLayout) -> object:
    fields = [*layout.inline, *layout.tagged]
    return [layout.flexible, [_field(field) for field in fields]]


def _field(field: FieldLayout) -> object:
    nested = _struct(field.struct) if field.struct is not None else None
    return [
        field.name, field.type, field.array, field.tag, field.nullable, field.compact, _default(field), nested
    ]  # fmt: skip


def _default(field: FieldLayout) -> str:
    return repr(field.default)
