"""The words and counts of changes, in all forms of output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from kafkawire.codegen.evolve.change import Change, ChangeKind, MessageChanges, SchemaDiff, Status
from kafkawire.codegen.evolve.message_changes import key_word

Sign = Literal["+", "-", "~"]
"""Whether something was added, removed, or changed."""

_ADDED_OR_REMOVED: dict[Status, Sign] = {"added": "+", "restored": "+", "removed": "-", "retired": "-"}
_IN_HEADLINE: frozenset[ChangeKind] = frozenset(
    {"message-added", "message-removed", "message-retired", "message-restored", "message-renamed", "valid-versions"}
)
_WITH_VERSIONS: frozenset[ChangeKind] = frozenset(
    {"field-added", "field-removed", "field-type", "nullable", "tag", "compact", "field-order", "flexible",
     "header-version"}
)  # fmt: skip
_WORDS: dict[ChangeKind, str] = {
    "api-key": "apiKey",
    "header-version": "header version",
    "deprecated-versions": "deprecated versions",
    "unstable-versions": "unstable versions",
    "field-type": "type",
    "struct-renamed": "struct",
    "default": "default",
    "entity-type": "entityType",
    "field-order": "order",
    "type": "type",
    "listeners": "listeners",
}


def sign_of_message(message: MessageChanges) -> Sign:
    """The sign of a message."""
    return _ADDED_OR_REMOVED.get(message.status, "~")


def headline(message: MessageChanges) -> str:
    """What changed of a message itself, without its name: ``versions 0-12 -> 0-13``; empty if only parts changed."""
    return ", ".join(_headline_parts(message))


def _headline_parts(message: MessageChanges) -> Iterator[str]:
    for change in message.changes:
        match change.kind:
            case "message-added" | "message-removed":
                yield change.older or change.newer
            case "message-renamed":
                yield f"was {change.older}"
            case "valid-versions" | "message-restored":
                yield f"versions {change.older} -> {change.newer}"
            case "message-retired":
                yield f"retired, versions {change.older} -> none{_reserved(message)}"
            case _:
                pass


def _reserved(message: MessageChanges) -> str:
    """The key that a retired message keeps reserved (conv-retire)."""
    newer = message.newer
    return (
        f", {key_word(newer)} {newer.api_key} stays reserved" if newer is not None and newer.api_key is not None else ""
    )


def details(message: MessageChanges) -> Iterator[tuple[Sign, str]]:
    """A sign and a sentence for each change that is not in the headline."""
    for change in message.changes:
        if change.kind not in _IN_HEADLINE:
            yield _sign(change), _sentence(change, message.newest_version)


def _sign(change: Change) -> Sign:
    match change.kind:
        case "field-added":
            return "+"
        case "field-removed":
            return "-"
        case _:
            return "~"


def _sentence(change: Change, newest: int) -> str:
    match change.kind:
        case "field-added" | "field-removed":
            text = f"{change.path} {change.newer or change.older}"
        case "field-renamed":
            text = f"{change.path}: was {change.older}"
        case "record-form":
            text = f"{change.newer}, was {change.older}"
        case _:
            what = " ".join(
                part for part in (f"{change.path}:" if change.path else "", _WORDS.get(change.kind)) if part
            )
            text = f"{what} {change.older} -> {change.newer}".lstrip()
    return f"{text} ({_versions(change, newest)})" if change.kind in _WITH_VERSIONS else text


def _versions(change: Change, newest: int) -> str:
    """``13+`` for new versions, ``0, in place`` for those that both sides have, ``0+, 0-2 in place`` for both kinds."""
    in_place = ", ".join(map(str, change.in_place))
    if change.versions == change.in_place:
        return f"{in_place}, in place"
    text = ", ".join(f"{each.lowest}+" if each.highest == newest else str(each) for each in change.versions)
    return f"{text}, {in_place} in place" if in_place else text


def counts(diff: SchemaDiff) -> dict[str, dict[str, int]]:
    """For ``messages``, ``versions`` and ``fields``: the number of each kind of change.

    A version counts once for each message. A message that was added or removed counts with all its versions and without
    its fields. A renamed message is also a changed one; a renamed field is not.
    """
    statuses = Counter(message.status for message in diff.messages)
    kinds = Counter(change.kind for message in diff.messages for change in message.changes)
    changed_fields = {
        (message.name, change.path)
        for message in diff.messages
        for change in message.changes
        if change.path and change.kind not in ("field-added", "field-removed", "field-renamed", "struct-renamed")
    }
    return {
        "messages": {
            "added": statuses["added"],
            "removed": statuses["removed"],
            "retired": statuses["retired"],
            "restored": statuses["restored"],
            "renamed": kinds["message-renamed"],
            "changed": statuses["changed"],
            "unchanged": diff.unchanged,
        },
        "versions": {
            "added": sum(_version_count(message, newer=True) for message in diff.messages),
            "dropped": sum(_version_count(message, newer=False) for message in diff.messages),
        },
        "fields": {
            "added": kinds["field-added"],
            "removed": kinds["field-removed"],
            "renamed": kinds["field-renamed"],
            "changed": len(changed_fields),
        },
    }


def _version_count(message: MessageChanges, *, newer: bool) -> int:
    """The number of valid versions that only one side has."""
    sides = [frozenset(side.valid_versions) if side else frozenset() for side in (message.older, message.newer)]
    return len(sides[1] - sides[0]) if newer else len(sides[0] - sides[1])


def diff_summary(diff: SchemaDiff) -> str:
    """The counts on one line, without zeros."""
    shown = {
        noun: ", ".join(f"{number} {word}" for word, number in numbers.items() if number)
        for noun, numbers in counts(diff).items()
    }
    return "; ".join(f"{noun}: {text}" for noun, text in shown.items() if text)


def nothing_changed(diff: SchemaDiff) -> str:
    """The line that replaces the counts."""
    return f"no change of meaning in {diff.unchanged} {'message' if diff.unchanged == 1 else 'messages'}"
