"""Reading ``field-meanings.toml``: forms of keys, positions, and files that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made.packages import field, message, write_definitions

from kafkawire.codegen.definition import Span
from kafkawire.codegen.parse.load import load_definitions, load_paths
from kafkawire.codegen.parse.meanings import MEANINGS_FILE, load_meanings, parse_meanings


def entries_of(text: str) -> list[tuple[str, str, str]]:
    read = parse_meanings(text, "x.toml")
    assert read.findings == ()
    return [(entry.message, entry.path, entry.sentence) for entry in read.entries]


def rules_of(text: str) -> list[tuple[str, int, int]]:
    return [(f.rule, f.span.line, f.span.column) for f in parse_meanings(text, "x.toml").findings]


@pytest.mark.parametrize(
    "text",
    [
        '[messages.Order]\n"Lines.Article" = "A."',
        '[messages.Order]\nLines.Article = "A."',
        '[messages.Order.Lines]\nArticle = "A."',
        '[messages]\nOrder.Lines.Article = "A."',
        '[messages]\nOrder = { "Lines.Article" = "A." }',
        '[ messages . "Order" ]\n  Lines . \'Article\' = "A." # why',
    ],
)
def test_a_path_may_be_quoted_or_not(text: str) -> None:
    assert entries_of(text) == [("Order", "Lines.Article", "A.")]


def test_entries_keep_the_order_of_the_file_and_have_the_place_of_their_key() -> None:
    read = parse_meanings('[fields]\nB = "B."\n  A = "A."\n\n[messages.M]\n"A.B" = "C."\n', "x.toml")
    assert [(entry.path, entry.span) for entry in read.entries] == [
        ("B", Span(2, 1, 2, 2)),
        ("A", Span(3, 3, 3, 4)),
        ("A.B", Span(6, 1, 6, 6)),
    ]


def test_lines_of_a_longer_text_are_no_keys() -> None:
    text = '[fields]\nA = """\nB = 1\n[fields]\nA = 2."""\nB = "B."\n'
    assert rules_of(text) == [("meaning-sentence", 2, 1)]
    assert [entry.span.line for entry in parse_meanings(text, "x.toml").entries] == [2, 6]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("[fields]\nA = ", 2, 5), ('[fields]\n\nA "x"\n', 3, 3), ("[fields", 1, 8), ('a = """\n\n b', 3, 3)],
)
def test_invalid_toml_has_a_place(text: str, line: int, column: int) -> None:
    assert rules_of(text) == [("meaning-file", line, column)]


def test_toml_that_is_nested_without_end_is_a_finding() -> None:
    assert rules_of("a = " + "[" * 100_000) == [("meaning-file", 1, 1)]


def test_an_empty_sentence_is_left_out_and_one_without_a_full_stop_is_kept() -> None:
    read = parse_meanings('[fields]\nA = ""\nB = "B"\n', "x.toml")
    assert [entry.path for entry in read.entries] == ["B"]
    assert {finding.severity for finding in read.findings} == {"warning"}


def test_without_the_file_there_are_no_sentences(tmp_path: Path) -> None:
    assert load_meanings(tmp_path).entries == ()
    assert load_meanings(tmp_path).findings == ()


@pytest.mark.parametrize(("content", "rule"), [(b"\xff", "file-encoding"), (bytes(1 << 21), "file-unreadable")])
def test_a_file_that_is_no_text_is_a_finding(tmp_path: Path, content: bytes, rule: str) -> None:
    (tmp_path / MEANINGS_FILE).write_bytes(content)
    assert rule in [finding.rule for finding in load_meanings(tmp_path).findings]


def test_a_folder_of_that_name_is_a_finding(tmp_path: Path) -> None:
    (tmp_path / MEANINGS_FILE).mkdir()
    (finding,) = load_meanings(tmp_path).findings
    assert finding.message == "cannot read this file: not a regular file"


def test_names_are_not_checked_if_a_definition_has_an_error(tmp_path: Path) -> None:
    write_definitions(tmp_path, message("Good", field("A", "int8")), message("Bad", field("B", "int9")))
    (tmp_path / MEANINGS_FILE).write_text('[fields]\nA = "A."\nB = "B."\n[messages.Bad]\nB = "B."\n')
    assert [finding.rule for finding in load_paths([tmp_path]).findings] == ["field-type-unknown"]


def test_folders_that_overlap_have_their_findings_once(tmp_path: Path) -> None:
    write_definitions(tmp_path / "clients", message("Good", field("A", "int8")))
    (tmp_path / MEANINGS_FILE).write_text('[fields]\nA = "A."\nB = "B."\n')
    for roots in ([tmp_path, tmp_path], [tmp_path / "clients", tmp_path]):
        assert [finding.message for finding in load_paths(roots).findings] == ["B: no message has a field B"]


def test_definitions_that_are_compared_have_no_findings_about_sentences(tmp_path: Path) -> None:
    write_definitions(tmp_path, message("Good", field("A", "int8")))
    (tmp_path / MEANINGS_FILE).write_text("no toml")
    assert [finding.rule for finding in load_paths([tmp_path]).findings] == ["meaning-file"]
    assert load_definitions(tmp_path).findings == ()
