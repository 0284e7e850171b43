"""From a struct layout to the steps that read it, which templates/read.py.j2 prints.

One ``struct`` call reads adjacent fixed-width values and the length prefix of the variable-length value that follows
them (plain lengths as int16 or int32, the first byte of compact ones). So when a step begins, the local ``n`` has its
length, and ``at`` is the position after the length.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kafkawire.codegen.emit.annotations import layout_annotation
from kafkawire.codegen.emit.names import CodecNames, default_expression, local
from kafkawire.layout import FIELD_TYPES, FieldLayout, StructLayout

LENGTH = "n"
"""The local that holds a length prefix."""

COMPACT_PREFIX = ("B", 1)
PLAIN_COUNT = ("i", 4)
FLOAT_CODES = ("e", "f", "d")
"""The ``struct`` codes of floating-point numbers: 0.0 and -0.0 are equal, but their bytes differ."""


@dataclass(frozen=True, slots=True)
class ReadRun:
    """Fixed-width values side by side. ``loads`` has the functions that convert what was read to values, by target."""

    targets: tuple[str, ...]
    code: str
    size: int
    loads: tuple[tuple[str, str], ...]
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class ReadText:
    """A string or octets whose length is in ``n``; ``kind`` is ``text`` or ``octets``.

    ``view`` octets are not copied: they are a slice of the local ``view`` of the buffer. ``tail`` are the fixed-width
    values after a short string, which one ``struct`` call reads with it.
    """

    target: str
    compact: bool
    nullable: bool
    kind: str
    view: bool = False
    tail: ReadRun | None = None


@dataclass(frozen=True, slots=True)
class ReadNumbers:
    """An array of a fixed-width type, its count in ``n``: one ``struct`` call.

    ``pair`` is the preceding array of the same type of integer. If both are equal, as replicas and replicas in sync
    usually are, they become one tuple, which is also written faster.
    """

    target: str
    code: str
    size: int
    compact: bool
    nullable: bool
    pair: str = ""
    kind: str = "numbers"


@dataclass(frozen=True, slots=True)
class ReadItems:
    """An array of strings, octets or uuids, its count in ``n``: ``element`` reads one of them."""

    target: str
    compact: bool
    nullable: bool
    element: tuple[ReadStep, ...]
    kind: str = "items"


@dataclass(frozen=True, slots=True)
class ReadStructs:
    """An array of structs, its count in ``n``; ``reader`` is the function that reads that number of them."""

    target: str
    compact: bool
    nullable: bool
    reader: str
    kind: str = "structs"


@dataclass(frozen=True, slots=True)
class ReadStruct:
    """A single struct. ``marker`` is the form of null: ``inline``, ``tagged`` or not at all."""

    target: str
    reader: str
    marker: str
    kind: str = "struct"


@dataclass(frozen=True, slots=True)
class KnownTag:
    """A tagged field: its number and the steps that read its payload."""

    tag: int
    steps: tuple[ReadStep, ...]


@dataclass(frozen=True, slots=True)
class TagDefault:
    """The value of a tagged field's local if the section does not have the field (tagged-read-absent)."""

    target: str
    annotation: str
    expression: str


@dataclass(frozen=True, slots=True)
class ReadTags:
    """The tagged-field section, the first byte of its count in ``n``; unknown fields are kept in ``tags``."""

    known: tuple[KnownTag, ...]
    defaults: tuple[TagDefault, ...]
    kind: str = "tags"


ReadStep = ReadRun | ReadText | ReadNumbers | ReadItems | ReadStructs | ReadStruct | ReadTags


@dataclass(frozen=True, slots=True)
class Fixed:
    """A fixed-width value that waits for its neighbours; ``load`` is the function that converts what was read to it."""

    target: str
    code: str
    size: int
    load: str = ""


@dataclass(frozen=True, slots=True)
class Bulk:
    """How an array of structs without any variable-length field is read at once.

    Attributes:
        code: ``struct`` code of one element; the byte of its empty tagged-field section is skipped.
        size: bytes of one element.
        flexible: whether there are such bytes, all of which must be zero.
    """

    code: str
    size: int
    flexible: bool


def bulk_reading(layout: StructLayout) -> Bulk | None:
    """How to read many of a struct at once, if all its bytes are fixed-width values that come first in the class."""
    inline = layout.inline
    types = [FIELD_TYPES.get(field.type) for field in inline]
    codes = [type_.code or "" for type_ in types if type_ is not None and type_.many_read_at_once]
    if not inline or len(codes) != len(inline) or any(field.array for field in inline):
        return None
    if layout.fields[: len(inline)] != inline:
        return None
    size = sum(type_.size or 0 for type_ in types if type_ is not None)
    return Bulk("".join(codes) + ("x" if layout.flexible else ""), size + layout.flexible, layout.flexible)


