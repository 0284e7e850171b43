"""Text of definitions as Markdown that stays text, whatever it says."""

from __future__ import annotations

from collections.abc import Sequence

_SPECIAL = frozenset("\\`*_{}[]<>&|~$#")
_PLAIN_IN_CODE = frozenset("*_{}[]<>&~$#")


def words(text: str) -> str:
    """Text on one line of a paragraph or a table cell, nothing of which is markup."""
    return "".join(_entity(letter) if letter in _SPECIAL else letter for letter in _one_line(text))


def code(text: str) -> str:
    """Text as code on one line of a paragraph or a table cell."""
    line = _one_line(text)
    if all(letter in _PLAIN_IN_CODE or letter not in _SPECIAL for letter in line) and line:
        return f"`{line}`"
    # A span of code cannot hold backticks, and a pipe ends the cell even there.
    return f"<code>{words(line)}</code>"


def in_words(names: Sequence[str]) -> str:
    """Names as they stand in a sentence: ``3.9.2, 4.3.1 and 4.4.0``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def block(lines: Sequence[str]) -> str:
    """Lines as the content of ``<pre>``."""
    return "\n".join(line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for line in lines)


def _one_line(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in text)
    return " ".join(shown.split())


def _entity(letter: str) -> str:
    return f"&#{ord(letter)};"
