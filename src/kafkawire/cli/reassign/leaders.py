"""``kafkawire reassign elect-leaders``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import typer

from kafkawire.admin import (
    BlockingAdminClient,
    ElectionType,
    PartitionDescription,
    Results,
    TopicDescription,
    TopicPartition,
)
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.existing_topics import existing_topics
from kafkawire.protocol.errors import EligibleLeadersNotAvailableError, PreferredLeaderNotAvailableError
from kafkawire.wire.kafka_errors import KafkaError

TopicsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="TOPIC...", help="Topics; by default all partitions that need it.")
]
UncleanOption = Annotated[
    bool, typer.Option("--unclean", help="Any replica may lead, also one that lacks records: these are lost.")
]

_KIND = "partition"
_ACTION = "elect"
_NOT_NEEDED = "no election was needed"


@cluster_command
def run(
    cluster: Cluster,
    topics: TopicsArgument = None,
    unclean: UncleanOption = False,
    *,
    options: ChangeOptions,
) -> None:
    """Have the preferred replica of each partition lead it, such as after all brokers were restarted.

    --dry-run is simulated: it compares leaders, preferred replicas and those in sync.
    """
    dry_run, yes, output = options
    timeout = cluster.options.timeout
    election = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
    with cluster.connected() as client:
        described = existing_topics(client, topics, timeout) if topics else {}
        if dry_run:
            rows = list(simulated_elections(described or _all_topics(client, timeout), election))
            print_outcomes([row for row in rows if topics or row.status is not Status.UNCHANGED], output)
            return
        question = "elect leaders that may lack records, which are lost then" if unclean else "elect preferred leaders"
        confirm(cluster, question, yes=yes, destructive=unclean)
        partitions = [TopicPartition(name, each.partition) for name, each in _partitions(described)]
        results = client.elect_leaders(partitions if topics else None, election, timeout=timeout)
    print_outcomes(_rows(results), output)


def _all_topics(client: BlockingAdminClient, timeout: float) -> Mapping[str, TopicDescription]:
    return existing_topics(client, client.list_topics(include_internal=True, timeout=timeout), timeout)


def _partitions(topics: Mapping[str, TopicDescription]) -> Iterator[tuple[str, PartitionDescription]]:
    for name, topic in topics.items():
        for each in topic.partitions:
            yield name, each


def _rows(results: Results[TopicPartition, bool]) -> Iterator[OutcomeRow]:
    for partition, outcome in results.items():
        if isinstance(outcome, KafkaError):
            yield OutcomeRow.failed(str(partition), _KIND, _ACTION, outcome)
        elif outcome:
            yield OutcomeRow(str(partition), _KIND, _ACTION, Status.DONE)
        else:
            yield OutcomeRow(str(partition), _KIND, _ACTION, Status.UNCHANGED, reason=_NOT_NEEDED)


def simulated_elections(topics: Mapping[str, TopicDescription], election: ElectionType) -> Iterator[OutcomeRow]:
    """What elections in the partitions of topics would do.

    Args:
        topics: as they are now.
        election: whether the preferred replica is to lead, or any that is left.
    """
    for name, each in _partitions(topics):
        item = str(TopicPartition(name, each.partition))
        yield _of_any(item, each) if election is ElectionType.UNCLEAN else _of_preferred(item, each)


def _of_preferred(item: str, partition: PartitionDescription) -> OutcomeRow:
    preferred = partition.replicas[0]
    if partition.leader == preferred:
        return OutcomeRow(item, _KIND, _ACTION, Status.UNCHANGED, reason=_NOT_NEEDED)
    if preferred not in partition.isr or preferred in partition.offline:
        reason = f"broker {preferred} is {'offline' if preferred in partition.offline else 'not in sync'}"
        return OutcomeRow.failed(item, _KIND, _ACTION, PreferredLeaderNotAvailableError(reason))
    before = "" if partition.leader is None else f" in place of {partition.leader}"
    return OutcomeRow(
        item, _KIND, _ACTION, Status.WOULD_BE_DONE, reason=f"simulated: broker {preferred} would lead{before}"
    )


def _of_any(item: str, partition: PartitionDescription) -> OutcomeRow:
    if partition.leader is not None:
        return OutcomeRow(item, _KIND, _ACTION, Status.UNCHANGED, reason=_NOT_NEEDED)
    live = [each for each in partition.replicas if each not in partition.offline]
    if not live:
        brokers = ", ".join(map(str, partition.replicas))
        reason = f"all its replicas are offline; start one of the brokers {brokers}"
        return OutcomeRow.failed(item, _KIND, _ACTION, EligibleLeadersNotAvailableError(reason))
    reason = f"simulated: broker {' or '.join(map(str, live))} would lead, and records that it lacks are lost"
    return OutcomeRow(item, _KIND, _ACTION, Status.WOULD_BE_DONE, reason=reason)
