"""The standard streams of a process that were closed, or that cannot carry every character."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

_UTF_8 = "utf-8"


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
