"""What a rule is: data that names it, and a function that finds its violations.

Rules about the text of a file are applied while it is read (`kafkawire.codegen.parse.source`, `reading`) and are data
alone. All others carry a function over the model of definitions and run in `kafkawire.codegen.check.walk`.
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
        id: id of the rule in the reference.
        purpose: what must hold, in one sentence.
        remedy: what to do where it does not hold.
        severity: errors stop generation, warnings do not.
    """

    id: str
    purpose: str
    remedy: str
    severity: Severity = "error"

    def finding(self, file: str, span: Span, message: str, remedy: str = "") -> Finding:
        """A violation at a place; `remedy` replaces the rule's own where a more precise one is known."""
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
    """One violation in the object that a check looks at.

    Attributes:
        attribute: the attribute whose value is at fault; the whole object if it is not given there.
        message: what is wrong, with the value found.
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
        place: object that holds ``fields``.
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
    """A problem of some object of a message, for checks that look at a whole message or at several.

    Attributes:
        place: the object at fault.
        path: its path, ``CreateTopicsRequest`` or ``CreateTopicsRequest.Topics.Name``.
        problem: what is wrong with it.
    """

    place: Place
    path: str
    problem: Problem


@dataclass(frozen=True, slots=True)
class MessageSet:
    """Messages that belong together.

    Attributes:
        messages: the messages of one folder, sorted by file.
        headers: the header definitions of the whole set by name.
        complete: False if a file of the folder could not be read, so that a partner may only seem to be missing.
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
    """A rule that looks at one field. `reads` are the attributes without which it has nothing to say."""

    rule: Rule
    reads: frozenset[str]
    check: OfField


@dataclass(frozen=True, slots=True)
class StructCheck:
    """A rule that looks at all fields of one struct; problems are told with the field they belong to."""

    rule: Rule
    reads: frozenset[str]
    check: OfStruct


@dataclass(frozen=True, slots=True)
class MessageCheck:
    """A rule that looks at one message. `reads` are attributes of the message."""

    rule: Rule
    reads: frozenset[str]
    check: OfMessage


@dataclass(frozen=True, slots=True)
class SetCheck:
    """A rule that looks at the messages of one folder together."""

    rule: Rule
    check: OfSet


def of_message(message: MessageDefinition, attribute: str, text: str, remedy: str = "") -> Located:
    """A problem of the message itself."""
    return Located(message.place, message.name, Problem(attribute, text, remedy))
