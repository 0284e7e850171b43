"""Lines are folded at the width of the terminal, at blanks where there are some."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st
from rich.cells import cell_len

from kafkawire.cli.state.comparison_text import Line, folded


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("short", ["short"]),
        ("User:etl may READ topic orders", ["User:etl may READ", "  topic orders"]),
        ("a" * 45, ["a" * 22, "  " + "a" * 20, "  aaa"]),
        ("", [""]),
    ],
)
def test_parts(text: str, parts: list[str]) -> None:
    assert folded(Line(text, indent=2), 22 if text.startswith("a") else 20) == parts


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"])), st.integers(28, 80))
def test_no_part_is_wider_and_nothing_but_blanks_is_lost(text: str, width: int) -> None:
    parts = folded(Line(text, indent=8), width)
    assert all(cell_len(part) <= width for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())
