"""Holds the sentences of ``field-meanings.toml`` to their rules, and finds the fields that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafkawire.codegen.check.meanings import MEANING_EMPTY, MEANING_SENTENCE, MEANING_UNKNOWN_NAME
from kafkawire.codegen.definition import FieldDefinition, Meaning, MessageDefinition
from kafkawire.codegen.findings import Finding
from kafkawire.codegen.spelling import did_you_mean

StructField = tuple[str, str]
"""A field in its message: the name of its struct, empty for the message itself, and its own name."""


def check_sentences(meanings: Iterable[Meaning]) -> Iterator[Finding]:
    """The findings about the sentences themselves."""
    for meaning in meanings:
        if not meaning.sentence.strip():
            yield MEANING_EMPTY.finding(meaning.file, meaning.span, f"{_shown(meaning)}: the sentence is empty")
        elif len(meaning.sentence.splitlines()) > 1:
            yield MEANING_SENTENCE.finding(
                meaning.file, meaning.span, f"{_shown(meaning)}: the sentence is on more than one line"
            )
        elif not meaning.sentence.rstrip().endswith("."):
            yield MEANING_SENTENCE.finding(
                meaning.file, meaning.span, f"{_shown(meaning)}: the sentence does not end with a full stop"
            )


def check_names(meanings: Sequence[Meaning], messages: Sequence[MessageDefinition]) -> Iterator[Finding]:
    """The findings about names of messages and fields that do not exist."""
    by_name: dict[str, list[MessageDefinition]] = {}
    for message in messages:
        by_name.setdefault(message.name, []).append(message)
    fields = _names(messages)
    for meaning in meanings:
        if not meaning.message:
            if meaning.path not in fields:
                yield _unknown(meaning, f"no message has a field {meaning.path}", did_you_mean(meaning.path, fields))
        elif meaning.message not in by_name:
            problem = f"there is no message {meaning.message}"
            yield _unknown(meaning, problem, did_you_mean(meaning.message, by_name))
        else:
            yield from _name_in_message(meaning, by_name[meaning.message])


def _name_in_message(meaning: Meaning, parts: Sequence[MessageDefinition]) -> Iterator[Finding]:
    """The finding about a name or path inside a message, of which a proposal may define a second part."""
    problem = f"{meaning.message} has no field {meaning.path}"
    if "." in meaning.path:
        if not any(field_at(part, meaning.path) for part in parts):
            yield _unknown(meaning, problem, "")
    elif meaning.path not in (own := _names(parts)):
        yield _unknown(meaning, problem, did_you_mean(meaning.path, own))


def struct_fields(message: MessageDefinition) -> Mapping[str, tuple[FieldDefinition, ...]]:
    """The fields of each struct of a message by its name; the message itself has the empty name."""
    found = {"": message.fields, **{struct.name: struct.fields for struct in message.common_structs}}

    def declare(fields: tuple[FieldDefinition, ...]) -> None:
        for field in fields:
            if field.fields:
                found.setdefault(field.type.name, field.fields)
                declare(field.fields)

    for fields in tuple(found.values()):
        declare(fields)
    return found


def field_at(message: MessageDefinition, path: str) -> StructField | None:
    """The field that a dotted path of names leads to, ``Topics.Name``; None if there is none."""
    structs = struct_fields(message)
    struct, names = "", path.split(".")
    for at, name in enumerate(names):
        found = next((field for field in structs.get(struct, ()) if field.name == name), None)
        if found is None:
            return None
        if at == len(names) - 1:
            return struct, name
        struct = found.type.name
    return None


def _names(messages: Iterable[MessageDefinition]) -> frozenset[str]:
    return frozenset(
        field.name for message in messages for fields in struct_fields(message).values() for field in fields
    )


def _unknown(meaning: Meaning, problem: str, hint: str) -> Finding:
    return MEANING_UNKNOWN_NAME.finding(meaning.file, meaning.span, f"{_shown(meaning)}: {problem}", hint)


def _shown(meaning: Meaning) -> str:
    """The entry as a user names it: ``CreateTopicsRequest.Topics.Name``, or the name alone."""
    return f"{meaning.message}.{meaning.path}" if meaning.message else meaning.path
