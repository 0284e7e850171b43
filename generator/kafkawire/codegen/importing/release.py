"""Reads the messages of a release from its jars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.parse.load import parse_message

MessageKey = tuple[str, str]
"""Group and name: what identifies a message in a release."""


@dataclass(frozen=True, slots=True)
class ReleaseMessages:
    """The messages of a release.

    Attributes:
        release: its version.
        messages: its definitions by group and name, without descriptions.
    """

    release: str
    messages: Mapping[MessageKey, MessageDefinition]


def read_release(release: str, texts: Mapping[str, Mapping[str, str]]) -> ReleaseMessages:
    """Parse the definitions of a release.

    Args:
        release: its version.
        texts: group to (file name to text).

    Raises:
        SpecsImportError: with every error of every file, and messages defined twice.
    """
    messages: dict[MessageKey, MessageDefinition] = {}
    problems: list[str] = []
    for group, files in texts.items():
        for file, text in files.items():
            place = f"{release} {group}: {file}"
            message, findings = parse_message(text, place, group)
            problems += [f"{f.file}:{f.span.line}: {f.rule}: {f.message}" for f in findings if f.severity == "error"]
            if message is None:
                continue
            if (group, message.name) in messages:
                problems.append(f"{place}: {message.name} is defined twice")
            messages[group, message.name] = facts_only(message)
    if problems:
        raise SpecsImportError(*problems)
    return ReleaseMessages(release, messages)


def facts_only(message: MessageDefinition) -> MessageDefinition:
    """A definition without its descriptions, which are Kafka's texts and not facts of the protocol."""
    return replace(
        message,
        fields=_without_about(message.fields),
        common_structs=tuple(
            replace(struct, fields=_without_about(struct.fields)) for struct in message.common_structs
        ),
    )


def _without_about(fields: tuple[FieldDefinition, ...]) -> tuple[FieldDefinition, ...]:
    return tuple(replace(field, about="", fields=_without_about(field.fields)) for field in fields)
