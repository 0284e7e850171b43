"""Java's ``.properties`` files: how ``java.util.Properties`` reads them.

Written here because it is small, and every broker would need a library for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_BLANKS = " \t\f"
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|(?<=[^\r\n])\Z)")
_ENTRY = re.compile(r"((?:[^\\ \t\f=:]|\\.)*)[ \t\f]*[=:]?[ \t\f]*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u(.{0,4})|(.)|$)", re.DOTALL)
_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]{4}", re.ASCII)


class PropertiesError(ValueError):
    """Text that is not a ``.properties`` file; the message names the entry, not its value."""


def parse_properties(text: str) -> dict[str, str]:
    """Names and values of a ``.properties`` file; the last value of a name applies.

    Raises:
        PropertiesError: an invalid escape; the message names the entry, not its value.
    """
    properties = {}
    for line in _logical_lines(text):
        entry = _ENTRY.fullmatch(line)
        if entry is None:
            raise AssertionError("every line has a name, if an empty one")
        name = _unescaped(entry[1], "a name")
        properties[name] = _unescaped(entry[2], f"the value of {name}")
    return properties


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without blank ones and comments; what a backslash at the end continues is one line."""
    begun = ""
    for natural in _LINE.finditer(text):
        line = natural[1].lstrip(_BLANKS)
        if not begun and (not line or line[0] in "#!"):
            continue
        begun += line
        if not _ends_open(line):
            yield begun
            begun = ""
            continue
        begun = begun[:-1]
        if natural.end() == len(text) and natural[2] != "\r\n":  # Java sees the end before it sees the continuation
            yield begun
            return
    if begun:
        yield begun


def _ends_open(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _unescaped(text: str, where: str) -> str:
    def character(escape: re.Match[str]) -> str:
        if escape[1] is None:
            return _CHARACTERS.get(escape[2] or "", escape[2] or "")
        if not _HEXADECIMAL.fullmatch(escape[1]):
            raise PropertiesError(f"{where} has \\u without four hexadecimal digits: write \\\\ for a backslash")
        return chr(int(escape[1], 16))

    # Two escapes may be the halves of one character, as Java's own characters are.
    return _ESCAPE.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