def reading_steps(layout: StructLayout, names: CodecNames) -> tuple[ReadStep, ...]:
    """The steps that read the fields of a struct into locals, each named after its attribute."""
    parts: list[Fixed | ReadStep] = []
    for field in layout.inline:
        parts += _parts(field, local(field), names)
    if layout.flexible:
        parts.append(Fixed(LENGTH, *COMPACT_PREFIX))
        known = tuple(
            KnownTag(field.tag or 0, tuple(_fuse(_parts(field, local(field), names)))) for field in layout.tagged
        )
        defaults = tuple(
            TagDefault(local(field), layout_annotation(field, names), default_expression(field, names.use))
            for field in layout.tagged
        )
        parts.append(ReadTags(known, defaults))
    return tuple(_fuse(parts))


def _fuse(parts: list[Fixed | ReadStep]) -> Iterator[ReadStep]:
    """Gather fixed-width neighbours into runs, and give runs after a compact string to it."""
    run: list[Fixed] = []
    text: ReadText | None = None
    for part in (*_with_pairs(parts), None):
        if isinstance(part, Fixed):
            run.append(part)
            continue
        if text is not None and len(run) > 1:
            yield replace(text, tail=_run(run))
        else:
            yield from filter(None, (text, _run(run) if run else None))
        run = []
        text = part if isinstance(part, ReadText) and _may_have_tail(part) else None
        if part is not None and text is None:
            yield part


def _with_pairs(parts: list[Fixed | ReadStep]) -> Iterator[Fixed | ReadStep]:
    """Note in compact arrays of numbers which one precedes them, with only a count between."""
    before: list[Fixed | ReadStep | None] = [None, None]
    for part in parts:
        found = part
        first, count = before
        if (
            isinstance(part, ReadNumbers)
            and isinstance(first, ReadNumbers)
            and isinstance(count, Fixed)
            and _may_be_a_pair(part, first)
        ):
            found = replace(part, pair=first.target)
        yield found
        before = [count, found]


def _may_be_a_pair(numbers: ReadNumbers, first: ReadNumbers) -> bool:
    is_short = numbers.compact and first.compact and not (numbers.nullable or first.nullable or first.pair)
    return is_short and numbers.code == first.code and numbers.code not in FLOAT_CODES


def _may_have_tail(text: ReadText) -> bool:
    return text.compact and not text.nullable and text.kind == "text"


def _run(run: list[Fixed]) -> ReadRun:
    return ReadRun(
        tuple(part.target for part in run),
        "".join(part.code for part in run),
        sum(part.size for part in run),
        tuple((part.target, part.load) for part in run if part.load),
    )


def _parts(field: FieldLayout, target: str, names: CodecNames) -> list[Fixed | ReadStep]:
    if field.array:
        return _array_parts(field, target, names)
    if field.struct is not None:
        return [ReadStruct(target, names.single_reader(field.struct), field.null_marker)]
    return _value_parts(field.type, target, names, compact=field.compact, nullable=field.nullable)


def _value_parts(
    type_name: str, target: str, names: CodecNames, *, compact: bool, nullable: bool
) -> list[Fixed | ReadStep]:
    type_ = FIELD_TYPES[type_name]
    if type_.code is not None and type_.size is not None:
        load = names.use.function("load", type_name) if type_.load else ""
        return [Fixed(target, type_.code, type_.size, load)]
    prefix = COMPACT_PREFIX if compact else (("h", 2) if type_.length_code == "h" else ("i", 4))
    kind = "text" if type_.domain == "text" else "octets"
    return [Fixed(LENGTH, *prefix), ReadText(target, compact, nullable, kind, type_.view)]


def _array_parts(field: FieldLayout, target: str, names: CodecNames) -> list[Fixed | ReadStep]:
    prefix = Fixed(LENGTH, *(COMPACT_PREFIX if field.compact else PLAIN_COUNT))
    if field.struct is not None:
        return [prefix, ReadStructs(target, field.compact, field.nullable, names.many_reader(field.struct))]
    type_ = FIELD_TYPES[field.type]
    if type_.many_read_at_once:
        return [prefix, ReadNumbers(target, type_.code or "", type_.size or 0, field.compact, field.nullable)]
    element = tuple(_fuse(_value_parts(field.type, f"{target}_item", names, compact=field.compact, nullable=False)))
    return [prefix, ReadItems(target, field.compact, field.nullable, element)]
