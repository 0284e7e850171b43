"""Commands as the user can type them, where the demonstration runs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

Word = str | Path

_INDENT: Final = "    "
_PROGRAM: Final = "kafkawire"


def program() -> str:
    """``kafkawire`` if that is this installation; else the path of its script, relative if it is below this folder."""
    script = shutil.which(_PROGRAM, path=sysconfig.get_path("scripts"))
    on_path = shutil.which(_PROGRAM)
    if script is None or (on_path is not None and Path(on_path).samefile(script)):
        return _PROGRAM
    path = Path(script)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else script


def command_lines(words: Sequence[Word], width: int) -> Iterator[str]:
    """A command of kafkawire for the shell, indented, broken between words where a line would be too long.

    Args:
        words: those after ``kafkawire``; ``<`` redirects the input.
        width: of the terminal.
    """
    texts = [program(), *map(str, words)]
    if os.name == "nt":
        yield _INDENT + subprocess.list2cmdline(texts)
        return
    line = ""
    for group in _groups(texts):
        if line and len(_INDENT) + len(line) + 1 + len(group) + len(" \\") > width:
            yield f"{_INDENT}{line} \\"
            line = "  "
        line += group if not line.strip() else f" {group}"
    yield _INDENT + line


def _groups(words: Sequence[str]) -> Iterator[str]:
    """Quoted words; an option stays with its value."""
    group = ""
    for word in words:
        if group and (word.startswith("-") or word == "<" or not group.startswith(("-", "<")) or " " in group):
            yield group
            group = ""
        quoted = word if word == "<" else shlex.quote(word)
        group = f"{group} {quoted}" if group else quoted
    yield group
