"""Gives fields the sentences of ``field-meanings.toml``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kafkawire.codegen.check.sentences import StructField, field_at, struct_fields
from kafkawire.codegen.definition import FieldDefinition, Meaning, MessageDefinition
from kafkawire.layout import snake_case


def with_meanings(messages: Iterable[MessageDefinition], meanings: Sequence[Meaning]) -> tuple[MessageDefinition, ...]:
    """The messages with a sentence as the ``about`` of each field that has none of its own.

    The sentence is that of the field's path in the table of its message, else of its name there, else of its name in
    the general table. Several paths may lead to a field of a common struct; it gets their sentences.
    """
    general = {meaning.path: meaning.sentence for meaning in meanings if not meaning.message}
    own: dict[str, list[Meaning]] = {}
    for meaning in meanings:
        if meaning.message:
            own.setdefault(meaning.message, []).append(meaning)
    return tuple(_explained(message, general, own.get(message.name, ())) for message in messages)


def fields_without_meaning(messages: Iterable[MessageDefinition]) -> Iterator[str]:
    """The fields without ``about`` by message, struct and name: ``CreateTopicsRequest.CreatableTopic.Name``."""
    for message in messages:
        for struct, fields in struct_fields(message).items():
            for field in fields:
                if not field.about.strip():
                    yield ".".join(filter(None, (message.name, struct, field.name)))


def _explained(message: MessageDefinition, general: Mapping[str, str], own: Sequence[Meaning]) -> MessageDefinition:
    paths: dict[StructField, list[Meaning]] = {}
    by_name = dict(general)
    for meaning in own:
        place = field_at(message, meaning.path) if "." in meaning.path else None
        if place is not None:
            paths.setdefault(place, []).append(meaning)
        else:
            by_name[meaning.path] = meaning.sentence
    by_path = {place: _joined(found) for place, found in paths.items()}

    def explain(fields: tuple[FieldDefinition, ...], struct: str) -> tuple[FieldDefinition, ...]:
        return tuple(
            replace(
                field,
                about=field.about
                if field.about.strip()
                else by_path.get((struct, field.name), by_name.get(field.name, "")),
                fields=explain(field.fields, field.type.name),
            )
            for field in fields
        )

    return replace(
        message,
        fields=explain(message.fields, ""),
        common_structs=tuple(
            replace(struct, fields=explain(struct.fields, struct.name)) for struct in message.common_structs
        ),
    )


def _joined(meanings: Sequence[Meaning]) -> str:
    """One text of the sentences of all paths that lead to a field of a common struct.

    If the sentences differ, each begins with the attribute that holds the struct: ``In client_tags: The tag.``
    """
    holders: dict[str, dict[str, None]] = {}
    for meaning in meanings:
        holders.setdefault(meaning.sentence, {})[snake_case(meaning.path.split(".")[-2])] = None
    if len(holders) == 1:
        return meanings[0].sentence
    return " ".join(f"In {', '.join(names)}: {sentence}" for sentence, names in holders.items())
