"""The parts of a rule: a record that describes it, and a function that finds its violations.

Rules about the text of a file have only the record; `kafkawire.codegen.parse` applies them while it reads. All others
have a function over definitions, which `kafkawire.codegen.check.walk` calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, Place, Span, StructDefinition
from kafkawire.codegen.findings import Finding, Severity
from kafkawire.codegen.versions import Versions


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the definition language.

    Attributes:
        id: its id in docs/reference/definition-language.md.
        purpose: what must hold, in one sentence.
        remedy: how to fix a violation.
        severity: errors stop generation, warnings do not.
    """

    id: str
    purpose: str
    remedy: str
    severity: Severity = "error"

    def finding(self, file: str, span: Span, message: str, remedy: str = "") -> Finding:
        """A violation at a place; a more precise `remedy` replaces that of the rule."""
        return Finding(file, span, self.id, self.severity, message, remedy or self.remedy)

    def for_fields(self, *reads: str) -> Callable[[OfField], FieldCheck]:
        """Turn a function over a field into a check of the rule."""
        return lambda check: FieldCheck(self, frozenset(reads), check)

    def for_structs(self, *reads: str) -> Callable[[OfStruct], StructCheck]:
        """Turn a function over a struct into a check of the rule; `reads` are attributes of its fields."""
        return lambda check: StructCheck(self, frozenset(reads), check)

    def for_messages(self, *reads: str) -> Callable[[OfMessage], MessageCheck]:
        """Turn a function over a message into a check of the rule."""
        return lambda check: MessageCheck(self, frozenset(reads), check)

    def for_sets(self, check: OfSet) -> SetCheck:
        """Turn a function over the messages of a folder into a check of the rule."""
        return SetCheck(self, check)


@dataclass(frozen=True, slots=True)
class Problem:
    """A violation in the object that is checked.

    Attributes:
        attribute: the attribute with the fault; the whole object if it does not have the attribute.
        message: what is wrong, with the value.
        remedy: more precise than that of the rule, or empty.
    """

    attribute: str
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class StructScope:
    """A struct in its message: the message itself, a common struct, or the inline struct of a field.

    Attributes:
        message: the message.
        path: ``CreateTopicsRequest.Topics`` for the struct of that field.
        fields: its fields in file order.
        versions: versions of the message in which the struct can occur.
        place: object that has ``fields``.
        is_top_level: whether it is the message itself.
        common: the common structs of the message by name.
    """

    message: MessageDefinition
    path: str
    fields: tuple[FieldDefinition, ...]
    versions: Versions
    place: Place
    is_top_level: bool
    common: Mapping[str, StructDefinition]

    def is_inline_struct(self, field: FieldDefinition) -> bool:
        """Whether the field declares an inline struct."""
        return field.type.is_struct and field.type.name not in self.common


@dataclass(frozen=True, slots=True)
class Located:
    """A problem and its object, for checks of whole messages.

    Attributes:
        place: the object with the fault.
        path: its path, ``CreateTopicsRequest`` or ``CreateTopicsRequest.Topics.Name``.
        problem: what is wrong with it.
    """

    place: Place
    path: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class MessageSet:
    """Messages that are checked together.

    Attributes:
        messages: the messages of one folder, sorted by file.
        headers: the header definitions of the whole set by name.
        complete: False if a file of the folder could not be read, so that it may contain a missing partner.
    """

    messages: tuple[MessageDefinition, ...]
    headers: Mapping[str, MessageDefinition]
    complete: bool


OfField = Callable[[FieldDefinition, StructScope], Iterator[Problem]]
OfStruct = Callable[[StructScope], Iterator[tuple[FieldDefinition, Problem]]]
OfMessage = Callable[[MessageDefinition], Iterator[Located]]
OfSet = Callable[[MessageSet], Iterator[Located]]


@dataclass(frozen=True, slots=True)
class FieldCheck:
    """A rule about one field. It is not applied if one of the attributes `reads` could not be read."""

    rule: Rule
    reads: frozenset[str]
    check: OfField


@dataclass(frozen=True, slots=True)
class StructCheck:
    """A rule about all fields of a struct; each problem is returned with its field."""

    rule: Rule
    reads: frozenset[str]
    check: OfStruct


@dataclass(frozen=True, slots=True)
class MessageCheck:
    """A rule about one message. `reads` are attributes of the message."""

    rule: Rule
    reads: frozenset[str]
    check: OfMessage


@dataclass(frozen=True, slots=True)
class SetCheck:
    """A rule about all messages of a folder."""

    rule: Rule
    check: OfSet


def of_message(message: MessageDefinition, attribute: str, text: str, remedy: str = "") -> Located:
    """A problem of the message itself."""
    return Located(message.place, message.name, Problem(attribute, text, remedy))
