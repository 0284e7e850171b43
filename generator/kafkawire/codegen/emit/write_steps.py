"""The steps that write a struct, as templates/write.py.j2 prints them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """An expression that a ``struct`` code writes; ``refuse`` is a condition under which it must not.

    ``struct`` would cut or pad a uuid of another length, and accept anything as a bool.
    """

    expression: str
    code: str
    refuse: str = ""


@dataclass(frozen=True, slots=True)
class WriteRun:
    """Fixed-width values side by side; ``refusals`` are conditions that are checked first."""

    expressions: tuple[str, ...]
    code: str
    refusals: tuple[str, ...]
    kind: str = "run"


@dataclass(frozen=True, slots=True)
class Prepare:
    """Assign to the local ``name`` what later steps need of a value; ``prepare`` is the conversion.

    ``text`` and ``octets`` give its bytes, ``array`` a tuple, ``length`` its length, ``value`` the value itself, and
    ``numbers`` the packed ``n`` numbers of a tuple, whose ``struct`` code is ``code``. If the tuple is its ``pair``,
    the local ``numbers`` has their bytes already.
    """

    name: str
    expression: str
    prepare: str
    code: str = ""
    pair: str = ""
    kind: str = "prepare"


@dataclass(frozen=True, slots=True)
class WriteBody:
    """Append a prepared string or octets."""

    name: str
    kind: str = "body"


@dataclass(frozen=True, slots=True)
class WriteText:
    """A string or octets with its prefix, if no run before it writes that.

    ``kind`` is ``text``, ``octets`` or ``view``. A ``view`` may be a memoryview, which is not converted to bytes:
    joining the pieces copies it, once. ``lead`` and ``tail`` are the fixed-width values around a compact string: while
    it is short, one ``struct`` call writes all of them.
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
    run in front of a compact count, which one ``struct`` call writes with it while the array is short.
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
    kind: str = "array"


@dataclass(frozen=True, slots=True)
class WriteFused:
    """Steps that one ``struct`` call writes while a condition holds, which it usually does.

    Attributes:
        setup: preparations before the condition can be evaluated.
        condition: when the one call suffices.
        refusals: conditions that are checked before it.
        packer: the kind of function: ``run``, ``pair`` (of strings) or ``paired`` (arrays of numbers).
        codes: its ``struct`` codes.
        arguments: its arguments.
        apart: the steps one by one, for when the condition does not hold.
        uses: names that the condition uses and the module imports.
        inside: further preparations before the call.
    """

    setup: tuple[Prepare, ...]
    condition: str
    refusals: tuple[str, ...]
    packer: str
    codes: tuple[str, ...]
    arguments: tuple[str, ...]
    apart: tuple[WriteStep, ...]
    uses: tuple[str, ...] = ()
    inside: tuple[Prepare, ...] = ()
    kind: str = "fused"


@dataclass(frozen=True, slots=True)
class WriteStruct:
    """A single struct. ``marker`` is the form of null: ``inline``, ``tagged`` or not at all."""

    expression: str
    writer: str
    marker: str
    kind: str = "struct"


@dataclass(frozen=True, slots=True)
class TaggedValue:
    """A tagged field: its number, the test whether it differs from its default, the steps of its payload.

    ``may_be_set`` is a quick test that never misses a field that differs.
    """

    tag: int
    is_set: str
    may_be_set: str
    steps: tuple[WriteStep, ...]


@dataclass(frozen=True, slots=True)
class WriteTags:
    """The tagged-field section; the zero byte of an empty one is written already, by the run in front."""

    known: tuple[TaggedValue, ...]
    declared: tuple[int, ...]
    kind: str = "tags"


@dataclass(frozen=True, slots=True)
class Refuse:
    """Refuse a value that the version cannot carry (encode-non-ignorable, null-encode-refused)."""

    condition: str
    reason: str
    kind: str = "refuse"


WriteStep = WriteRun | Prepare | WriteBody | WriteText | WriteArray | WriteFused | WriteStruct | WriteTags | Refuse
