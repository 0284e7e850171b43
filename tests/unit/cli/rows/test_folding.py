"""Long texts in several lines."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from kafkawire.cli.rows.folding import as_wide_as, folded, widest_line


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("orders", 6, ["orders"]),
        ("payments.commands", 13, ["payments.", "commands"]),
        ("connection_creation_rate", 18, ["connection_", "creation_rate"]),
        ("TRANSACTIONAL", 9, ["TRANSACTI", "ONAL"]),
        ("a_bcdefghijkl", 8, ["a_bcdefg", "hijkl"]),
        ("日本語の名前", 5, ["日本", "語の", "名前"]),
    ],
)
def test_a_text_is_broken_after_a_mark_or_where_it_must(text: str, width: int, lines: list[str]) -> None:
    assert folded(text, width).split("\n") == lines


@pytest.mark.parametrize(
    ("heading", "width", "lines"),
    [
        ("committed_offset", 13, ["committed_", "offset"]),
        ("partition", 4, ["partition"]),
        ("in_controlled_shutdown", 11, ["in_", "controlled_", "shutdown"]),
        ("_error", 3, ["_", "error"]),
    ],
)
def test_words_of_a_heading_stay_whole(heading: str, width: int, lines: list[str]) -> None:
    assert folded(heading, width, only_at_marks=True).split("\n") == lines


def test_a_limit_of_lines_cuts_the_last() -> None:
    assert folded("one two three four five", 8, most_lines=2).split("\n") == ["one two ", "three f…"]
    assert folded("one two", 8, most_lines=1) == "one two"


@given(st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=60), st.integers(2, 30))
def test_folding_loses_nothing_and_keeps_the_width(text: str, width: int) -> None:
    lines = folded(text, width)
    assert lines.replace("\n", "") == text
    assert widest_line(lines) <= width
    assert cell_len(as_wide_as(text, width)) <= width
