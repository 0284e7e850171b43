"""A comparison for people: what the second side has more, less and otherwise, kind by kind."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from kafkawire.cli.visible import visible
from kafkawire.declared.comparison import Difference, DifferingItem
from kafkawire.declared.planned import Kind, ValueChange
from kafkawire.declared.wording import item_in_words

_MARKS: Final = {Difference.ADDED: "+", Difference.REMOVED: "-", Difference.CHANGED: "~"}
_STYLES: Final = {Difference.ADDED: "green", Difference.REMOVED: "red", Difference.CHANGED: "yellow"}
HEADINGS: Final = {
    Kind.TOPICS: "Topics",
    Kind.CONFIGS: "Configs",
    Kind.ACLS: "ACLs",
    Kind.QUOTAS: "Quotas",
    Kind.USERS: "SCRAM users",
}
_NOT_SET: Final = "not set"
_NARROWEST: Final = 20
_EFFECTS: Final = 100


class Line(NamedTuple):
    """A line of the text.

    Attributes:
        text: what it says.
        style: of rich; empty for none.
        indent: columns that its continuation is indented by.
    """

    text: str
    style: str = ""
    indent: int = 0


def comparison_lines(
    left: str, right: str, items: Sequence[DifferingItem], effects: Sequence[str] = ()
) -> Iterator[Line]:
    """The lines of a comparison.

    Args:
        left, right: the names of both sides.
        items: in which they differ, those of a kind together.
        effects: sentences: who may do more and less on the right side.
    """
    yield Line(f"--- {visible(left)}", "red")
    yield Line(f"+++ {visible(right)}", "green")
    for kind, of_kind in groupby(items, key=lambda item: item.kind):
        yield Line("")
        yield Line(HEADINGS[kind], "bold")
        for item in of_kind:
            style = _STYLES[item.difference]
            yield Line(f"  {_MARKS[item.difference]} {visible(item_in_words(item.item))}", style, indent=4)
            for value in item.values:
                yield Line(f"      {value_in_words(item.difference, value)}", indent=8)
    yield from _effect_lines(effects)
    yield Line("")
    yield Line(_summary(items))


def _effect_lines(effects: Sequence[str]) -> Iterator[Line]:
    if not effects:
        return
    yield Line("")
    yield Line("What the ACLs mean, from the left side to the right one", "bold")
    for sentence in effects[:_EFFECTS]:
        yield Line(f"  {visible(sentence)}", indent=4)
    if len(effects) > _EFFECTS:
        yield Line(f"  and {len(effects) - _EFFECTS} more")


def print_lines(lines: Iterator[Line]) -> None:
    """Print lines on standard output: on a terminal in colours and folded at its width, else whole."""
    if not sys.stdout.isatty():
        sys.stdout.writelines(f"{line.text}\n" for line in lines)
        return
    console = Console(highlight=False, emoji=False, soft_wrap=True)
    for line in lines:
        for part in folded(line, console.width):
            console.print(Text(part, line.style))


def folded(line: Line, width: int) -> list[str]:
    """The parts of a line that fit a width, broken at blanks where there are some; all but the first are indented."""
    parts, rest, indent = [], line.text, ""
    while cell_len(rest) + len(indent) > width:
        part, *_ = chop_cells(rest, max(width - len(indent), _NARROWEST))
        blank = part.rfind(" ", len(part) // 2)
        if blank > 0 and rest[len(part)] != " ":
            part = part[:blank]
        parts.append(indent + part)
        rest, indent = rest[len(part) :].lstrip(" "), " " * line.indent
    return [*parts, indent + rest]


def value_in_words(difference: Difference, value: ValueChange) -> str:
    """A value that differs: ``partitions: 3 → 6``."""
    return f"{visible(value.name)}: {_values(difference, value)}"


def _values(difference: Difference, value: ValueChange) -> str:
    match difference:
        case Difference.ADDED:
            return shown(value.after)
        case Difference.REMOVED:
            return shown(value.before)
        case Difference.CHANGED:
            return f"{shown(value.before)} → {shown(value.after)}"


def shown(value: str | None) -> str:
    """A value in words."""
    return _NOT_SET if value is None else visible(value) or '""'


def _summary(items: Sequence[DifferingItem]) -> str:
    counts = Counter(item.difference for item in items)
    return ", ".join(f"{counts[difference]} {difference}" for difference in Difference)
