"""YAML as nodes with positions: a bounded part of the language, in which plain text stays as it is written.

Events of the parser become nodes here, and not in PyYAML: nesting and the growth by aliases are bounded, keys are
unique, and nothing is resolved by the rules of YAML 1.1, by which ``no`` is a boolean and ``60:00`` a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, Protocol, TypeAlias

import msgspec
import yaml

from kafkawire.declared.documents.problems import Position, Problems, Rule

DEEPEST_NESTING: Final = 64
"""Collections inside each other; documents need eight."""

MOST_NODES: Final = 10_000_000
"""Nodes of a file, those of aliases counted each time."""

_TEXT_TAGS: Final = frozenset({None, "!", "tag:yaml.org,2002:str"})
_MERGE: Final = "<<"

_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})
_NUMBER: Final = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)


class Mark(Protocol):
    """A place of PyYAML; both count from 0."""

    @property
    def line(self) -> int:
        """The line."""

    @property
    def column(self) -> int:
        """The column, in characters."""


class Scalar(msgspec.Struct, frozen=True, gc=False):
    """A text; plain if it has no quotes."""

    text: str
    is_plain: bool
    start: Mark
    end: Mark

    @property
    def is_null(self) -> bool:
        """Whether it is nothing: empty, ``~`` or ``null``."""
        return self.is_plain and self.text in _NULL

    @property
    def boolean(self) -> bool | None:
        """The value of ``true`` or ``false``; None for other texts."""
        if not self.is_plain:
            return None
        return True if self.text in _TRUE else False if self.text in _FALSE else None

    @property
    def is_number(self) -> bool:
        """Whether it is a decimal number."""
        return self.is_plain and _NUMBER.fullmatch(self.text) is not None

    @property
    def is_integer(self) -> bool:
        """Whether it is a decimal whole number."""
        return self.is_plain and _INTEGER.fullmatch(self.text) is not None


class Sequence(msgspec.Struct, frozen=True):
    """A list."""

    items: list[Node]
    start: Mark
    end: Mark


class Table(msgspec.Struct, frozen=True, dict=True):
    """Keys with values, each key once."""

    keys: list[Scalar]
    values: list[Node]
    start: Mark
    end: Mark

    @cached_property
    def by_name(self) -> dict[str, Node]:
        """The values by the text of their keys."""
        return {key.text: value for key, value in zip(self.keys, self.values, strict=True)}


Node: TypeAlias = Scalar | Sequence | Table


class SyntaxProblemError(Exception):
    """The rest of a file cannot be read; a problem says why."""


def documents_of(text: str, file: str, problems: Problems) -> Iterator[Node]:
    """The documents of a text, except empty ones; ends at the first mistake of syntax, which becomes a problem.

    Args:
        text: of the file.
        file: its name, for positions.
        problems: where problems are added.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        composer = _Composer(loader, file, problems)
        while (node := composer.document()) is not None:
            if not (isinstance(node, Scalar) and node.is_null):
                yield node
    except yaml.YAMLError as error:
        _report(error, text, file, problems)
    except SyntaxProblemError:
        return
    finally:
        loader.dispose()


class _Event(Protocol):
    """What an event of PyYAML may have."""

    anchor: str | None
    tag: str | None
    value: str
    style: str | None
    start_mark: Mark
    end_mark: Mark


class _Events(Protocol):
    def get_event(self) -> _Event: ...


class _Open:
    """A collection whose end has not come."""

    __slots__ = ("anchor", "before", "event", "nodes")

    def __init__(self, event: _Event, nodes: list[Node], before: int) -> None:
        self.event = event
        self.nodes = nodes
        self.anchor: str | None = event.anchor
        self.before = before


