"""A comparison as SARIF, for code scanning: a result for each item that differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Final

from kafkawire.cli.state.comparison_text import HEADINGS, value_in_words
from kafkawire.cli.state.sides import ReadSide
from kafkawire.cli.visible import visible
from kafkawire.codegen.definition import Span
from kafkawire.codegen.report.entry import Entry, ReportedRule, RepositoryPaths
from kafkawire.codegen.report.sarif import render_sarif
from kafkawire.declared.comparison import Difference, DifferingItem
from kafkawire.declared.documents.problems import Position
from kafkawire.declared.planned import Kind
from kafkawire.declared.wording import item_in_words
from kafkawire.version import __version__

_SUMMARIES: Final = {
    Difference.ADDED: "are only on the right side",
    Difference.REMOVED: "are only on the left side",
    Difference.CHANGED: "have other values on the right side",
}
_REMEDY: Final = "If it is not meant, bring one side to the other."


def sarif_of(left: ReadSide, right: ReadSide, items: Sequence[DifferingItem]) -> str:
    """The log of a comparison. A result is where a document declares the item, else at the documents or the log.

    Args:
        left, right: the sides.
        items: in which they differ.
    """
    paths = RepositoryPaths(Path())
    rules = (
        ReportedRule(_rule(kind, difference), f"{HEADINGS[kind]} {_SUMMARIES[difference]}.", _REMEDY)
        for kind, difference in product(Kind, Difference)
    )
    return render_sarif([_entry(item, left, right, paths) for item in items], rules, __version__)


def _rule(kind: Kind, difference: Difference) -> str:
    return f"{kind}-{difference}"


def _entry(item: DifferingItem, left: ReadSide, right: ReadSide, paths: RepositoryPaths) -> Entry:
    file, span = _place(item, right, left)
    words = visible(item_in_words(item.item))
    values = "; ".join(value_in_words(item.difference, value) for value in item.values)
    difference = f"{item.difference} from {visible(left.name)} to {visible(right.name)}"
    return Entry(
        file,
        paths.of(file) if file else None,
        span,
        "warning",
        _rule(item.kind, item.difference),
        f"{words}: {difference}" + (f": {values}" if values else ""),
        subject=f"{item.kind}/{words}",
        facts={
            "kind": item.kind,
            "item": words,
            "difference": item.difference,
            "values": [{"name": each.name, "left": each.before, "right": each.after} for each in item.values],
        },
    )


def _place(item: DifferingItem, *sides: ReadSide) -> tuple[str, Span | None]:
    """The line of the first side that declares the item; else its documents, else a log."""
    for side in sides:
        position = side.positions.get(item.kind, {}).get(item.item)
        if position is not None:
            return position.file, _span(position)
    by_documents = sorted((side for side in sides if side.file), key=lambda side: not side.positions)
    return (by_documents[0].file if by_documents else ""), None


def _span(position: Position) -> Span:
    return Span(position.line, position.column, position.end_line, position.end_column)
