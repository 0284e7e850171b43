"""Rules about the messages of a folder together, and about what each message needs for the API table."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.check.rule import Located, MessageSet, Rule, of_message
from kafkawire.codegen.definition import MessageDefinition, MessageType


@Rule(
    "set-api-key-required",
    "A request, response or metadata record has an apiKey.",
    'add "apiKey" with the key of the API, or the id of the record',
).for_messages("apiKey", "type")
def api_key_required(message: MessageDefinition) -> Iterator[Located]:
    """The API table is sorted by it. Coordinator records have other rules."""
    if message.type in ("request", "response", "metadata") and message.api_key is None:
        yield of_message(message, "apiKey", f'no apiKey on type "{message.type}"')


@Rule(
    "set-request-name-suffix",
    "The name of a request ends in Request; the part before it is the name of the API.",
    "append Request to the name",
).for_messages("name", "type")
def request_name_suffix(message: MessageDefinition) -> Iterator[Located]:
    """The API table has the names of requests."""
    if message.type == "request" and not message.name.endswith("Request"):
        yield of_message(message, "name", f'the name of the request "{message.name}" does not end in Request')


@Rule("set-request-unique", "No two requests have the same key.", "give one of them a free key").for_sets
def request_unique(group: MessageSet) -> Iterator[Located]:
    """A key identifies one API."""
    return _repeated(group, "request")


@Rule("set-response-unique", "No two responses have the same key.", "give one of them a free key").for_sets
def response_unique(group: MessageSet) -> Iterator[Located]:
    """A key identifies one API."""
    return _repeated(group, "response")


@Rule(
    "set-metadata-id-unique", "No two metadata records of a folder have the same id.", "give one of them a free id"
).for_sets
def metadata_id_unique(group: MessageSet) -> Iterator[Located]:
    """Each folder has its own ids."""
    return _repeated(group, "metadata")


@Rule(
    "set-coordinator-key-unique",
    "No two coordinator keys of a folder have the same record type.",
    "give one of them a free record type",
).for_sets
def coordinator_key_unique(group: MessageSet) -> Iterator[Located]:
    """A record type has one key."""
    return _repeated(group, "coordinator-key")


@Rule(
    "set-coordinator-value-unique",
    "No two coordinator values of a folder have the same record type.",
    "give one of them a free record type",
).for_sets
def coordinator_value_unique(group: MessageSet) -> Iterator[Located]:
    """A record type has one value."""
    return _repeated(group, "coordinator-value")


@Rule(
    "set-request-has-response",
    "Every request has a response of the same key.",
    "define the response, or correct the key",
).for_sets
def request_has_response(group: MessageSet) -> Iterator[Located]:
    """Without it, clients cannot read answers."""
    return _without_partner(group, "request", "response")


@Rule(
    "set-response-has-request",
    "Every response has a request of the same key.",
    "define the request, or correct the key",
).for_sets
def response_has_request(group: MessageSet) -> Iterator[Located]:
    """Without it, no client can cause the response."""
    return _without_partner(group, "response", "request")


@Rule(
    "set-coordinator-pair",
    "Every coordinator key has a value of the same record type, and every value a key.",
    "define the partner, or correct the record type",
).for_sets
def coordinator_pair(group: MessageSet) -> Iterator[Located]:
    """A record needs both parts to be loaded."""
    yield from _without_partner(group, "coordinator-key", "coordinator-value")
    yield from _without_partner(group, "coordinator-value", "coordinator-key")


def _of_type(group: MessageSet, type_: MessageType) -> Iterator[tuple[MessageDefinition, int]]:
    """Messages of a type with their keys, where both could be read."""
    for message in group.messages:
        if message.type == type_ and message.api_key is not None and not message.place.refused & {"apiKey", "type"}:
            yield message, message.api_key


def _repeated(group: MessageSet, type_: MessageType) -> Iterator[Located]:
    first: dict[int, MessageDefinition] = {}
    for message, key in _of_type(group, type_):
        other = first.setdefault(key, message)
        if other is not message:
            yield of_message(message, "apiKey", f"apiKey {key} is already that of {other.name} in {other.place.file}")


def _without_partner(group: MessageSet, type_: MessageType, partner: MessageType) -> Iterator[Located]:
    if not group.complete:
        return
    partners = {key for _, key in _of_type(group, partner)}
    for message, key in _of_type(group, type_):
        if key not in partners:
            yield of_message(message, "apiKey", f"no {partner} has apiKey {key}")
