"""From a struct layout to the steps that write it, which templates/write.py.j2 prints.

One ``struct`` call writes adjacent fixed-width values, and a plain length prefix after them if its value cannot be
null. Compact lengths vary in width and are written on their own. Steps that one call can
write only while strings are short or arrays are equal are joined afterwards (emit/fusing.py).
"""

from __future__ import annotations

import msgspec

from kafkawire.codegen.emit.fusing import fuse
from kafkawire.codegen.emit.names import CodecNames, is_set, local, may_be_set
from kafkawire.codegen.emit.write_steps import (
    Prepare,
    Refuse,
    TaggedValue,
    Value,
    WriteArray,
    WriteBody,
    WriteStep,
    WriteStruct,
    WriteTags,
    WriteText,
)
from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout

ZERO_BYTE = Value("", "x")
"""The tagged-field section of a struct that has no tagged fields set."""


def writing_steps(layout: StructLayout, names: CodecNames) -> tuple[WriteStep, ...]:
    """The steps that write the struct in the local ``item``."""
    parts: list[Value | WriteStep] = [
        Refuse(is_set(field, f"item.{field.attribute}", names.use), f"{field.attribute} is not in these versions")
        for field in layout.absent
        if not field.ignorable
    ]
    for field in layout.inline:
        parts += _parts(field, f"item.{field.attribute}", names)
    known = tuple(_tagged_value(field, f"item.{field.attribute}", names) for field in layout.tagged)
    if layout.flexible:
        parts += [ZERO_BYTE, WriteTags(known, tuple(field.tag or 0 for field in layout.tagged))]
    else:
        parts.insert(0, Refuse("item.unknown_tagged_fields", "tagged-unknown-needs-flexible"))
    return tuple(fuse(parts))


def _tagged_value(field: FieldLayout, expression: str, names: CodecNames) -> TaggedValue:
    payload = field
    if field.default is None and (field.array or field.type != STRUCT):
        # tagged-null: where null is the default it is left out, so the value that is written is never null.
        payload = msgspec.structs.replace(field, nullable=False, ever_nullable=False, default=())
    steps = tuple(fuse(_parts(payload, expression, names)))
    return TaggedValue(
        field.tag or 0, is_set(field, expression, names.use), may_be_set(field, expression, names.use), steps
    )


def _parts(field: FieldLayout, expression: str, names: CodecNames) -> list[Value | WriteStep]:
    may_be_null = field.ever_nullable or field.default is None
    if may_be_null and not field.nullable:
        return [Refuse(f"{expression} is None", "null-encode-refused"), *_value_or_array(field, expression, names)]
    return _value_or_array(field, expression, names)


def _value_or_array(field: FieldLayout, expression: str, names: CodecNames) -> list[Value | WriteStep]:
    if field.array:
        return _array_parts(field, expression, names)
    if field.struct is not None:
        return [WriteStruct(expression, names.single_writer(field.struct), field.null_marker)]
    return _value_parts(field.type, expression, local(field), names, compact=field.compact, nullable=field.nullable)


def _value_parts(
    type_name: str, expression: str, stem: str, names: CodecNames, *, compact: bool, nullable: bool
) -> list[Value | WriteStep]:
    type_ = FIELD_TYPES[type_name]
    if type_.code is not None:
        dumped = f"{names.use.function('dump', type_name)}({expression})" if type_.dump else expression
        return [Value(dumped, type_.code, type_.refuse.format(expression))]
    kind = "text" if type_.domain == "text" else "view" if type_.view else "octets"
    length_code = type_.length_code or ""
    if compact or nullable or type_.view:
        return [WriteText(stem, expression, compact, nullable, length_code, kind)]
    raw = f"{stem}_raw"
    return [Prepare(raw, expression, kind), Value(f"len({raw})", length_code), WriteBody(raw)]


def _array_parts(field: FieldLayout, expression: str, names: CodecNames) -> list[Value | WriteStep]:
    prefixed = not (field.compact or field.nullable)
    array = _array(field, expression, names, prefixed=prefixed)
    if not prefixed:
        return [array]
    return [Prepare(array.name, expression, "array", array.code), Value(f"len({array.name})", "i"), array]


def _array(field: FieldLayout, expression: str, names: CodecNames, *, prefixed: bool) -> WriteArray:
    code = writer = ""
    element: tuple[WriteStep, ...] = ()
    if field.struct is not None:
        writer = names.many_writer(field.struct)
    elif FIELD_TYPES[field.type].many_written_at_once:
        code = FIELD_TYPES[field.type].code or ""
    else:
        value = f"{local(field)}_item"
        element = tuple(fuse(_value_parts(field.type, value, value, names, compact=field.compact, nullable=False)))
    return WriteArray(local(field), expression, field.compact, field.nullable, prefixed, code, writer, element)
