"""The text of a file or of standard input that the user names."""

from __future__ import annotations

from pathlib import Path

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.declared.documents.text_files import STANDARD_INPUT, UnreadableTextError, read_text


def given_text(file: Path) -> str:
    """The text of a file in UTF-8, without a byte order mark.

    Args:
        file: its path; ``-`` is standard input.

    Raises:
        CommandError: it cannot be read, is too large, or is not UTF-8.
    """
    try:
        return read_text(file)
    except UnreadableTextError as error:
        place = "" if error.line is None else f":{error.line}:{error.column}"
        raise CommandError(f"{shown_path(file)}{place}: {error}", ExitCode.USAGE) from None


def shown_path(file: Path) -> str:
    """How messages name a file."""
    return "standard input" if file == STANDARD_INPUT else str(file)
