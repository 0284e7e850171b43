"""The messages on the page of troubleshooting are those that kafkawire prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

BLOCK = re.compile(r"^```text\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
OF_OTHERS = ("[DATA_SOURCE_NOT_FOUND]", "ExceptionGroup: 1 of 1 failed: INVALID_CONFIG")
"""Beginnings of messages of Spark and of brokers."""

OF_THE_SYSTEM = "connection refused"
"""What the operating system calls an error."""

NAMES = re.compile(r"\b(?:[A-Z]\w+Error\b|[A-Z]+(?:_[A-Z]+)+ \(\d+\))")
"""Names of errors and of codes; `test_the_errors_exist` looks at the first."""


def messages(root: Path) -> list[str]:
    page = (root / "docs" / "troubleshooting.md").read_text("utf-8")
    lines = [line for block in BLOCK.findall(page) for line in block.splitlines()]
    return [line for line in lines if not line.startswith(OF_OTHERS)]


def texts_of_the_sources(root: Path) -> Iterator[str]:
    """All string constants, those between the braces of f-strings too."""
    for file in (root / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


def test_the_messages_are_in_the_sources(root: Path) -> None:
    texts = "\n".join(texts_of_the_sources(root))
    shown = messages(root)
    assert len(shown) > 15
    pieces = {
        piece.strip(" :;,()[]'")
        for line in shown
        for piece in NAMES.sub("...", line.removeprefix("kafkawire: ")).split("...")
    }
    assert sorted(piece for piece in pieces if len(piece) > 4 and piece not in texts) == [OF_THE_SYSTEM]


def test_the_errors_exist(root: Path) -> None:
    from kafkawire import wire  # noqa: PLC0415 as below
    from kafkawire.protocol import errors  # noqa: PLC0415 a large module
    from kafkawire.wire import kafka_errors  # noqa: PLC0415 beside it

    named = {name for line in messages(root) for name in re.findall(r"\b[A-Z]\w+Error\b", line)}
    assert named
    assert [name for name in named if not any(hasattr(module, name) for module in (errors, kafka_errors, wire))] == []
