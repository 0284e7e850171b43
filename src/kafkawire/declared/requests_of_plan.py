"""What a plan sends to a cluster: the arguments of the client's calls, with the secrets that a plan does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import msgspec

from kafkawire.declared.documents.secret_references import UnavailableSecretError
from kafkawire.declared.planned import Action, PlannedItem, ValueChange
from kafkawire.declared.planned_topics import PARTITIONS, REPLICAS, REPLICATION_FACTOR
from kafkawire.declared.planned_values import SecretKey, is_secret
from kafkawire.declared.wording import HIDDEN
from kafkawire.model.configs.resources import ConfigChange, ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity
from kafkawire.model.scram import MINIMUM_ITERATIONS, ScramDeletion, ScramUpsertion
from kafkawire.model.topics import NewPartitions, NewTopic

SecretOf: TypeAlias = Callable[[SecretKey], str | None]
"""Supplies a secret; None if it is not known."""


def new_topic(item: PlannedItem, secret: SecretOf) -> NewTopic:
    """The topic that an item creates.

    Raises:
        UnavailableSecretError: a sensitive config has no value.
    """
    name = str(item.item)
    values = {change.name: change.after for change in item.changes}
    assignments = {change.name: _brokers(change) for change in item.changes if change.name.startswith(REPLICAS)}
    own = {PARTITIONS, REPLICATION_FACTOR, *assignments}
    resource = ConfigResource.topic(name)
    return NewTopic(
        name,
        int(values.get(PARTITIONS) or -1),
        int(values.get(REPLICATION_FACTOR) or -1),
        {int(each.removeprefix(REPLICAS)): brokers for each, brokers in assignments.items()} or None,
        {each.name: _value(resource, each, secret) for each in item.changes if each.name not in own},
    )


def new_partitions(item: PlannedItem) -> NewPartitions | None:
    """The partitions that an item adds; None if it adds none."""
    total = next((change.after for change in item.changes if change.name == PARTITIONS), None)
    if total is None:
        return None
    new = [_brokers(change) for change in item.changes if change.name.startswith(REPLICAS)]
    return NewPartitions(int(total), new or None)


def resource_of(item: PlannedItem) -> ConfigResource:
    """The resource whose configs an item changes."""
    return item.item if isinstance(item.item, ConfigResource) else ConfigResource.topic(str(item.item))


def config_changes(item: PlannedItem, secret: SecretOf) -> list[ConfigChange]:
    """The configs that an item changes.

    Raises:
        UnavailableSecretError: a sensitive config has no value.
    """
    resource = resource_of(item)
    return [
        ConfigChange.delete(each.name)
        if each.after is None
        else ConfigChange.set(each.name, _value(resource, each, secret))
        for each in _configs(item)
    ]


def quota_alteration(item: PlannedItem) -> ClientQuotaAlteration:
    """The quotas that an item changes."""
    assert isinstance(item.item, ClientQuotaEntity)  # noqa: S101 narrows the type
    return ClientQuotaAlteration(
        item.item, {each.name: None if each.after is None else float(each.after) for each in item.changes}
    )


def scram_alteration(item: PlannedItem, secret: SecretOf) -> ScramUpsertion | ScramDeletion:
    """The credential that an item sets or deletes.

    Raises:
        UnavailableSecretError: there is no password.
    """
    assert isinstance(item.item, tuple)  # noqa: S101 narrows the type
    user, mechanism = item.item
    if item.action is Action.DELETE:
        return ScramDeletion(user, mechanism)
    password = secret(item.item)
    if password is None:
        raise UnavailableSecretError(f"the password of {user} is not known")
    after = next((change.after for change in item.changes if change.name == "iterations"), None)
    return ScramUpsertion(user, mechanism, password, int(after or MINIMUM_ITERATIONS))


def has_configs(item: PlannedItem) -> bool:
    """Whether an item changes configs."""
    return any(_configs(item))


def without_secrets(item: PlannedItem) -> PlannedItem:
    """An item without its configs that are secret."""
    if not isinstance(item.item, str | ConfigResource):
        return item
    resource = resource_of(item)
    shown = tuple(each for each in item.changes if not _is_secret(resource, each))
    return item if len(shown) == len(item.changes) else msgspec.structs.replace(item, changes=shown)


def secret_keys(items: Iterable[PlannedItem]) -> Iterator[SecretKey]:
    """The secrets that carrying items out takes."""
    for item in items:
        if item.action not in {Action.CREATE, Action.CHANGE}:
            continue
        if isinstance(item.item, tuple):
            yield item.item
        elif isinstance(item.item, str | ConfigResource):
            resource = resource_of(item)
            yield from ((resource, each.name) for each in _configs(item) if _is_secret(resource, each))


def _configs(item: PlannedItem) -> Iterator[ValueChange]:
    if not isinstance(item.item, str):
        return iter(item.changes)
    return (
        each
        for each in item.changes
        if each.name not in {PARTITIONS, REPLICATION_FACTOR} and not each.name.startswith(REPLICAS)
    )


def _is_secret(resource: ConfigResource, change: ValueChange) -> bool:
    return change.after == HIDDEN and is_secret(resource, change.name)


def _value(resource: ConfigResource, change: ValueChange, secret: SecretOf) -> str:
    if not _is_secret(resource, change):
        return change.after or ""
    value = secret((resource, change.name))
    if value is None:
        raise UnavailableSecretError(f"the value of {change.name} of {resource.name or 'all brokers'} is not known")
    return value


def _brokers(change: ValueChange) -> tuple[int, ...]:
    return tuple(int(broker) for broker in (change.after or "").split(","))
