"""Rules about one message."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.codegen.check.rule import Located, Rule, of_message
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.versions import Versions

_COORDINATOR_KEY_VERSIONS = Versions(0, 0)


@Rule(
    "message-max-version-required",
    "The valid versions of a message have an upper bound.",
    'name the highest version that exists, as in "0-3"',
).for_messages("validVersions")
def max_version_required(message: MessageDefinition) -> Iterator[Located]:
    """An open end would make every future version valid."""
    if message.valid_versions.is_open:
        yield of_message(message, "validVersions", f'validVersions "{message.valid_versions}" has no upper bound')


@Rule(
    "message-flexible-open-ended",
    "A flexible message stays flexible: its flexible versions are open-ended or none.",
    'write "N+" with the first flexible version, or "none"',
).for_messages("flexibleVersions")
def flexible_open_ended(message: MessageDefinition) -> Iterator[Located]:
    """Flexible versions never end."""
    flexible = message.flexible_versions
    if flexible and not flexible.is_open:
        yield of_message(
            message, "flexibleVersions", f'flexibleVersions "{flexible}" ends', f'write "{flexible.lowest}+"'
        )


@Rule("message-listeners-only-request", "Only requests name listeners.", 'remove "listeners"').for_messages(
    "listeners", "type"
)
def listeners_only_request(message: MessageDefinition) -> Iterator[Located]:
    """Listeners are the servers of a request."""
    if message.listeners and message.type != "request":
        yield of_message(message, "listeners", f'listeners on type "{message.type}"')


@Rule(
    "message-unstable-only-request",
    "Only requests have latestVersionUnstable, which also applies to the response.",
    'remove "latestVersionUnstable" here and set it on the request',
).for_messages("latestVersionUnstable", "type")
def unstable_only_request(message: MessageDefinition) -> Iterator[Located]:
    """The attribute of the request applies to both."""
    if message.latest_version_unstable and message.type != "request":
        yield of_message(message, "latestVersionUnstable", f'latestVersionUnstable true on type "{message.type}"')


@Rule(
    "message-coordinator-key-api-key",
    "The key of a coordinator record has an apiKey, its record type.",
    'add "apiKey" with the record type',
).for_messages("apiKey", "type")
def coordinator_key_api_key(message: MessageDefinition) -> Iterator[Located]:
    """The record type distinguishes keys."""
    if message.type == "coordinator-key" and message.api_key is None:
        yield of_message(message, "apiKey", "no apiKey on a coordinator-key")


@Rule(
    "message-coordinator-value-api-key",
    "The value of a coordinator record has an apiKey, its record type.",
    'add "apiKey" with the record type of the key',
).for_messages("apiKey", "type")
def coordinator_value_api_key(message: MessageDefinition) -> Iterator[Located]:
    """The record type connects a value with its key."""
    if message.type == "coordinator-value" and message.api_key is None:
        yield of_message(message, "apiKey", "no apiKey on a coordinator-value")


@Rule(
    "message-coordinator-key-versions",
    "The key of a coordinator record has version 0 and no other.",
    'write "validVersions": "0"; the record type is the apiKey',
).for_messages("validVersions", "type")
def coordinator_key_versions(message: MessageDefinition) -> Iterator[Located]:
    """Compaction does not replace a key in another encoding."""
    if message.type == "coordinator-key" and message.valid_versions != _COORDINATOR_KEY_VERSIONS:
        yield of_message(message, "validVersions", f'validVersions "{message.valid_versions}" on a coordinator-key')


@Rule(
    "message-coordinator-key-not-flexible",
    "The key of a coordinator record is not flexible.",
    'write "flexibleVersions": "none"',
).for_messages("flexibleVersions", "type")
def coordinator_key_not_flexible(message: MessageDefinition) -> Iterator[Located]:
    """With tagged fields, equal keys could have different bytes."""
    if message.type == "coordinator-key" and message.flexible_versions:
        yield of_message(
            message, "flexibleVersions", f'flexibleVersions "{message.flexible_versions}" on a coordinator-key'
        )
