"""Texts in several lines of a width: broken after a mark, such as ``_`` or ``.``, if there is one near the end."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len, set_cell_size

_MARKS: Final = frozenset(" _-./:,;=@")


def widest_line(text: str) -> int:
    """The width of the widest line of a text, in cells of a terminal."""
    if text.isascii() and text.isprintable():  # one line of letters of one cell, as most are
        return len(text)
    return max(map(cell_len, text.split("\n")))


def as_wide_as(text: str, width: int) -> str:
    """A text that is cut at a width, which ``…`` marks."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def folded(text: str, width: int, *, most_lines: int | None = None, only_at_marks: bool = False) -> str:
    """A text in lines of a width.

    Args:
        text: one line.
        width: of the lines, in cells of a terminal.
        most_lines: how many lines it may have; the last is cut, which ``…`` marks. None for any number.
        only_at_marks: whether a word that is longer than the width stays whole.
    """
    lines: list[str] = []
    while cell_len(text) > width:
        if most_lines is not None and len(lines) == most_lines - 1:
            text = as_wide_as(text, width)
            break
        end = _end_of_line(text, width, only_at_marks=only_at_marks)
        if end == len(text):
            break
        lines.append(text[:end])
        text = text[end:]
    return "\n".join((*lines, text))


def _letters_that_fit(text: str, width: int) -> int:
    """How many letters of a text fit into a width: some take two cells, some none."""
    used = 0
    for count, letter in enumerate(text):
        used += cell_len(letter)
        if used > width:
            return count
    return len(text)


def _end_of_line(text: str, width: int, *, only_at_marks: bool) -> int:
    """How many letters the first line has: up to a mark in its second half, else as many as fit."""
    most = width if text.isascii() else _letters_that_fit(text, width)
    if only_at_marks:
        marks = [place + 1 for place, letter in enumerate(text[:-1]) if letter in _MARKS]
        return max((end for end in marks if end <= most), default=min(marks, default=len(text)))
    after_mark = next((end for end in range(most, most // 2, -1) if text[end - 1] in _MARKS), 0)
    return after_mark or max(most, 1)