class _Composer:
    def __init__(self, events: _Events, file: str, problems: Problems) -> None:
        self._events = events
        self._file = file
        self._problems = problems
        self._count = 0

    def document(self) -> Node | None:
        """The next document; None at the end."""
        get_event = self._events.get_event
        while True:
            kind: type[object] = type(get_event())
            if kind is yaml.DocumentStartEvent:
                return self._content()
            if kind is yaml.StreamEndEvent:
                return None

    def _content(self) -> Node:
        """The nodes up to the end of a document."""
        get_event = self._events.get_event
        anchors: dict[str, tuple[Node, int] | None] = {}
        top: list[Node] = []
        current, opened = top, list[_Open]()
        while True:
            event = get_event()
            kind: type[object] = type(event)
            self._count += 1
            if kind is yaml.ScalarEvent:
                if event.tag not in _TEXT_TAGS:
                    self._refuse_tag(event)
                node: Node = Scalar(
                    event.value, not event.style and event.tag is None, event.start_mark, event.end_mark
                )
                if event.anchor is not None:
                    anchors[event.anchor] = node, 1
                current.append(node)
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                opened.append(_Open(event, current, self._count))
                self._enter(event, len(opened))
                if event.anchor is not None:
                    anchors[event.anchor] = None
                current = []
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                last = opened.pop()
                start, end = last.event.start_mark, event.end_mark
                is_table = kind is yaml.MappingEndEvent
                node = self._table(current, start, end) if is_table else Sequence(current, start, end)
                if last.anchor is not None:
                    anchors[last.anchor] = node, self._count - last.before
                current = last.nodes
                current.append(node)
            elif kind is yaml.AliasEvent:
                current.append(self._behind(event, anchors))
            else:  # the end of the document
                return top[0]

    def _enter(self, event: _Event, depth: int) -> None:
        if event.tag is not None and event.tag not in {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}:
            self._refuse_tag(event)
        if depth > DEEPEST_NESTING:
            message = f"more than {DEEPEST_NESTING} collections are inside each other"
            raise self._stop(event.start_mark, event.end_mark, message)

    def _behind(self, event: _Event, anchors: dict[str, tuple[Node, int] | None]) -> Node:
        """The node of an alias."""
        name = event.anchor or ""
        found = anchors.get(name)
        if found is None:
            message = f"*{name} is part of itself" if name in anchors else f"no anchor &{name} is before this"
            raise self._stop(event.start_mark, event.end_mark, message)
        node, size = found
        self._count += size
        if self._count > MOST_NODES:
            message = f"aliases repeat so much that the file has more than {MOST_NODES} values"
            raise self._stop(event.start_mark, event.end_mark, message)
        return node

    def _table(self, nodes: list[Node], start: Mark, end: Mark) -> Table:
        keys, values = nodes[::2], nodes[1::2]
        texts: dict[str, Scalar] = {}
        for key in keys:
            if type(key) is not Scalar:
                self._add(key, "a key is a list or a table", "write a text before the colon")
            else:
                texts[key.text] = key
        if len(texts) == len(keys) and _MERGE not in texts:
            return Table(keys, values, start, end)  # type: ignore[arg-type]  # all keys are scalars
        return self._uneven_table(keys, values, start, end)

    def _uneven_table(self, keys: list[Node], values: list[Node], start: Mark, end: Mark) -> Table:
        """A table with repeated keys, with others than texts, or with ``<<``."""
        kept: dict[str, tuple[Scalar, Node]] = {}
        merged: list[Table] = []
        for key, value in zip(keys, values, strict=True):
            if type(key) is not Scalar:
                continue
            if key.text == _MERGE and key.is_plain:
                merged += self._merged(value)
            elif key.text in kept:
                first = self._position(kept[key.text][0])
                message = f"the key {shown(key.text)} is there twice; first in line {first.line}"
                self._problems.add(self._position(key), Rule.DUPLICATE, message, "keep one of the two")
            else:
                kept[key.text] = key, value
        for table in merged:
            for key, value in zip(table.keys, table.values, strict=True):
                kept.setdefault(key.text, (key, value))
        return Table([key for key, _ in kept.values()], [value for _, value in kept.values()], start, end)

    def _merged(self, value: Node) -> list[Table]:
        """The tables after ``<<``."""
        candidates = value.items if isinstance(value, Sequence) else [value]
        tables = [each for each in candidates if isinstance(each, Table)]
        if len(tables) < len(candidates):
            self._add(value, "<< takes a table, or a list of tables", "write an alias such as <<: *defaults")
        self._count += sum(len(table.keys) for table in tables)
        return tables

    def _refuse_tag(self, event: _Event) -> None:
        position = position_between(self._file, event.start_mark, event.end_mark)
        self._problems.add(position, Rule.SYNTAX, f"the tag {shown(event.tag or '')} has no meaning here", "remove it")

    def _add(self, node: Node, message: str, remedy: str) -> None:
        self._problems.add(self._position(node), Rule.SYNTAX, message, remedy)

    def _position(self, node: Node) -> Position:
        return position_between(self._file, node.start, node.end)

    def _stop(self, start: Mark, end: Mark, message: str) -> SyntaxProblemError:
        self._problems.add(position_between(self._file, start, end), Rule.SYNTAX, message, "simplify the document")
        return SyntaxProblemError()


def position_between(file: str, start: Mark, end: Mark) -> Position:
    """The position between two places; an empty one is one character long."""
    if (end.line, end.column) <= (start.line, start.column):
        return Position(file, start.line + 1, start.column + 1, start.line + 1, start.column + 2)
    return Position(file, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def shown(text: str) -> str:
    """A text in messages: quoted and shortened."""
    return repr(text if len(text) <= 60 else f"{text[:57]}...")


def _report(error: yaml.YAMLError, text: str, file: str, problems: Problems) -> None:
    """A mistake of syntax as a problem."""
    message = " ".join(str(each) for each in (_part(error, "context"), _part(error, "problem")) if each)
    mark: Mark | None = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        position = position_between(file, mark, mark)
    else:
        found = re.search("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
        offset = 0 if found is None else found.start()
        before = text[:offset]
        line = before.count("\n") + 1
        column = offset - (before.rfind("\n") + 1) + 1
        position = Position(file, line, column, line, column + 1)
        if found is not None:
            message = f"the character U+{ord(found[0]):04X} cannot be in YAML"
    remedy = "indent with spaces" if "\\t" in message or "'\t'" in message else "correct the YAML"
    problems.add(position, Rule.SYNTAX, message or "the text is not YAML", remedy)


def _part(error: yaml.YAMLError, name: str) -> object:
    return getattr(error, name, None)
