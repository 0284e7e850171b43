"""What is to be done with a topic: what Kafka can change, and what needs another command."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from kafkawire.declared.planned import Action, Kind, PlannedItem, ValueChange
from kafkawire.declared.planned_values import SecretKey, changed_configs, config_values, number
from kafkawire.declared.state import TopicState
from kafkawire.model.configs.resources import ConfigResource

PARTITIONS: Final = "partitions"
REPLICATION_FACTOR: Final = "replication_factor"
REPLICAS: Final = "replicas of partition "
"""Followed by the number of the partition."""


def planned_topic(
    name: str,
    declared: TopicState,
    current: TopicState | None,
    secrets: Collection[SecretKey],
    *,
    set_secrets: bool,
) -> Iterator[PlannedItem]:
    """A topic: one item for what can be done, and one for what cannot.

    Args:
        name: of the topic.
        declared: as it is wanted.
        current: as it is; None if it does not exist.
        secrets, set_secrets: see `changed_configs`.
    """
    resource = ConfigResource.topic(name)
    configs = changed_configs(
        resource, declared.configs, {} if current is None else current.configs, secrets, set_secrets=set_secrets
    )
    if current is None:
        yield PlannedItem(kind=Kind.TOPICS, item=name, action=Action.CREATE, changes=(*_created(declared), *configs))
        return
    changes = (*_added_partitions(declared, current), *configs)
    impossible = tuple(_impossible(name, declared, current))
    if changes:
        yield PlannedItem(kind=Kind.TOPICS, item=name, action=Action.CHANGE, changes=changes)
    elif not impossible:
        yield PlannedItem(kind=Kind.TOPICS, item=name, action=Action.UNCHANGED, reason="as declared")
    for change, reason in impossible:
        yield PlannedItem(kind=Kind.TOPICS, item=name, action=Action.IMPOSSIBLE, changes=(change,), reason=reason)


def topic_values(name: str, topic: TopicState) -> dict[str, str | None]:
    """The values of a topic of a cluster."""
    values = {PARTITIONS: number(topic.partitions), REPLICATION_FACTOR: number(topic.replication_factor)}
    return {**values, **config_values(ConfigResource.topic(name), topic.configs)}


def _created(topic: TopicState) -> Iterator[ValueChange]:
    if topic.assignments:
        yield from _replicas(topic.assignments)
        return
    for name, value in ((PARTITIONS, topic.partitions), (REPLICATION_FACTOR, topic.replication_factor)):
        if value is not None:
            yield ValueChange(name, None, str(value))


def _replicas(assignments: Mapping[int, tuple[int, ...]]) -> Iterator[ValueChange]:
    for partition, brokers in sorted(assignments.items()):
        yield ValueChange(f"{REPLICAS}{partition}", None, ",".join(map(str, brokers)))


def _wanted_partitions(declared: TopicState) -> int | None:
    return len(declared.assignments) if declared.assignments else declared.partitions


def _added_partitions(declared: TopicState, current: TopicState) -> Iterator[ValueChange]:
    wanted, present = _wanted_partitions(declared), current.partitions
    if wanted is None or present is None or wanted <= present:
        return
    yield ValueChange(PARTITIONS, str(present), str(wanted))
    if declared.assignments:
        new = {partition: brokers for partition, brokers in declared.assignments.items() if partition >= present}
        yield from _replicas(new)


def _impossible(name: str, declared: TopicState, current: TopicState) -> Iterator[tuple[ValueChange, str]]:
    wanted, present = _wanted_partitions(declared), current.partitions
    if wanted is not None and present is not None and wanted < present:
        yield (
            ValueChange(PARTITIONS, str(present), str(wanted)),
            f"Kafka removes no partitions; declare {present}, or create another topic and copy the records",
        )
    factor = declared.replication_factor
    if factor is not None and not declared.assignments and factor != current.replication_factor:
        change = ValueChange(REPLICATION_FACTOR, number(current.replication_factor) or "differs", str(factor))
        plan = f"kafkawire reassign plan {name} --replication-factor {factor} --out moves.json"
        yield change, f"replicas are moved by other commands: {plan}, then kafkawire reassign run moves.json"
    yield from _moved(name, declared, current)


def _moved(name: str, declared: TopicState, current: TopicState) -> Iterator[tuple[ValueChange, str]]:
    for partition, brokers in sorted((declared.assignments or {}).items()):
        present = (current.assignments or {}).get(partition)
        if present is not None and present != brokers:
            yield (
                ValueChange(f"{REPLICAS}{partition}", ",".join(map(str, present)), ",".join(map(str, brokers))),
                f"replicas are moved by another command: kafkawire reassign run, with {name} {partition} in its file",
            )
