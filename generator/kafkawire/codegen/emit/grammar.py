"""The wire grammar of a layout in words, for the comment above its codec and for the reference pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout


def grammar_lines(layout: StructLayout) -> tuple[str, ...]:
    """One line for each field in wire order by Kafka's names, then the tagged-field section."""
    return tuple(line for line, _ in _lines(layout, lambda field: field.name)) or ("nothing",)


def grammar_tree(layout: StructLayout, indent: str = "") -> tuple[str, ...]:
    """The same by Python's names, with the fields of every struct indented below the field that holds it."""
    lines: list[str] = []
    for line, field in _lines(layout, lambda field: field.attribute):
        lines.append(indent + line)
        if field is not None and field.struct is not None:
            lines += grammar_tree(field.struct, indent + "    ")
    return tuple(lines) or (f"{indent}nothing",)


def _lines(layout: StructLayout, name_of: Callable[[FieldLayout], str]) -> Iterator[tuple[str, FieldLayout | None]]:
    for field in layout.inline:
        yield f"{name_of(field)}: {type_text(field)}", field
    if layout.flexible:
        for field in layout.tagged:
            yield f"tag {field.tag}, {name_of(field)}: {type_text(field)}", field
        yield "other tagged fields" if layout.tagged else "tagged fields", None


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
    return f"version{'' if len(versions) == 1 else 's'} {runs_text(versions)}"


def runs_text(versions: Sequence[int]) -> str:
    """Ascending versions with neighbours joined: ``1, 3-5``."""
    runs: list[list[int]] = []
    for version in versions:
        if runs and runs[-1][1] == version - 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    return ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)
