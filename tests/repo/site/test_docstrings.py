"""Docstrings are put into the form that the API reference is made from."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

import pytest


@pytest.fixture(autouse=True)
def importable(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`docs/building` is no package of the project."""
    monkeypatch.syspath_prepend(root / "docs")
    monkeypatch.delitem(sys.modules, "building", raising=False)


def prepared(text: str) -> str:
    prepare = cast(Callable[[str], str], import_module("building.docstrings").in_griffes_form)
    return prepare(text)


def test_arguments_that_share_a_line_have_an_entry_each() -> None:
    text = "Wait.\n\nArgs:\n    first: a number.\n    timeout, progress: see the class,\n        and its page.\n"
    assert prepared(text) == (
        "Wait.\n\nArgs:\n    first: a number.\n    timeout: see the class,\n        and its page.\n"
        "    progress: see the class,\n        and its page.\n"
    )


def test_errors_that_share_lines_have_an_entry_each() -> None:
    assert prepared("Raises:\n    ValueError,\n    TypeError: as `other`.\n") == (
        "Raises:\n    ValueError: as `other`.\n    TypeError: as `other`.\n"
    )


def test_an_example_of_python_is_a_block_of_code() -> None:
    text = "List.\n\nExample:\n    async with client as admin:\n        await admin.list()\n\nReturns:\n    Names.\n"
    assert prepared(text) == (
        "List.\n\nExample:\n    ```python\n    async with client as admin:\n        await admin.list()\n    ```\n\n"
        "Returns:\n    Names.\n"
    )


def test_an_example_of_words_stays() -> None:
    text = "Example:\n    Ten topics need one request.\n"
    assert prepared(text) == text


def test_a_mark_before_code_is_not_shown() -> None:
    assert prepared("Use it so::\n\n    run()\n") == "Use it so:\n\n```python\nrun()\n```\n\n"


def test_a_mark_after_a_sentence_leaves_no_colon() -> None:
    text = "It waits. ::\n\n    with it:\n\n        run()\n\nArgs:\n    one: a number.\n"
    assert prepared(text) == ("It waits.\n\n```python\nwith it:\n\n    run()\n```\n\nArgs:\n    one: a number.\n")


def test_marked_lines_that_are_no_python_are_text() -> None:
    assert prepared("Sent::\n\n    one two three\n") == "Sent:\n\n```text\none two three\n```\n\n"
