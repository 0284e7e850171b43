"""Reads the attributes of one object: repeated and unknown keys, coercion of scalars, version texts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafkawire.codegen.check.catalogue import RULES
from kafkawire.codegen.check.json_level import (
    FILE_DUPLICATE_KEY,
    GAP_LEADING_ZERO,
    GAP_REVERSED_RANGE,
    JSON_BAD_ENUM,
    JSON_UNKNOWN_ATTRIBUTE,
    JSON_WRONG_KIND,
)
from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import Place, Span
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.parse.attributes import AttributeTable
from kafkawire.codegen.parse.source import Member, Node, Object, Scalar, Sequence
from kafkawire.codegen.spelling import closest, did_you_mean
from kafkawire.codegen.versions import Versions, VersionsSyntaxError, parse_versions

_LEADING_ZERO = re.compile(r"\b0[0-9]")
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_BITS = {"int16": 16, "int32": 32}


@dataclass(frozen=True, slots=True)
class FileReport:
    """The file that is being read, its findings so far, and `root`, its outermost object."""

    file: str
    findings: list[Finding]
    root: Object


class ObjectReader:
    """Reads one object by the table of its attributes.

    Each method that reads an attribute returns None if it is not given (a JSON null counts as not given) or refused. A
    refused attribute has a finding, and its name is in `refused`.
    """

    def __init__(self, node: Object, path: str, table: AttributeTable, file_report: FileReport) -> None:
        self.path = path
        self.file_report = file_report
        self.refused: set[str] = set()
        self._node = node
        self._table = table.attributes
        self._kind = table.kind
        self._values: dict[str, Node] = {}
        for member in node.members:
            if member.key in self._table:
                self._take(member)
        for member in node.members:
            if member.key not in self._table:
                self._refuse_unknown(member)

    def _refuse_unknown(self, member: Member) -> None:
        match = closest(member.key, self._table)
        if match is not None and match not in self._values:
            # Misspelt rather than missing: the attribute that was meant is not reported too.
            self.refused.add(match)
        self.report(
            JSON_UNKNOWN_ATTRIBUTE,
            member.key_span,
            f'a {self._kind} has no attribute "{shown(member.key)}"',
            f'did you mean "{match}"?' if match else f"known attributes: {', '.join(self._table)}",
        )

    def _take(self, member: Member) -> None:
        key = member.key
        if key in self._values and not _is_same(self._values[key], member.value):
            self.report(FILE_DUPLICATE_KEY, member.key_span, f'"{key}" is given twice with different values')
            self.refused.add(key)
        self._values[key] = member.value

    def is_given(self, name: str) -> bool:
        """Whether the attribute is written with a value other than null, valid or not."""
        node = self._values.get(name)
        return node is not None and not (isinstance(node, Scalar) and node.kind == "null")

    def span(self, name: str) -> Span:
        """The span of the value of an attribute that is written."""
        return self._values[name].span

    def place(self, *, without: frozenset[str] = frozenset()) -> Place:
        """The place of the object and its attributes; those in `without` count as not given."""
        spans = {name: node.span for name, node in self._values.items() if self.is_given(name) and name not in without}
        return Place(self.file_report.file, self._node.span, spans, frozenset(self.refused))

    def text(self, name: str) -> str | None:
        """A text; numbers and booleans are converted (file-scalar-coercion)."""
        node = self._sound(name)
        if node is None:
            return None
        if isinstance(node, Scalar):
            return node.text
        self._wrong_kind(name, "a text")
        return None

    def boolean(self, name: str) -> bool:
        """A boolean, also as the text ``true`` or ``false``; False where it is not given."""
        node = self._sound(name)
        if node is None:
            return False
        if isinstance(node, Scalar) and node.kind in ("boolean", "string") and node.text in ("true", "false"):
            return node.text == "true"
        self._wrong_kind(name, "true or false")
        return False

    def integer(self, name: str) -> int | None:
        """An integer, also as text."""
        node = self._sound(name)
        if node is None:
            return None
        bits = _BITS[self._table[name].kind]
        number = integer_of(node)
        if number is None or not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
            self._wrong_kind(name, f"an integer of {bits} bits")
            return None
        return number

    def choice(self, name: str) -> str | None:
        """One of the texts that the table allows (file-enum-exact)."""
        text = self.text(name)
        return text if text is None else self._chosen(name, text, self.span(name))

    def choices(self, name: str) -> tuple[str, ...]:
        """A list of such texts, or a single one (file-single-as-list)."""
        chosen = []
        for node in self._listed(name):
            if not isinstance(node, Scalar) or node.kind == "null":
                self._wrong_item(name, node, "texts")
            elif node.kind != "broken" and self._chosen(name, node.text, node.span) is not None:
                chosen.append(node.text)
        return tuple(chosen)

    def objects(self, name: str) -> tuple[Object, ...]:
        """A list of objects, or a single one."""
        objects = []
        for node in self._listed(name):
            if isinstance(node, Object):
                objects.append(node)
            else:
                self._wrong_item(name, node, "objects")
        return tuple(objects)

    def map(self, name: str) -> Object | None:
        """An object that is read entry by entry."""
        node = self._sound(name)
        if node is None or isinstance(node, Object):
            return node
        self._wrong_kind(name, "an object")
        return None

    def versions(self, name: str) -> Versions | None:
        """A version range; a blank text counts as not given (versions-blank)."""
        text = self.text(name)
        if text is None or not text.strip():
            return None
        try:
            versions = parse_versions(text)
        except VersionsSyntaxError as error:
            self.refuse(name, RULES[error.rule], f"{name}: {shown(str(error))}")
            return None
        if _LEADING_ZERO.search(text):
            self.report(GAP_LEADING_ZERO, self.span(name), f'{name} "{text.strip()}" is read as "{versions}"')
        if not versions and text.strip() != "none":
            self.refuse(name, GAP_REVERSED_RANGE, f'{name} "{text.strip()}" contains no version')
        return versions

    def refuse(self, name: str, rule: Rule, message: str, remedy: str = "") -> None:
        """Report the value of an attribute; rules that read the attribute are then not applied."""
        self.refused.add(name)
        span = self.span(name) if name in self._values else self._node.span
        self.report(rule, span, message, remedy)

    def report(self, rule: Rule, span: Span, message: str, remedy: str = "") -> None:
        """Record a finding about the object."""
        finding = rule.finding(self.file_report.file, span, f"{self.path}: {message}", remedy)
        self.file_report.findings.append(finding)

    def _sound(self, name: str) -> Node | None:
        """The value of an attribute that is given and not refused."""
        if name in self.refused or not self.is_given(name):
            return None
        node = self._values[name]
        if isinstance(node, Scalar) and node.kind == "broken":
            self.refused.add(name)
            return None
        return node

    def _listed(self, name: str) -> tuple[Node, ...]:
        node = self._sound(name)
        if node is None:
            return ()
        return node.items if isinstance(node, Sequence) else (node,)

    def _chosen(self, name: str, text: str, span: Span) -> str | None:
        choices = self._table[name].choices
        if text in choices:
            return text
        self.refused.add(name)
        remedy = did_you_mean(text, choices) or f"known values: {', '.join(choices)}"
        self.report(JSON_BAD_ENUM, span, f'{name} "{shown(text)}" is not known', remedy)
        return None

    def _wrong_kind(self, name: str, wanted: str) -> None:
        self.refuse(name, JSON_WRONG_KIND, f"{name} is {_described(self._values[name])}, not {wanted}")

    def _wrong_item(self, name: str, node: Node, wanted: str) -> None:
        self.refused.add(name)
        if not (isinstance(node, Scalar) and node.kind == "broken"):
            self.report(JSON_WRONG_KIND, node.span, f"{name} contains {_described(node)} among its {wanted}")


def integer_of(node: Node) -> int | None:
    """The integer that a number or text contains, or None."""
    if not isinstance(node, Scalar) or node.kind not in ("number", "string"):
        return None
    text = node.text.strip()
    return int(text) if _INTEGER.fullmatch(text) else None


def shown(text: str) -> str:
    """A text of the file in a message: long ones are cut."""
    return text if len(text) <= 60 else text[:57] + "..."


def _described(node: Node) -> str:
    if isinstance(node, Scalar):
        return f'"{shown(node.text)}"' if node.kind == "string" else shown(node.text)
    return "an object" if isinstance(node, Object) else "a list"


def _is_same(one: Node, other: Node) -> bool:
    """Whether two values are equal after coercion of scalars."""
    if isinstance(one, Scalar) and isinstance(other, Scalar):
        return one.text == other.text and (one.kind == "null") == (other.kind == "null")
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        pairs = zip(one.items, other.items, strict=False)
        return len(one.items) == len(other.items) and all(_is_same(*pair) for pair in pairs)
    if isinstance(one, Object) and isinstance(other, Object):
        members = zip(one.members, other.members, strict=False)
        return len(one.members) == len(other.members) and all(
            first.key == second.key and _is_same(first.value, second.value) for first, second in members
        )
    return False
