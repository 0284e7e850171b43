"""From a struct layout to the steps that write it, which templates/write.py.j2 prints.

Neighbouring fixed-width values are one ``struct`` call. A plain length prefix rides along in that call when
the value behind it cannot be null; compact lengths are of varying width and are written on their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import msgspec

from kafkawire.codegen.emit.names import CodecNames, is_set, local
from kafkawire.layout import FIELD_TYPES, STRUCT, FieldLayout, StructLayout


@dataclass(frozen=True, slots=True)
class Value:
    """An expression that a ``struct`` code writes; ``refuse`` is a condition under which it must not.

    ``struct`` would cut or pad a uuid of another length, and take anything at all for a bool.
    """

    expression: str
    code: str
    refuse: str = ""


@dataclass(frozen=True, slots=True)
class WriteRun:
    """Fixed-width values side by side; ``refusals`` are conditions that are looked at first."""

    expressions: tuple[str, ...]
    code: str
    refusals: tuple[str, ...]
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class Prepare:
    """Turn a value into ``name``, ready to be measured and appended; ``kind`` is ``text``, ``octets`` or ``array``."""

    name: str
    expression: str
    prepare: str
    kind: str = "prepare"


@dataclass(frozen=True, slots=True)
class WriteBody:
    """Append a prepared string or octets."""

    name: str
    kind: str = "body"


@dataclass(frozen=True, slots=True)
class WriteText:
    """A string or octets with its prefix where it cannot ride along; ``kind`` is ``text`` or ``octets``.

    ``lead`` and ``tail`` are the fixed-width values around a compact string: while it is short, one ``struct`` call
    writes all of them.
    """

    name: str
    expression: str
    compact: bool
    nullable: bool
    length_code: str
    kind: str
    lead: WriteRun | None = None
    tail: WriteRun | None = None

    @property
    def around(self) -> tuple[str, str]:
        """The ``struct`` codes of lead and tail."""
        return self.lead.code if self.lead else "", self.tail.code if self.tail else ""


@dataclass(frozen=True, slots=True)
class WriteArray:
    """An array with its count: elements by ``element`` steps, a ``struct`` code or a struct writer.

    A ``prefixed`` array is prepared already, and its count was written by the run in front of it. ``lead`` is the
    run in front of a compact count, which one ``struct`` call writes with it while the array is short. ``previous`` is
    the array of numbers that stands right in front: the two are often equal (replicas that are in sync), and then the
    same bytes are written twice.
    """

    name: str
    expression: str
    compact: bool
    nullable: bool
    prefixed: bool
    code: str = ""
    writer: str = ""
    element: tuple[WriteStep, ...] = ()
    lead: WriteRun | None = None
    previous: str = ""
    kind: str = "array"

    @property
    def is_compact_numbers(self) -> bool:
        """Whether it is an array of numbers with a compact count and no null."""
        return bool(self.code) and self.compact and not self.nullable


@dataclass(frozen=True, slots=True)
class WriteStruct:
    """A single struct. ``marker`` tells how null is marked: ``inline``, ``tagged`` or not at all."""

    expression: str
    writer: str
    marker: str
    kind: str = "struct"


@dataclass(frozen=True, slots=True)
class TaggedValue:
    """A tagged field: its number, the test whether it differs from its default, the steps of its payload."""

    tag: int
    is_set: str
    steps: tuple[WriteStep, ...]


@dataclass(frozen=True, slots=True)
class WriteTags:
    """The tagged-field section; the zero byte of an empty one is written already, by the run in front."""

    known: tuple[TaggedValue, ...]
    declared: tuple[int, ...]
    kind: str = "tags"


@dataclass(frozen=True, slots=True)
class Refuse:
    """What the version cannot carry must not be (encode-non-ignorable, null-encode-refused)."""

    condition: str
    reason: str
    kind: str = "refuse"


WriteStep = WriteRun | Prepare | WriteBody | WriteText | WriteArray | WriteStruct | WriteTags | Refuse


def writing_steps(layout: StructLayout, names: CodecNames) -> tuple[WriteStep, ...]:
    """The steps that write the struct in the local ``item``."""
    parts: list[Value | WriteStep] = [
        Refuse(is_set(field, f"item.{field.attribute}"), f"{field.attribute} is not in these versions")
        for field in layout.absent
        if not field.ignorable
    ]
    for field in layout.inline:
        parts += _parts(field, f"item.{field.attribute}", names)
    known = tuple(_tagged_value(field, f"item.{field.attribute}", names) for field in layout.tagged)
    if layout.flexible:
        parts += [Value("0", "B"), WriteTags(known, tuple(field.tag or 0 for field in layout.tagged))]
    else:
        parts.insert(0, Refuse("item.unknown_tagged_fields", "tagged-unknown-needs-flexible"))
    return tuple(_fuse(parts))


def _tagged_value(field: FieldLayout, expression: str, names: CodecNames) -> TaggedValue:
    payload = field
    if field.default is None and (field.array or field.type != STRUCT):
        # tagged-null: where null is the default it is left out, so the value that is written is never null.
        payload = msgspec.structs.replace(field, nullable=False, ever_nullable=False, default=())
    return TaggedValue(field.tag or 0, is_set(field, expression), tuple(_fuse(_parts(payload, expression, names))))


def _fuse(parts: list[Value | WriteStep]) -> Iterator[WriteStep]:
    """Gather fixed-width values into runs, and give runs to the compact strings and arrays beside them."""
    steps = list(_gather(parts))
    written: WriteStep | None = None
    while steps:
        step = steps.pop(0)
        following = steps[0] if steps else None
        if isinstance(step, WriteRun) and isinstance(following, WriteText):
            text = _with_tail(steps.pop(0), step, steps)
            yield from (text,) if isinstance(text, WriteText) and text.lead else (step, text)
        elif isinstance(step, WriteRun) and isinstance(following, WriteArray) and _may_have_lead(following):
            steps[0] = replace(following, lead=step)
            continue
        elif isinstance(step, WriteArray) and isinstance(written, WriteArray) and _are_alike(step, written):
            yield replace(step, previous=written.name)
        else:
            yield _with_tail(step, None, steps)
        written = step


def _may_have_lead(array: WriteArray) -> bool:
    return array.compact and not array.nullable


def _are_alike(array: WriteArray, previous: WriteArray) -> bool:
    return array.is_compact_numbers and previous.is_compact_numbers and array.code == previous.code and not array.lead


def _with_tail(step: WriteStep, lead: WriteRun | None, following: list[WriteStep]) -> WriteStep:
    """The step with the runs around it, where it is a compact string and that spares a call; takes the tail."""
    if not (isinstance(step, WriteText) and step.compact and not step.nullable and step.kind == "text"):
        return step
    tail = following[0] if following and isinstance(following[0], WriteRun) else None
    if all(run is None or run.code == "B" for run in (lead, tail)):
        return step
    if tail is not None:
        following.pop(0)
    return replace(step, lead=lead, tail=tail)


def _gather(parts: list[Value | WriteStep]) -> Iterator[WriteStep]:
    """Make runs of fixed-width neighbours; preparations and refusals move in front of the run they interrupt."""
    run: list[Value] = []
    for part in parts:
        if isinstance(part, Value):
            run.append(part)
        elif isinstance(part, Prepare | Refuse):
            yield part
        else:
            if run:
                yield _run(run)
                run = []
            yield part
    if run:
        yield _run(run)


def _run(run: list[Value]) -> WriteRun:
    return WriteRun(
        tuple(part.expression for part in run),
        "".join(part.code for part in run),
        tuple(part.refuse for part in run if part.refuse),
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
    return _value_parts(field.type, expression, local(field), compact=field.compact, nullable=field.nullable)


def _value_parts(
    type_name: str, expression: str, stem: str, *, compact: bool, nullable: bool
) -> list[Value | WriteStep]:
    type_ = FIELD_TYPES[type_name]
    if type_.code is not None:
        return [Value(expression, type_.code, _REFUSALS.get(type_.domain, "").format(expression))]
    kind = "text" if type_.domain == "text" else "octets"
    length_code = type_.length_code or ""
    if compact or nullable:
        return [WriteText(stem, expression, compact, nullable, length_code, kind)]
    raw = f"{stem}_raw"
    return [Prepare(raw, expression, kind), Value(f"len({raw})", length_code), WriteBody(raw)]


_REFUSALS = {"uuid": "len({}) != 16", "bool": "type({}) is not bool"}


def _array_parts(field: FieldLayout, expression: str, names: CodecNames) -> list[Value | WriteStep]:
    prefixed = not (field.compact or field.nullable)
    array = _array(field, expression, names, prefixed=prefixed)
    if not prefixed:
        return [array]
    return [Prepare(array.name, expression, "array"), Value(f"len({array.name})", "i"), array]


def _array(field: FieldLayout, expression: str, names: CodecNames, *, prefixed: bool) -> WriteArray:
    code = writer = ""
    element: tuple[WriteStep, ...] = ()
    if field.struct is not None:
        writer = names.many_writer(field.struct)
    elif FIELD_TYPES[field.type].domain not in ("int", "float"):
        value = f"{local(field)}_item"
        element = tuple(_fuse(_value_parts(field.type, value, value, compact=field.compact, nullable=False)))
    else:
        code = FIELD_TYPES[field.type].code or ""
    return WriteArray(local(field), expression, field.compact, field.nullable, prefixed, code, writer, element)
