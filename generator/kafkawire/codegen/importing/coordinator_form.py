"""Converts coordinator records of older releases to the form of newer ones (coord-key-prefix).

Older releases write the key of a coordinator record as a ``data`` message whose *versions* are record types;
newer ones have a ``coordinator-key`` for each record type, valid in version 0, and a ``coordinator-value``
beside it. The bytes are the same, because keys are never flexible.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.importing.release import MessageKey, ReleaseMessages
from kafkawire.codegen.versions import ALL_VERSIONS, NO_VERSIONS, Versions

_KEY, _VALUE = "Key", "Value"


@dataclass(frozen=True, slots=True)
class Part:
    """A message of a release in the form in which it is merged.

    Attributes:
        message: that form.
        source: the message as the release has it.
        source_versions: version of ``message`` to version of ``source``.
    """

    message: MessageDefinition
    source: MessageDefinition
    source_versions: Mapping[int, int]


def as_parts(release: ReleaseMessages, later: Iterable[ReleaseMessages]) -> tuple[Part, ...]:
    """The messages of a release; coordinator records have the form of later releases.

    Args:
        release: the release.
        later: the releases after it, oldest first; without coordinator records among them nothing changes.
    """
    forms = _Forms(later)
    return tuple(part for message in release.messages.values() for part in _parts(message, release.messages, forms))


class _Forms:
    """The coordinator messages of later releases: keys by record type, and all by name."""

    def __init__(self, later: Iterable[ReleaseMessages]) -> None:
        self.keys: dict[tuple[str, int], str] = {}
        self.named: dict[MessageKey, MessageDefinition] = {}
        self.groups: set[str] = set()
        for release in later:
            for (group, name), message in release.messages.items():
                if message.type in ("coordinator-key", "coordinator-value"):
                    self.named[group, name] = message
                    self.groups.add(group)
                if message.type == "coordinator-key" and message.api_key is not None:
                    self.keys[group, message.api_key] = name


def _parts(
    message: MessageDefinition, release: Mapping[MessageKey, MessageDefinition], forms: _Forms
) -> Iterator[Part]:
    if message.type == "data" and message.group in forms.groups:
        if _is_key(message, release, forms):
            yield from _key_parts(message, forms)
            return
        record_type = _record_type(message, release, forms)
        if record_type is not None:
            value = replace(message, type="coordinator-value", api_key=record_type)
            yield Part(value, message, {v: v for v in message.valid_versions})
            return
    yield Part(message, message, {v: v for v in message.valid_versions})


def _is_key(message: MessageDefinition, release: Mapping[MessageKey, MessageDefinition], forms: _Forms) -> bool:
    known = forms.named.get((message.group, message.name))
    if known is not None:
        return known.type == "coordinator-key"
    value = message.name.removesuffix(_KEY) + _VALUE
    return message.name.endswith(_KEY) and not message.flexible_versions and (message.group, value) in release


def _key_parts(message: MessageDefinition, forms: _Forms) -> Iterator[Part]:
    for record_type in message.valid_versions:
        yield Part(
            replace(
                message,
                name=forms.keys.get((message.group, record_type), message.name),
                type="coordinator-key",
                api_key=record_type,
                valid_versions=Versions(0, 0),
                flexible_versions=NO_VERSIONS,
                fields=_at_version(message.fields, record_type),
            ),
            message,
            {0: record_type},
        )


def _record_type(
    message: MessageDefinition, release: Mapping[MessageKey, MessageDefinition], forms: _Forms
) -> int | None:
    """The record type of a value: that of later releases, else the only version of its key."""
    known = forms.named.get((message.group, message.name))
    if known is not None:
        return known.api_key
    key = release.get((message.group, message.name.removesuffix(_VALUE) + _KEY))
    if key is None or not message.name.endswith(_VALUE) or key.valid_versions.lowest != key.valid_versions.highest:
        return None
    return key.valid_versions.lowest


def _at_version(fields: tuple[FieldDefinition, ...], version: int) -> tuple[FieldDefinition, ...]:
    """The fields of one version as those of all versions."""
    return tuple(
        replace(
            field,
            versions=ALL_VERSIONS,
            nullable_versions=ALL_VERSIONS if version in field.nullable_versions else NO_VERSIONS,
            fields=_at_version(field.fields, version),
        )
        for field in fields
        if version in field.versions
    )
