"""The wire grammar of a layout in words, for the comment above its codec and for the reference pages."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout


def grammar_lines(layout: StructLayout) -> tuple[str, ...]:
    """One line for each field in wire order, then the tagged-field section."""
    lines = [f"{field.name}: {type_text(field)}" for field in layout.inline]
    if layout.flexible:
        lines += [f"tag {field.tag}, {field.name}: {type_text(field)}" for field in layout.tagged]
        lines.append("tagged fields" if not layout.tagged else "other tagged fields")
    return tuple(lines) or ("nothing",)


def type_text(field: FieldLayout) -> str:
    """The type of a field with its wire form: ``compact []string, nullable``."""
    name = field.struct_name if field.type == STRUCT else field.type
    text = f"[]{name}" if field.array else name
    varies = field.array or (field.type != STRUCT and FIELD_TYPES[field.type].code is None)
    if varies and field.compact:
        text = f"compact {text}"
    return f"{text}, nullable" if field.nullable else text


def versions_text(versions: Sequence[int]) -> str:
    """``version 3``, ``versions 3-5`` or ``versions 1, 3-5``."""
    runs: list[list[int]] = []
    for version in versions:
        if runs and runs[-1][1] == version - 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    text = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
    return f"version {text}" if len(versions) == 1 else f"versions {text}"
