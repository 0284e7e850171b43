"""Reading JSON with comments: what the values are, and where they stand."""

from __future__ import annotations

import json

import pytest

from kafkawire.codegen.definition import Span
from kafkawire.codegen.parse.source import (
    DEEPEST_NESTING,
    Lines,
    Node,
    Object,
    Scalar,
    Sequence,
    decode_source,
    parse_source,
)


def plain(node: Node | None) -> object:
    """The value as the json module would read it; numbers stay texts."""
    if isinstance(node, Object):
        return {member.key: plain(member.value) for member in node.members}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    assert isinstance(node, Scalar)
    return node.text if node.kind in ("string", "number") else {"true": True, "false": False, "null": None}[node.text]


def read(text: str) -> Node:
    node, findings = parse_source(text, "Example.json")
    assert findings == []
    assert node is not None
    return node


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1} // after the last brace',
        '// before\n{"a": 1}',
        '/* before */{/**/"a"/***/:/* * / */1/*\n*/}',
        '{"a": // between\n1}',
        '{"a": 1}//',
        '{"a": 1} // line end of a Macintosh\r// and more',
    ],
)
def test_file_json_with_comments(text: str) -> None:
    assert plain(read(text)) == {"a": "1"}


def test_comment_signs_in_a_string_are_text() -> None:
    assert plain(read('["// no", "/* no */", "\\"// no"]')) == ["// no", "/* no */", '"// no']


@pytest.mark.parametrize("text", ['"a\\u0041\\n\\"\\\\\\/"', '"\\ud83d\\ude00"', '"\U0001f600é"', '""'])
def test_strings_read_as_in_json(text: str) -> None:
    assert plain(read(text)) == json.loads(text)


def test_every_key_and_value_has_its_place() -> None:
    node = read('{\r\n  "a": [1,\n\t"é"],\n  "b": {}\n}')
    assert isinstance(node, Object)
    assert node.span == Span(1, 1, 5, 2)
    first, second = node.members
    assert first.key_span == Span(2, 3, 2, 6)
    assert isinstance(first.value, Sequence)
    assert first.value.span == Span(2, 8, 3, 6)
    assert [item.span for item in first.value.items] == [Span(2, 9, 2, 10), Span(3, 2, 3, 5)]
    assert (second.key_span, second.value.span) == (Span(4, 3, 4, 6), Span(4, 8, 4, 10))


def test_repeated_keys_stay_visible() -> None:
    node = read('{"a": 1, "a": 2}')
    assert isinstance(node, Object)
    assert [(member.key, plain(member.value)) for member in node.members] == [("a", "1"), ("a", "2")]


@pytest.mark.parametrize("text", ["{}", "[]", "[[], {}]"])
def test_nesting_up_to_the_bound_is_read(text: str) -> None:
    depth = DEEPEST_NESTING - 2
    assert plain(read("[" * depth + text + "]" * depth)) is not None


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_a_finding(opening: str) -> None:
    node, findings = parse_source(opening * 100_000, "Example.json")
    assert node is None
    assert [finding.rule for finding in findings] == ["file-nesting"]


def test_reading_goes_on_after_slips_that_leave_the_structure_clear() -> None:
    node, findings = parse_source('{"a": 1 "b": [1, 2,], c: True,}', "Example.json")
    assert [(finding.rule, finding.span.column) for finding in findings] == [
        ("json-syntax", 9),
        ("json-syntax", 19),
        ("json-syntax", 23),
        ("json-syntax", 26),
        ("json-syntax", 30),
    ]
    assert isinstance(node, Object)
    assert [member.key for member in node.members] == ["a", "b", "c"]


@pytest.mark.parametrize("text", ["01", "+1", "1.", ".5", "1e", "0x7f", "NaN", "Infinity", "True", "'a'", "-"])
def test_file_strict_otherwise(text: str) -> None:
    node, findings = parse_source(f"[{text}]", "Example.json")
    assert [finding.rule for finding in findings] == ["json-syntax"]
    assert isinstance(node, Sequence)
    assert [item.kind for item in node.items if isinstance(item, Scalar)] == ["broken"]


@pytest.mark.parametrize("text", ["0", "-0", "10", "1.5", "1e5", "1E-5", "9" * 10_000])
def test_numbers_stay_as_they_are_written(text: str) -> None:
    assert plain(read(text)) == text


def test_bytes_that_are_not_utf8_are_reported_once_with_their_place() -> None:
    text, findings = decode_source("// é\n{} // caf".encode() + b"\xe9 \xff", "Example.json")
    assert text == "// é\n{} // caf\ufffd \ufffd"
    assert [(finding.rule, finding.span) for finding in findings] == [("file-encoding", Span(2, 10, 2, 11))]


def test_lines_end_in_any_of_the_three_ways() -> None:
    lines = Lines("a\nb\r\nc\rd")
    assert [lines.line(number) for number in range(6)] == ["", "a", "b", "c", "d", ""]
    assert lines.span(0, 8) == Span(1, 1, 4, 2)
