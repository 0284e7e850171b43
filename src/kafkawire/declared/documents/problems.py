"""Problems of documents, with their places."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

_MOST_PROBLEMS: Final = 10_000
"""More are counted and not kept."""


class Rule(StrEnum):
    """What a problem is about."""

    FILE = "file"
    """A file cannot be read, or is not UTF-8."""

    SYNTAX = "syntax"
    """The text is not the part of YAML that documents use."""

    STRUCTURE = "structure"
    """A key or a kind of value that the JSON Schema does not allow."""

    VALUE = "value"
    """A value that brokers would refuse."""

    DUPLICATE = "duplicate"
    """An item is declared twice."""

    SECRET = "secret"  # noqa: S105 the name of a rule
    """A secret as plain text, or one that is missing."""

    NO_EFFECT = "no-effect"
    """What brokers accept and never use."""

    UNKNOWN_CONFIG = "unknown-config"
    """A config that this release of Kafka does not have."""

    STRIMZI = "strimzi"
    """A part of a Strimzi resource that is not read."""


class Position(msgspec.Struct, frozen=True, gc=False):
    """A part of a file; lines and columns count from 1, the end column is that after the last character.

    Attributes:
        file: path as it was given; ``<stdin>`` for standard input.
        line, column: where it begins.
        end_line, end_column: where it ends.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Something that is wrong with a document, or may be.

    Attributes:
        position: the place.
        rule: what it is about.
        is_warning: whether the document can be used all the same.
        message: what is wrong, and what was expected.
        remedy: what to do; may be empty.
    """

    position: Position
    rule: Rule
    is_warning: bool
    message: str
    remedy: str = ""

    def __str__(self) -> str:
        severity = "warning" if self.is_warning else "error"
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{self.position}: {severity}[{self.rule}]: {self.message}{remedy}"


class Problems:
    """The problems that were found so far."""

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.errors = 0

    def add(self, position: Position, rule: Rule, message: str, remedy: str = "", *, is_warning: bool = False) -> None:
        """Keep a problem; one after thousands of others is dropped."""
        self.errors += not is_warning
        if len(self.found) < _MOST_PROBLEMS:
            self.found.append(Problem(position, rule, is_warning, message, remedy))
