"""Answers of brokers without the values that differ from one broker to the next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isnan
from typing import TypeAlias

import msgspec

from kafkawire.layout import Uuid
from kafkawire.wire import Message

Normalised: TypeAlias = "str | int | float | bool | bytes | Mapping[str, Normalised] | Sequence[Normalised] | None"

_OF_THE_BROKER = frozenset(
    {
        "cluster_id",
        "documentation",
        "finalized_features_epoch",
        "host",
        "log_dir",
        "port",
        "session_lifetime_ms",
        "throttle_time_ms",
        "total_bytes",
        "usable_bytes",
    }
)
"""Times, addresses and ids; and the sentences of Kafka's documentation, which the embedded broker does not have."""

_OF_TRANSACTIONS = frozenset({"producer_id", "transaction_start_time_ms"})
"""Ids and times that differ; -1 for none is kept."""

_SETS = frozenset(
    {
        "acls",
        "active_partitions",
        "config_resources",
        "configs",
        "credential_infos",
        "entity",
        "entries",
        "finalized_features",
        "groups",
        "matching_acls",
        "members",
        "partition_responses",
        "partitions",
        "partitions_by_user_endpoint",
        "resources",
        "responses",
        "results",
        "results_by_partition",
        "results_by_topic_v3_and_below",
        "results_by_transaction",
        "standby_partitions",
        "subscribed_topic_names",
        "supported_features",
        "topic_partitions",
        "topic_results",
        "topics",
        "transaction_states",
    }
)
"""Fields whose elements come in no order that is promised; Kafka takes them out of hash tables."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The end of the id that a member of a group gets."""

_GIVEN = re.compile(r"[A-Za-z0-9_-]{22}")
"""The id that a classic member of a consumer group gets."""

_ADDRESSES = frozenset(
    {
        "advertised.listeners",
        "broker.id",
        "controller.quorum.voters",
        "listeners",
        "log.dir",
        "log.dirs",
    }
)
"""Configurations that say where a broker is."""


def normalised(answer: Message) -> Normalised:
    """The content of an answer, comparable."""
    return _value("", answer)


def without_words(answer: Normalised) -> Normalised:
    """The same without the messages of errors."""
    match answer:
        case Mapping():
            return {name: without_words(value) for name, value in answer.items() if name != "error_message"}
        case str() | bytes():
            return answer
        case Sequence():
            return [without_words(value) for value in answer]
    return answer


def _value(name: str, value: object) -> Normalised:
    match value:
        case Uuid():
            return "no id" if value == Uuid() else "an id"
        case msgspec.Struct():
            fields = {field: _value(field, getattr(value, field)) for field in value.__struct_fields__}
            return {field: content for field, content in fields.items() if field not in _OF_THE_BROKER}
        case int() if name in _OF_TRANSACTIONS:
            return value if value < 0 else "a number of the broker"
        case float():
            return "no number" if isnan(value) else value
        case str() if name == "member_id" and _GIVEN.fullmatch(value):
            return "an id"
        case str():
            return _UUID.sub("an id", value)
        case int() | bytes() | None:
            return value
        case Sequence():
            elements = [_value("", element) for element in value]
            elements = [one for one in elements if not _is_address(one)]
            return sorted(elements, key=repr) if name in _SETS else elements
    raise AssertionError(f"nothing that answers hold: {value!r}")


def _is_address(element: Normalised) -> bool:
    return isinstance(element, Mapping) and "config_type" in element and element.get("name") in _ADDRESSES
