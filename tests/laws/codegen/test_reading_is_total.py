"""Reading never raises: whatever a file holds gives a message or an error, and findings that can be shown."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st
from tests.laws.codegen.definition_strategies import mutated_definitions, real_definition_texts

from kafkawire.codegen.check import RULES
from kafkawire.codegen.parse.load import Definitions, load_paths
from kafkawire.codegen.parse.source import parse_source
from kafkawire.codegen.report.text import render_json_lines, render_text


def lint(data: bytes) -> Definitions:
    """What a folder with one file holds."""
    with TemporaryDirectory() as folder:
        Path(folder, "Example.json").write_bytes(data)
        return load_paths([Path(folder)])


def check(data: bytes) -> None:
    definitions = lint(data)
    assert len(definitions.messages) == (0 if definitions.has_errors else 1)
    assert {finding.rule for finding in definitions.findings} <= set(RULES)
    (text,) = definitions.sources.values()
    lines = len(text.splitlines()) + 1
    for finding in definitions.findings:
        span = finding.span
        assert 1 <= span.line <= span.end_line <= lines
        assert (span.line, span.column) <= (span.end_line, span.end_column)
    assert render_text(definitions.findings, definitions.sources).count("\n\n") == len(definitions.findings)
    assert [json.loads(line)["rule"] for line in render_json_lines(definitions.findings).splitlines()] == [
        finding.rule for finding in definitions.findings
    ]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    node, findings = parse_source(text, "Example.json")
    assert node is not None or findings


@given(st.text(alphabet='{}[]:,"\\/*u1e-tn \n\t\ud800'))
def test_any_text_of_json_signs_is_read(text: str) -> None:
    node, findings = parse_source(text, "Example.json")
    assert node is not None or findings


@given(st.text(alphabet='{}[]:,"0.a \n'))
def test_what_the_json_module_reads_is_read_without_a_finding(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        return
    _, findings = parse_source(text, "Example.json")
    assert findings == []


@given(st.binary())
def test_any_bytes_are_checked(data: bytes) -> None:
    check(data)


@given(mutated_definitions())
def test_real_definitions_with_other_values_are_checked(text: str) -> None:
    check(text.encode())


@given(st.data())
def test_real_definitions_with_other_text_are_checked(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(real_definition_texts()))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    put_in = data.draw(st.text(alphabet='{}[]:,"\\/*\n 0+tag', max_size=5))
    check((text[:start] + put_in + text[end:]).encode())


@pytest.mark.parametrize("size", [1_000, 100_000])
@pytest.mark.parametrize(
    "piece", ["/*", "//", '"', "\\", "{", "[", '{"a":', ",", "*/", '"\\u', "1", "/* */", "[1,", "\ufeff"]
)
def test_repetitions_end_soon(piece: str, size: int) -> None:
    check((piece * size).encode())
