"""The text of a file or of standard input, of limited size."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Final

STANDARD_INPUT: Final = Path("-")
"""The name of a file that means standard input."""

LARGEST_FILE: Final = 1 << 28
_MEBIBYTE: Final = 20


class UnreadableTextError(ValueError):
    """A file that is no text, or cannot be read.

    Attributes:
        reason: what is wrong with it.
        remedy: what to do.
        line, column: of the first byte that is no text; None for the whole file.
    """

    def __init__(self, reason: str, remedy: str, line: int | None = None, column: int | None = None) -> None:
        self.reason = reason
        self.remedy = remedy
        self.line = line
        self.column = column
        super().__init__(f"{reason}; {remedy}")


def read_text(path: Path, stdin: BinaryIO | None = None) -> str:
    """The text of a file in UTF-8, without a byte order mark.

    Args:
        path: its path; ``-`` is standard input.
        stdin: standard input; by default that of the process.

    Raises:
        UnreadableTextError: it cannot be read, is too large, or is not UTF-8.
    """
    content = _content(path, stdin)
    if len(content) > LARGEST_FILE:
        raise UnreadableTextError(f"is larger than {LARGEST_FILE >> _MEBIBYTE} MiB", "split it")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        line = before.count("\n") + 1
        column = len(before) - (before.rfind("\n") + 1) + 1
        reason = f"byte 0x{content[error.start]:02x} is not UTF-8"
        raise UnreadableTextError(reason, "save the file as UTF-8", line, column) from None


def _content(path: Path, stdin: BinaryIO | None) -> bytes:
    try:
        if path != STANDARD_INPUT:
            with path.open("rb") as file:
                return file.read(LARGEST_FILE + 1)
        return (stdin or _standard_input()).read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        remedy = "name a file that exists, or - for standard input"
        raise UnreadableTextError(f"cannot be read: {reason}", remedy) from None


def _standard_input() -> BinaryIO:
    if sys.stdin is None:  # closed by the shell: <&-
        raise ValueError("it is closed")
    return sys.stdin.buffer
