"""Topics and partitions that a command names, and that must exist."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from kafkawire.admin import BlockingAdminClient, TopicDescription, TopicPartition
from kafkawire.cli.access.cluster_command import without_values
from kafkawire.cli.argument_texts import partitions_of
from kafkawire.cli.outcome import CommandError
from kafkawire.near_names import did_you_mean
from kafkawire.protocol.errors import UnknownTopicOrPartitionError
from kafkawire.wire.kafka_errors import KafkaError


def existing_topics(
    client: BlockingAdminClient, names: Iterable[str], timeout: float, option: str | None = None
) -> Mapping[str, TopicDescription]:
    """The topics of these names.

    Args:
        client: of the cluster.
        names: of the topics.
        timeout: of each call.
        option: that names them; None for arguments.

    Raises:
        CommandError: one cannot be described; the message names it, and a similar one if it does not exist.
    """
    described = client.describe_topics(list(dict.fromkeys(names)), timeout=timeout)
    for name, error in described.errors().items():
        place = f"{option} {name}" if option else f"the topic {name}"
        raise CommandError(f"{place}: {_reason(client, str(name), error, timeout)}")
    return {topic.name: topic for topic in described.values().values()}


def _reason(client: BlockingAdminClient, name: str, error: KafkaError, timeout: float) -> str:
    if not isinstance(error, UnknownTopicOrPartitionError):
        return str(without_values(error, with_name=False))
    meant = did_you_mean(name, client.list_topics(timeout=timeout))
    return f"there is no such topic; {meant or 'kafkawire topics list shows those that exist'}"


def existing_partitions(
    client: BlockingAdminClient, texts: Sequence[str], timeout: float, option: str
) -> list[TopicPartition]:
    """The partitions of an option, each value of which is a topic or some of its partitions: ``TOPIC[:0,1]``.

    Args:
        client: of the cluster.
        texts: the values; a topic means all its partitions.
        timeout: of each call.
        option: its name.

    Raises:
        CommandError: a value is written otherwise, or there is no such topic or partition.
    """
    whole = [text for text in texts if ":" not in text]
    named = [each for text in texts if ":" in text for each in partitions_of(text, option)]
    topics = existing_topics(client, [*whole, *(each.topic for each in named)], timeout, option)
    _check_partitions(topics, named, option)
    of_whole = [TopicPartition(name, each.partition) for name in whole for each in topics[name].partitions]
    return list(dict.fromkeys([*of_whole, *named]))


def check_partitions(client: BlockingAdminClient, partitions: Collection[TopicPartition], timeout: float) -> None:
    """Refuse partitions that do not exist; calls for one wait until the time is over.

    Args:
        client: of the cluster.
        partitions: of arguments.
        timeout: of each call.

    Raises:
        CommandError: there is no such topic or partition.
    """
    topics = existing_topics(client, [each.topic for each in partitions], timeout)
    _check_partitions(topics, partitions, None)


def _check_partitions(
    topics: Mapping[str, TopicDescription], partitions: Iterable[TopicPartition], option: str | None
) -> None:
    for each in partitions:
        last = len(topics[each.topic].partitions) - 1
        if each.partition > last:
            place = f"{option or 'the partition'} {each.topic}:{each.partition}"
            raise CommandError(f"{place}: there is no such partition; the last one is {last}")
