"""A page runs as its reader would run it, and fails if it shows something wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.pages.page import blocks, run_page

TAB = '=== "Tab"\n\n    ```python title="part.py"\n    def two():\n        return 2\n    ```\n\n'


def run(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    page = folder / "page.md"
    page.write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    namespace: dict[str, object] = {"__name__": "page"}
    run_page(page, namespace)
    return namespace


def test_blocks_in_tabs_lose_their_indentation_and_keep_their_lines() -> None:
    (block,) = blocks(TAB)
    assert (block.title, block.text, block.line) == ("part.py", "def two():\n    return 2\n", 3)


def test_after_a_fence_is_a_language_or_a_title() -> None:
    with pytest.raises(ValueError, match="line 1: after the fence stands 'python notest'"):
        list(blocks("```python notest\n```\n"))


def test_the_blocks_of_a_page_are_one_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "```python\nfirst = 1\n```\n\n```python\nfrom part import two\n\nthird = first + two()\n```\n"
    assert run(TAB + text, tmp_path, monkeypatch)["third"] == 3


def test_a_program_has_no_future_of_the_runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NameError, match="Missing"):
        run("```python\ndef f(x: Missing) -> None: ...\n```\n", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```console\n$ echo one\ntwo\n```\n", "echo one\none"),
        ("```console\n$ false\n```\n", "false"),
        ("```text\n$ echo one two\none three\n```\n", "two"),
        ("```python\ndef test_sum():\n    assert 1 + 1 == 3\n```\n", "test_sum"),
    ],
    ids=["another output", "a command that fails", "another output on a terminal", "a test that fails"],
)
def test_a_wrong_page_fails(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match=message):
        run(text, tmp_path, monkeypatch)


def test_a_broker_of_the_page_runs_until_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    text = (
        "```console\n$ kafkawire broker\nkafkawire broker listens on 127.0.0.1:9092\n"
        "$ kafkawire topics create orders -b localhost:9092 -o name\norders\n```\n\n"
        "```text\n$ kafkawire topics list -b localhost:9092 -o name\norders\n```\n"
    )
    run(text, tmp_path, monkeypatch)


def test_a_broker_of_the_page_that_does_not_start_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="no such broker"):
        run("```console\n$ sh -c 'echo no such broker'\nkafkawire broker listens on\n```\n", tmp_path, monkeypatch)


def test_a_right_page_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "```console\n$ echo one two three\none ... three\n$ true\n```\n\n"
        "```text\n$ python -c 'import sys; print(sys.stdout.isatty(), 17)'\nTrue 42\n```\n\n"
        "```python\nimport pytest\n\n\n@pytest.fixture\ndef one():\n    return 1\n```\n\n"
        "```python\ndef test_one(one):\n    assert one == 1\n```\n"
    )
    run(text, tmp_path, monkeypatch)
