"""Rows as CSV, as ``kafkawire tables`` writes it: texts in quotes, null as an empty cell, nested values as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from kafkawire.cli.rows.row import Row

_FORMULA: Final = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Patterns of ``kafkawire.logs.spreadsheets``, in Python's regular expressions."""


def csv_lines(rows: Iterable[Row], names: Sequence[str], *, for_spreadsheets: bool) -> Iterator[str]:
    """The line of headings, and a line for each row.

    Args:
        rows: all of one class.
        names: its fields.
        for_spreadsheets: whether texts that are formulas in a spreadsheet begin with ``'``.
    """
    yield ",".join(map(_quoted, names))
    for row in rows:
        yield ",".join(_cell(getattr(row, name), for_spreadsheets=for_spreadsheets) for name in names)


def _cell(value: object, *, for_spreadsheets: bool) -> str:
    built = msgspec.to_builtins(value)
    match built:
        case None:
            return ""
        case bool() | int() | float():
            return msgspec.json.encode(built).decode()
        case str():
            return _quoted(_without_formula(built) if for_spreadsheets else built)
        case _:
            return _quoted(msgspec.json.encode(built).decode())


def _without_formula(text: str) -> str:
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def _quoted(text: str) -> str:
    return '"{}"'.format(text.replace('"', '""'))
