"""Prints rows on standard output."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence

from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.rendering import Page, text_for_programs
from kafkawire.cli.rows.row import Row


def print_rows(rows: Iterable[Row], row_class: type[Row], form: RowFormat, *, empty: str | None = "none") -> None:
    """Print rows on standard output.

    On a terminal a table has the columns that fit; in a pipe or a file it has all of them, without colours. Rows that
    have rows of their own are printed in sections.

    Args:
        rows: all of one class.
        row_class: that class; its fields are the columns, also where there is no row.
        form: how. JSON is one array, JSON lines and YAML have an object for each row.
        empty: what a table without rows says on standard error, such as "no topics"; None for nothing.
    """
    listed = list(rows)
    is_terminal = sys.stdout.isatty()
    if not form.is_for_people:
        sys.stdout.write(text_for_programs(listed, row_class, form, is_terminal=is_terminal))
    elif listed:
        _print_page(listed, row_class, wide=form is RowFormat.WIDE)
    elif empty is not None:
        print(empty, file=sys.stderr)


def _print_page(rows: Sequence[Row], row_class: type[Row], *, wide: bool) -> None:
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    page = Page(width=width if is_terminal and not wide else None, colours=shows_bold())
    sys.stdout.write(page.table(rows, row_class))
    sys.stdout.flush()  # the notes are on another stream
    for note in page.notes:
        print(textwrap.fill(note, width, break_long_words=False, break_on_hyphens=False), file=sys.stderr)


def shows_bold() -> bool:
    """Whether headings are bold: on a terminal, unless the environment says otherwise."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
