"""How findings look."""

from __future__ import annotations

import json
import time

from kafkawire.codegen.definition import Span
from kafkawire.codegen.findings import Finding, Severity
from kafkawire.codegen.report.text import render_json_lines, render_text, summary


def finding(span: Span, *, remedy: str = "fix it", severity: Severity = "error", message: str = "A: wrong") -> Finding:
    return Finding("a.json", span, "some-rule", severity, message, remedy)


def shown(source: str, span: Span) -> list[str]:
    """The source line and the carets."""
    return render_text([finding(span)], {"a.json": source}).splitlines()[1:3]


def test_text_has_place_rule_message_line_caret_and_help() -> None:
    text = render_text([finding(Span(2, 3, 2, 8))], {"a.json": "{\n  wrong: 1\n}"})
    assert text == "a.json:2:3: error[some-rule]: A: wrong\n    wrong: 1\n    ^^^^^\nhelp: fix it\n\n"


def test_text_without_source_and_remedy_is_one_line() -> None:
    warning = finding(Span(1, 1, 1, 1), remedy="", severity="warning")
    assert render_text([warning], {}) == "a.json:1:1: warning[some-rule]: A: wrong\n\n"


def test_tabs_become_blanks_and_the_caret_stays_below() -> None:
    assert shown("\t\tx\twrong", Span(1, 5, 1, 10)) == ["  " + " " * 8 + "x    wrong", "  " + " " * 13 + "^^^^^"]


def test_wide_letters_take_two_columns_and_marks_none() -> None:
    assert shown("漢e\u0301 x", Span(1, 5, 1, 6)) == ["  漢e\u0301 x", "  " + " " * 4 + "^"]


def test_a_stretch_of_several_lines_is_marked_on_its_first() -> None:
    assert shown("a {\n}", Span(1, 3, 2, 2)) == ["  a {", "    ^"]


def test_an_empty_stretch_has_one_caret() -> None:
    assert shown("ab", Span(1, 3, 1, 3)) == ["  ab", "    ^"]


def test_a_long_line_is_cut_around_the_place() -> None:
    line, carets = shown("x" * 500 + "wrong" + "y" * 500, Span(1, 501, 1, 506))
    assert line.startswith("  ...x")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "wrong"
    assert len(line) <= 130


def test_a_long_stretch_is_cut() -> None:
    line, carets = shown("w" * 500, Span(1, 1, 1, 501))
    assert (len(line), carets) == (122, "  " + "^" * 120)


def test_a_line_of_megabytes_takes_no_time() -> None:
    source = "\0" * 20_000_000
    started = time.process_time()
    line, carets = shown(source, Span(1, 1, 1, len(source) + 1))
    assert (line, carets) == ("  " + "\ufffd" * 120, "  " + "^" * 120)
    line, carets = shown(source, Span(1, len(source), 1, len(source) + 1))
    assert line.startswith("  ...")
    assert carets.strip() == "^"
    assert time.process_time() - started < 1, "the line as a whole takes several seconds"


def test_nothing_that_a_terminal_would_obey_is_printed() -> None:
    text = render_text([finding(Span(1, 1, 1, 2), message="A: \x1b[31m\r")], {"a.json": "\x1b[2Jx\x07"})
    assert [letter for letter in text if not letter.isprintable() and letter != "\n"] == []


def test_json_is_one_object_a_line_and_says_what_to_do() -> None:
    lines = render_json_lines([finding(Span(1, 2, 3, 4)), finding(Span(1, 2, 3, 4), remedy="")]).splitlines()
    assert json.loads(lines[0]) == {
        "file": "a.json",
        "line": 1,
        "column": 2,
        "end_line": 3,
        "end_column": 4,
        "rule": "some-rule",
        "severity": "error",
        "message": "A: wrong; fix it",
    }
    assert json.loads(lines[1])["message"] == "A: wrong"


def test_summary_counts() -> None:
    error, warning = finding(Span(1, 1, 1, 1)), finding(Span(1, 1, 1, 1), severity="warning")
    assert summary([], 3) == "0 errors, 0 warnings in 3 files"
    assert summary([error, warning, warning], 1) == "1 error, 2 warnings in 1 file"
