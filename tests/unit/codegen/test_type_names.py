"""What is suggested for a type that is not known."""

from __future__ import annotations

import pytest

from kafkawire.codegen.spelling import meant_type

STRUCTS = ("Row", "TopicPartition")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("String", "string"),
        ("strin", "string"),
        ("UUID", "uuid"),
        ("Int32", "int32"),
        ("in32", "int32"),
        ("Rwo", "Row"),
        ("row", "Row"),
        ("Rows", "Row"),
        ("TopicPartitions", "TopicPartition"),
        ("boolean", "bool"),
        ("Integer", "int32"),
        ("long", "int64"),
        ("double", "float64"),
    ],
)
def test_what_was_meant(word: str, meant: str) -> None:
    assert meant_type(word, STRUCTS) == meant


@pytest.mark.parametrize("word", ["varint", "int24", "topic", "decimal", "", "Row" * 1_000_000])
def test_nothing_is_guessed(word: str) -> None:
    assert meant_type(word, STRUCTS) is None
