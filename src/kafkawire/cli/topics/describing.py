"""``kafkawire topics describe``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from kafkawire.admin import (
    BlockingAdminClient,
    ConfigEntry,
    ConfigResource,
    PartitionDescription,
    Results,
    TopicDescription,
)
from kafkawire.cli.access.changes import failures_printed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.watching import WatchOption, print_watched
from kafkawire.cli.topics.listing import present, replication_factor
from kafkawire.cli.topics.partition_states import (
    StateOptions,
    TopicStates,
)
from kafkawire.cli.topics.selection import TopicOptions, chosen_topics, wanted_names
from kafkawire.cli.visible import visible
from kafkawire.column_roles import ColumnRole


class PartitionRow(Row, frozen=True, kw_only=True):
    """A partition of a topic; brokers are given by their ids.

    Attributes:
        partition: its number.
        leader: the broker that leads it; null if there is none.
        replicas: brokers that hold it, the preferred leader first.
        isr: those that are in sync.
        elr: brokers that may lead although they are not in sync (KIP-966); null if unknown.
        offline: those that are not reachable.
        leader_epoch: the epoch of the leader; null if unknown.
        last_known_elr: the last of ``elr`` before all were gone; null if unknown.
    """

    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None
    offline: tuple[int, ...]
    leader_epoch: int | None
    last_known_elr: tuple[int, ...] | None

    ROLES: ClassVar = {"leader_epoch": ColumnRole.DETAIL, "last_known_elr": ColumnRole.DETAIL}


class TopicConfigRow(Row, frozen=True):
    """A config of a topic that does not have Kafka's default.

    Attributes:
        name: its name.
        value: its value; null if it is sensitive.
        source: where it is set: ``DYNAMIC_TOPIC_CONFIG`` is the topic itself.
    """

    name: str
    value: str | None
    source: str


class TopicDescriptionRow(Row, frozen=True, kw_only=True):
    """A topic with its partitions and configs.

    Attributes:
        topic: its name.
        partition_count: how many partitions it has.
        replication_factor: replicas of its first partition.
        topic_id: its id, in Kafka's base64.
        is_internal: whether Kafka itself uses it.
        partitions: all of them, or those in the requested states.
        configs: those that do not have Kafka's default; null if the user may not read them.
    """

    topic: str
    partition_count: int
    replication_factor: int | None
    topic_id: str | None
    is_internal: bool
    partitions: tuple[PartitionRow, ...]
    configs: tuple[TopicConfigRow, ...] | None

    ROLES: ClassVar = {"is_internal": ColumnRole.DETAIL}


@cluster_command
def run(
    cluster: Cluster,
    given: TopicOptions,
    states: StateOptions,
    watch: WatchOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Describe topics: partitions with leaders and replicas, and the configs that do not have Kafka's default."""
    timeout = cluster.options.timeout
    names = wanted_names(given.topics, given.file)
    with cluster.connected() as client:
        chosen = chosen_topics(client, names, given.regex, internal=given.internal, timeout=timeout)
        with failures_printed(Results[str, None]({**dict.fromkeys(chosen.names), **chosen.unknown})):
            print_watched(
                lambda: list(_rows(client, chosen.names, states, timeout)),
                TopicDescriptionRow,
                output,
                watch,
                empty="no topics",
            )


def _rows(
    client: BlockingAdminClient, names: Sequence[str], wanted: StateOptions, timeout: float
) -> Iterable[TopicDescriptionRow]:
    described = present(client.describe_topics(names, timeout=timeout))
    states = TopicStates(client, described.values(), wanted, timeout)
    shown = {
        name: [each for each in topic.partitions if states.are_wanted(name, each)] for name, topic in described.items()
    }
    listed = [name for name in described if shown[name]]
    configs = _configs(client, listed, timeout)
    return [_row(described[name], shown[name], configs.get(name)) for name in listed]


def _configs(
    client: BlockingAdminClient, names: Sequence[str], timeout: float
) -> Mapping[str, Mapping[str, ConfigEntry]]:
    results = client.describe_configs(map(ConfigResource.topic, names), timeout=timeout)
    errors = results.errors()
    if errors:
        first = visible(str(next(iter(errors.values()))))
        print(f"kafkawire: the configs of {len(errors)} topics cannot be read: {first}", file=sys.stderr)
    return {resource.name: configs for resource, configs in results.values().items()}


def _row(
    topic: TopicDescription, partitions: Iterable[PartitionDescription], configs: Mapping[str, ConfigEntry] | None
) -> TopicDescriptionRow:
    return TopicDescriptionRow(
        topic=topic.name,
        partition_count=len(topic.partitions),
        replication_factor=replication_factor(topic),
        topic_id=None if topic.topic_id is None else str(topic.topic_id),
        is_internal=topic.is_internal,
        partitions=tuple(map(_partition_row, partitions)),
        configs=None
        if configs is None
        else tuple(
            TopicConfigRow(name, entry.value, str(entry.source))
            for name, entry in sorted(configs.items())
            if not entry.is_default
        ),
    )


def _partition_row(partition: PartitionDescription) -> PartitionRow:
    return PartitionRow(
        partition=partition.partition,
        leader=partition.leader,
        replicas=partition.replicas,
        isr=partition.isr,
        elr=partition.eligible_leader_replicas,
        offline=partition.offline,
        leader_epoch=partition.leader_epoch,
        last_known_elr=partition.last_known_eligible_leader_replicas,
    )
