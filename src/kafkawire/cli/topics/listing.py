"""``kafkawire topics list``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import BlockingAdminClient, ConfigResource, ConfigSource, Results, TopicDescription, TopicListing
from kafkawire.cli.access.changes import failures_printed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.watching import WatchOption, print_watched
from kafkawire.cli.topics.partition_states import (
    StateOptions,
    TopicStates,
)
from kafkawire.cli.topics.selection import (
    ChosenTopics,
    TopicOptions,
    chosen_topics,
    wanted_names,
)
from kafkawire.column_roles import ColumnRole
from kafkawire.layout import Uuid
from kafkawire.protocol.errors import UnknownTopicOrPartitionError

OverridesOption = Annotated[
    bool, typer.Option("--with-overrides", help="Only topics with configs of their own; they are in the row.")
]


class TopicRow(Row, frozen=True, kw_only=True):
    """A topic in a list.

    Attributes:
        name: its name.
        partitions: how many it has; null where only names were read.
        replication_factor: replicas of its first partition; null likewise.
        under_replicated: partitions with replicas that are not in sync; null likewise.
        unavailable: partitions without a leader; null likewise.
        overrides: the configs that are set on it; null unless requested.
        topic_id: its id, in Kafka's base64.
        is_internal: whether Kafka itself uses it.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    under_replicated: int | None = None
    unavailable: int | None = None
    overrides: Mapping[str, str | None] | None = None
    topic_id: str | None
    is_internal: bool

    ROLES: ClassVar = {
        "overrides": ColumnRole.KEY,
        "topic_id": ColumnRole.DETAIL,
        "is_internal": ColumnRole.DETAIL,
    }
    OPTIONAL: ClassVar = frozenset({"overrides"})


@cluster_command
def run(
    cluster: Cluster,
    given: TopicOptions,
    states: StateOptions,
    with_overrides: OverridesOption = False,
    watch: WatchOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List topics: all, or those of names, patterns and states."""
    timeout = cluster.options.timeout
    wanted = wanted_names(given.topics, given.file)
    with cluster.connected() as client:
        chosen = chosen_topics(client, wanted, given.regex, internal=given.internal, timeout=timeout)

        def rows() -> list[TopicRow]:
            nonlocal chosen
            if watch is not None:
                chosen = chosen_topics(client, wanted, given.regex, internal=given.internal, timeout=timeout)
            if output is RowFormat.NAME and not any(states) and not with_overrides:
                return list(_names(client, chosen, timeout))
            return list(_rows(client, chosen, states, timeout, with_overrides=with_overrides))

        with failures_printed(Results[str, None]({**dict.fromkeys(chosen.names), **chosen.unknown})):
            print_watched(rows, TopicRow, output, watch, empty="no topics")


def _names(client: BlockingAdminClient, chosen: ChosenTopics, timeout: float) -> Iterable[TopicRow]:
    listed: Mapping[str, TopicListing] = client.list_topics(include_internal=True, timeout=timeout)
    for name in chosen.names:
        if name in listed:
            topic = listed[name]
            yield TopicRow(name=name, topic_id=_text(topic.topic_id), is_internal=topic.is_internal)


def _rows(
    client: BlockingAdminClient, chosen: ChosenTopics, wanted: StateOptions, timeout: float, *, with_overrides: bool
) -> Iterable[TopicRow]:
    described = present(client.describe_topics(chosen.names, timeout=timeout))
    overrides = _overrides(client, described, timeout) if with_overrides else {}
    states = TopicStates(client, described.values(), wanted, timeout)
    for name, topic in described.items():
        if with_overrides and not overrides.get(name):
            continue
        if any(wanted) and not any(states.are_wanted(name, each) for each in topic.partitions):
            continue
        yield TopicRow(
            name=name,
            partitions=len(topic.partitions),
            replication_factor=replication_factor(topic),
            under_replicated=sum(states.is_under_replicated(name, each) for each in topic.partitions),
            unavailable=sum(each.leader is None for each in topic.partitions),
            overrides=overrides.get(name),
            topic_id=_text(topic.topic_id),
            is_internal=topic.is_internal,
        )


def present(described: Results[str | Uuid, TopicDescription]) -> dict[str, TopicDescription]:
    """The topics that still exist.

    Raises:
        KafkaError: one cannot be described for another reason.
    """
    for error in described.errors().values():
        if not isinstance(error, UnknownTopicOrPartitionError):
            raise error
    return {topic.name: topic for topic in described.values().values()}


def replication_factor(topic: TopicDescription) -> int | None:
    """Of the first partition, as Kafka's tools print it."""
    return len(topic.partitions[0].replicas) if topic.partitions else None


def _overrides(
    client: BlockingAdminClient, names: Iterable[str], timeout: float
) -> Mapping[str, Mapping[str, str | None]]:
    results = client.describe_configs(map(ConfigResource.topic, names), timeout=timeout)
    for error in results.errors().values():
        if not isinstance(error, UnknownTopicOrPartitionError):
            raise error
    return {
        resource.name: {
            entry.name: entry.value for entry in configs.values() if entry.source is ConfigSource.DYNAMIC_TOPIC_CONFIG
        }
        for resource, configs in results.values().items()
    }


def _text(topic_id: object) -> str | None:
    return None if topic_id is None else str(topic_id)
