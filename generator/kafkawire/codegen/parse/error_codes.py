"""The table of error codes in a folder of definitions."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

ERROR_CODES_FILE = "error-codes.csv"
_COLUMNS = ["code", "name", "retriable", "invalid_metadata"]
_TRUTH = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One error code of the protocol.

    Attributes:
        code: the int16 on the wire; 0 is success, -1 represents every unknown code.
        name: Kafka's constant, ``NOT_CONTROLLER``.
        retriable: whether the same request may succeed later.
        invalid_metadata: whether cluster metadata must be fetched before the retry.
    """

    code: int
    name: str
    retriable: bool
    invalid_metadata: bool


class ErrorCodesError(ValueError):
    """A table of error codes that cannot be read; the text has the file, the line and the problem."""


def read_error_codes(root: Path) -> tuple[ErrorCode, ...]:
    """The table of a folder of definitions in ascending order; empty if the folder has none.

    Raises:
        ErrorCodesError: for a wrong heading, an invalid value, or a code or name given twice.
    """
    path = root / ERROR_CODES_FILE
    return parse_error_codes(path.read_text("utf-8"), str(path)) if path.is_file() else ()


def parse_error_codes(text: str, file: str) -> tuple[ErrorCode, ...]:
    """Read the table from CSV text with the heading ``code,name,retriable,invalid_metadata``.

    Raises:
        ErrorCodesError: as `read_error_codes`.
    """
    rows = csv.reader(io.StringIO(text))
    if next(rows, None) != _COLUMNS:
        raise ErrorCodesError(f"{file}:1: the heading must be {','.join(_COLUMNS)}")
    codes = tuple(_error_code(row, f"{file}:{rows.line_num}") for row in rows)
    for what, values in (("code", [str(code.code) for code in codes]), ("name", [code.name for code in codes])):
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise ErrorCodesError(f"{file}: {what} given twice: {', '.join(twice)}")
    return tuple(sorted(codes, key=lambda code: code.code))


def format_error_codes(codes: tuple[ErrorCode, ...]) -> str:
    """The table as CSV text, which `parse_error_codes` reads back."""
    lines = [",".join(_COLUMNS)]
    lines += [f"{c.code},{c.name},{str(c.retriable).lower()},{str(c.invalid_metadata).lower()}" for c in codes]
    return "\n".join(lines) + "\n"


def _error_code(row: list[str], place: str) -> ErrorCode:
    if len(row) != len(_COLUMNS):
        raise ErrorCodesError(f"{place}: {len(_COLUMNS)} values are needed, found {len(row)}")
    code, name, retriable, invalid_metadata = row
    if not code.removeprefix("-").isdecimal() or not -0x8000 <= int(code) <= 0x7FFF:
        raise ErrorCodesError(f"{place}: {code!r} is not an int16")
    if not name.isidentifier():
        raise ErrorCodesError(f"{place}: {name!r} is not a name")
    for value in (retriable, invalid_metadata):
        if value not in _TRUTH:
            raise ErrorCodesError(f"{place}: {value!r} is neither true nor false")
    return ErrorCode(int(code), name, _TRUTH[retriable], _TRUTH[invalid_metadata])
