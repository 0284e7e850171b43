"""Texts that others chose, such as names of topics, groups, users and files, made safe for a terminal."""

from __future__ import annotations


def visible(text: str) -> str:
    """A text with control characters escaped, and those that make one name look like another."""
    return text if text.isprintable() else "".join(map(_visible_mark, text))


def visible_lines(text: str) -> str:
    """The same, line by line."""
    return "\n".join(map(visible, text.split("\n")))


def _visible_mark(mark: str) -> str:
    return mark if mark.isprintable() else f"\\u{ord(mark):04x}" if ord(mark) < 1 << 16 else f"\\U{ord(mark):08x}"
