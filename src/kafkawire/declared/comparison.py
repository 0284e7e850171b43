"""What two states differ in: of two clusters, of two files, of a file and a cluster, of a cluster at two times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import partial
from typing import TypeAlias, TypeVar

import msgspec

from kafkawire.declared.planned import Item, Kind, ValueChange
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.declared.wording import HIDDEN, item_in_words
from kafkawire.model.acls.bindings import AclBinding
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.configs.sensitive import is_sensitive
from kafkawire.model.quotas.configs import number_in_words
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import UserMechanism

K = TypeVar("K", bound=Item)
V = TypeVar("V")

Configs: TypeAlias = Mapping[str, str | None]

Quotas: TypeAlias = Mapping[str, float | None]

Values: TypeAlias = Mapping[str, str | None]
"""Values of an item by name; None for one that a document leaves open."""


class Difference(StrEnum):
    """How an item differs."""

    ADDED = "added"
    """Only the second state has it."""

    REMOVED = "removed"
    """Only the first state has it."""

    CHANGED = "changed"
    """Both have it, with other values."""


class DifferingItem(msgspec.Struct, frozen=True):
    """An item in which two states differ.

    Attributes:
        kind: of the item.
        item: which.
        difference: how it differs.
        values: its values that differ; all of them where only one state has it.
    """

    kind: Kind
    item: Item
    difference: Difference
    values: tuple[ValueChange, ...] = ()


def compare_states(
    before: ClusterState, after: ClusterState, *, with_assignments: bool = False
) -> tuple[DifferingItem, ...]:
    """The items in which two states differ, by kind and name.

    What a document leaves open (None) differs from nothing. Secrets cannot be compared: a sensitive config differs
    where only one state has it, a password never.

    Args:
        before, after: the states; the first is where values are removed from.
        with_assignments: whether the brokers of partitions count. In another cluster they differ anyway.

    Example:
        ```python
        from datetime import UTC, datetime

        from kafkawire.declared import compare_states, read_log_state

        yesterday = read_log_state("/var/lib/kafka/data", datetime(2026, 11, 21, 12, tzinfo=UTC))
        today = read_log_state("/var/lib/kafka/data")
        for item in compare_states(yesterday, today):
            print(item.kind, item.item, item.difference)
        ```
    """
    return (
        *_differing(
            Kind.TOPICS, before.topics, after.topics, partial(_topic_values, with_assignments=with_assignments)
        ),
        *_differing(Kind.CONFIGS, before.configs, after.configs, _config_values),
        *_differing(Kind.ACLS, dict.fromkeys(before.acls, True), dict.fromkeys(after.acls, True), _acl_values),
        *_differing(Kind.QUOTAS, before.quotas, after.quotas, _quota_values),
        *_differing(Kind.USERS, before.credentials, after.credentials, _credential_values),
    )


def _differing(
    kind: Kind, before: Mapping[K, V], after: Mapping[K, V], values_of: Callable[[K, V, V | None], Values]
) -> Iterator[DifferingItem]:
    differing = [item for item in {**before, **after} if item not in before or before[item] != after.get(item)]
    for item in sorted(differing, key=item_in_words):
        one, other = before.get(item), after.get(item)
        values_before = {} if one is None else values_of(item, one, other)
        values_after = {} if other is None else values_of(item, other, one)
        changes = tuple(_changes(values_before, values_after))
        if item not in before:
            yield DifferingItem(kind, item, Difference.ADDED, changes)
        elif item not in after:
            yield DifferingItem(kind, item, Difference.REMOVED, changes)
        elif changes:
            yield DifferingItem(kind, item, Difference.CHANGED, changes)


def _changes(before: Values, after: Values) -> Iterator[ValueChange]:
    left_open = {name for values in (before, after) for name, value in values.items() if value is None}
    for name in {**before, **after}:
        if name not in left_open and before.get(name) != after.get(name):
            yield ValueChange(name, before.get(name), after.get(name))


def _topic_values(name: str, topic: TopicState, other: TopicState | None, *, with_assignments: bool) -> Values:
    values = {"partitions": _number(topic.partitions), "replication_factor": _number(topic.replication_factor)}
    if with_assignments and topic.assignments and (other is None or other.assignments):
        for partition, replicas in sorted(topic.assignments.items()):
            values[f"replicas of partition {partition}"] = ",".join(map(str, replicas))
    return {**values, **_config_values(ConfigResource.topic(name), topic.configs)}


def _config_values(resource: ConfigResource, configs: Configs, _: Configs | None = None) -> Values:
    hidden = {name for name in configs if is_sensitive(resource.resource_type, name)}
    shown = {name: HIDDEN if name in hidden else value for name, value in sorted(configs.items())}
    return {name: value for name, value in shown.items() if value is not None}


def _acl_values(_acl: AclBinding, _one: bool, _other: bool | None) -> Values:
    return {}


def _quota_values(_: ClientQuotaEntity, quotas: Quotas, _other: Quotas | None) -> Values:
    return {key: number_in_words(value) for key, value in sorted(quotas.items()) if value is not None}


def _credential_values(_: UserMechanism, known: CredentialState, _other: CredentialState | None) -> Values:
    return {"iterations": _number(known.iterations)}


def _number(number: int | None) -> str | None:
    return None if number is None else str(number)
