"""The standard streams of a process that were closed, or that cannot carry every character."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

_UTF_8 = "utf-8"


def discard(descriptor: int) -> None:
    """Let all that is written to a descriptor from now on be lost."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


class _Remarks(TextIOWrapper):
    """Standard error: what its reader no longer reads is lost, and the command goes on."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            discard(self.fileno())
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            discard(self.fileno())


def outlive_reader_of_remarks() -> None:
    """Let no command end half done because the reader of its warnings has left, as in ``apply FILE 2>&1 | head``."""
    stream = sys.stderr
    if type(stream) is TextIOWrapper and stream is sys.__stderr__:  # which keeps its buffer open
        sys.stderr = _Remarks(stream.buffer, stream.encoding, stream.errors, line_buffering=True)


def complete_streams() -> None:
    """Give every command all three streams: a closed one is empty or takes everything, and all carry every character.

    A pipe or a file whose encoding has only some characters gets UTF-8, which programs expect of JSON, YAML and CSV. A
    terminal keeps its encoding, and shows a question mark in place of what it does not have.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding=_UTF_8)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding=_UTF_8)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding=_UTF_8)
    out = sys.stdout
    if isinstance(out, TextIOWrapper) and out.encoding.lower() not in {_UTF_8, "utf8"}:
        if out.isatty():
            out.reconfigure(errors="replace")
        else:
            out.reconfigure(encoding=_UTF_8)
