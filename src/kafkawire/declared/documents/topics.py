"""``topics``: partitions, replicas and configs by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.declared.documents.config_values import read_configs
from kafkawire.declared.documents.fields import Reading
from kafkawire.declared.documents.nodes import Node, Scalar, Sequence, shown
from kafkawire.declared.documents.problems import Rule
from kafkawire.declared.planned import Kind
from kafkawire.declared.state import TopicState
from kafkawire.model.configs.resources import ConfigResource

KEYS: Final = ("partitions", "replication_factor", "configs", "assignments")

MOST_PARTITIONS: Final = 2**31 - 1
MOST_REPLICAS: Final = 2**15 - 1
HIGHEST_BROKER: Final = 2**31 - 1

PARTITION_PATTERN: Final = "^(0|[1-9][0-9]{0,9})$"
_PARTITION: Final = re.compile(PARTITION_PATTERN)
_PLAIN_NAME: Final = re.compile(r"[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,248}")


def read_topics(node: Node, reading: Reading) -> None:
    """Read the topics of a document."""
    for key, value in reading.entries(node, "topics"):
        read_topic(key, value, reading)


def read_topic(key: Scalar, value: Node, reading: Reading) -> None:
    """Read one topic."""
    topic = _topic(key.text, value, reading)
    if add_name(key, key.text, reading) and topic is not None:
        reading.topics[key.text] = topic


def add_name(node: Node, name: str, reading: Reading) -> bool:
    """Whether a topic has a name that brokers accept and that is new; else a problem is added."""
    if not _PLAIN_NAME.fullmatch(name):
        try:
            check_topic_name(name)
        except ItemError as error:
            reading.error(node, Rule.VALUE, str(error), "rename the topic")
            return False
    if not reading.is_new(Kind.TOPICS, name, node, f"the topic {name}"):
        return False
    other = reading.similar_topics.setdefault(name.replace(".", "_"), name)
    if other != name:
        message = f"the topic {name} collides with {other}: in metrics . and _ are the same"
        reading.warning(node, Rule.VALUE, message, "rename one of the two: brokers refuse it if the other exists alone")
    return True


def _topic(name: str, node: Node, reading: Reading) -> TopicState | None:
    """The state; None if a problem makes it useless."""
    if isinstance(node, Scalar) and node.is_null:
        return TopicState()
    before = reading.errors
    given = reading.known(node, f"the topic {shown(name)}", KEYS)
    partitions = replicas = None
    if (number := given.get("partitions")) is not None:
        partitions = reading.whole_number(number, "partitions", 1, MOST_PARTITIONS)
    if (number := given.get("replication_factor")) is not None:
        replicas = reading.whole_number(number, "replication_factor", 1, MOST_REPLICAS)
    configs: Mapping[str, str | None] = {}
    if (table := given.get("configs")) is not None:
        configs = read_configs(table, ConfigResource.topic(name), reading)
    assignments = None
    if (table := given.get("assignments")) is not None:
        assignments = _assignments(table, reading)
        _compare(assignments, partitions, replicas, table, reading)
    if reading.errors > before:
        return None
    return TopicState(
        partitions=partitions, replication_factor=replicas, assignments=assignments or None, configs=configs
    )


def _assignments(node: Node, reading: Reading) -> dict[int, tuple[int, ...]]:
    assignments: dict[int, tuple[int, ...]] = {}
    for key, value in reading.entries(node, "assignments"):
        partition = int(key.text) if _PARTITION.fullmatch(key.text) else None
        if partition is None:
            reading.error(key, Rule.STRUCTURE, f"{shown(key.text)} is no partition", "number them from 0")
        if not isinstance(value, Sequence) or not value.items:
            message = "the replicas of a partition: expected a list of ids of brokers"
            reading.error(value, Rule.STRUCTURE, message, "write [1, 2, 3], the preferred leader first")
            continue
        ids = [reading.whole_number(each, "the id of a broker", 0, HIGHEST_BROKER) for each in value.items]
        brokers = tuple(each for each in ids if each is not None)
        if len(set(brokers)) < len(brokers):
            reading.error(value, Rule.VALUE, "a broker is there twice", "name each broker once")
        elif partition is not None and len(brokers) == len(ids):
            assignments[partition] = brokers
    return assignments


def _compare(
    assignments: Mapping[int, tuple[int, ...]],
    partitions: int | None,
    replicas: int | None,
    node: Node,
    reading: Reading,
) -> None:
    if assignments and sorted(assignments) != list(range(len(assignments))):
        reading.error(node, Rule.VALUE, "the partitions of assignments have gaps", "number them from 0 without gaps")
    elif assignments and partitions not in (None, len(assignments)):
        message = f"assignments has {len(assignments)} partitions, and partitions says {partitions}"
        reading.error(node, Rule.VALUE, message, "remove partitions, or correct one of them")
    elif replicas is not None and any(len(each) != replicas for each in assignments.values()):
        message = f"replication_factor says {replicas}, and assignments have other numbers of brokers"
        reading.error(node, Rule.VALUE, message, "remove replication_factor, or correct one of them")
