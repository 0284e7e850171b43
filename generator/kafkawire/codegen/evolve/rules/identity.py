"""What a message is: its key, its type, who serves it."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, MessageChange

_COORDINATOR = ("coordinator-key", "coordinator-value")
_SERVERS = {"broker": "brokers", "controller": "controllers", "zkBroker": "brokers that run with ZooKeeper"}


@EvolutionRule(
    "evo-api-key",
    "A message keeps its key.",
    "Peers identify messages by their keys: they read it as another message, or reject it.",
    ("breaking",),
).for_messages
def api_key(message: MessageChange) -> Iterator[Change]:
    """Coordinator records that now state their key are reported by evo-type."""
    older, newer = message.older, message.newer
    if older.api_key != newer.api_key:
        reason = f"apiKey {_key(older)} became {_key(newer)}, so peers read the message as another one, or reject it"
        yield Change("breaking", _versions(message), reason, newer.place, "apiKey")


@EvolutionRule(
    "evo-type",
    "A message keeps its type; a coordinator record that was defined as data may get the type of its own.",
    "The type determines what surrounds the bytes: a header, a record frame, or nothing.",
    ("breaking", "safe"),
).for_messages
def type_(message: MessageChange) -> Iterator[Change]:
    """Older releases call coordinator records ``data``; their bytes are the same (coord-key-prefix)."""
    older, newer = message.pair.older_source or message.older, message.pair.newer_source or message.newer
    if older.type == newer.type:
        return
    if message.older.type == message.newer.type and message.newer.type in _COORDINATOR:
        was, now = _form(older, message.older), _form(newer, message.newer)
        reason = f"{was} is now {now}, whose bytes in the log are the same"
        yield Change("safe", message.shared, reason, newer.place, "type")
    else:
        reason = f"type {older.type} became {newer.type}, so peers expect another header or frame around the bytes"
        yield Change("breaking", _versions(message), reason, newer.place, "type")


def _form(source: MessageDefinition, message: MessageDefinition) -> str:
    """What a side calls a coordinator record."""
    if source.type in _COORDINATOR:
        return f"a {source.type} with apiKey {source.api_key}"
    if message.type == "coordinator-key":
        return f"version {message.api_key} of the data message {source.name}"
    return "a data message"


@EvolutionRule(
    "evo-listeners",
    "A request keeps its listeners.",
    "Clients that send it to a removed listener get no answer; Kafka's own checker does not compare listeners.",
    ("risky", "safe"),
).for_messages
def listeners(message: MessageChange) -> Iterator[Change]:
    """Order has no meaning."""
    older, newer = message.older.listeners, message.newer.listeners
    gone, added = sorted(set(older) - set(newer)), sorted(set(newer) - set(older))
    if gone:
        reason = f"no longer served by {_servers(gone)}, so clients that send it there get no answer"
        yield Change("risky", message.shared, reason, message.newer.place, "listeners")
    if added:
        reason = f"now served by {_servers(added)} too, which does not affect older clients"
        yield Change("safe", message.shared, reason, message.newer.place, "listeners")


def _servers(listeners: list[str]) -> str:
    return " and ".join(_SERVERS.get(listener, listener) for listener in listeners)


def _key(message: MessageDefinition) -> str:
    return "none" if message.api_key is None else str(message.api_key)


def _versions(message: MessageChange) -> frozenset[int]:
    """The versions of both sides, or those of the older one if they share none."""
    return message.shared or frozenset(message.older.valid_versions)
