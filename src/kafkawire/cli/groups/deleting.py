"""``kafkawire groups delete`` and ``delete-offsets``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

import typer

from kafkawire.admin import (
    BlockingAdminClient,
    ClassicGroupDescription,
    ConsumerGroupDescription,
    ShareGroupDescription,
    StreamsGroupDescription,
    TopicPartition,
)
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.groups.describing import GroupDescription, described_groups
from kafkawire.cli.groups.explaining import explained, meaning_of
from kafkawire.cli.groups.removing import GroupArgument
from kafkawire.cli.items import FromOption, first_names, given_names
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.report.text import counted
from kafkawire.model.groups.streams import StreamsTopology
from kafkawire.protocol.errors import GroupSubscribedToTopicError, NonEmptyGroupError
from kafkawire.wire.kafka_errors import KafkaError

GroupsArgument = Annotated[list[str] | None, typer.Argument(metavar="GROUP...", help="Ids of the groups.")]
TopicsOption = Annotated[
    list[str] | None, typer.Option("--topic", metavar="NAME", help="Offsets of this topic; repeatable.")
]


@cluster_command
def delete(
    cluster: Cluster,
    groups: GroupsArgument = None,
    file: FromOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Delete groups of any type, with their offsets. --dry-run is simulated: a group must exist and have no members."""
    dry_run, yes, output = options
    wanted = given_names("group", groups, file, "group")
    timeout = cluster.options.timeout
    if not dry_run:
        confirm(cluster, f"delete {first_names(wanted)} with the committed offsets", yes=yes)
    with cluster.connected() as client:
        if dry_run:
            described = described_groups(client, wanted, timeout)
            print_outcomes([_simulated(group, outcome) for group, outcome in described.items()], output)
            return
        results = client.delete_consumer_groups(wanted, timeout=timeout)
    print_outcomes(outcome_rows(explained(results), "group", "delete"), output)


def _simulated(group: str, outcome: GroupDescription | KafkaError) -> OutcomeRow:
    if isinstance(outcome, KafkaError):
        return OutcomeRow.failed(group, "group", "delete", outcome)
    if outcome.members:
        return OutcomeRow.failed(group, "group", "delete", meaning_of(NonEmptyGroupError))
    return OutcomeRow(group, "group", "delete", Status.WOULD_BE_DONE, reason="simulated")


@cluster_command
def delete_offsets(
    cluster: Cluster,
    group: GroupArgument,
    topic: TopicsOption = None,
    *,
    options: ChangeOptions,
) -> None:
    """Delete the committed offsets of a group in topics that its members no longer read.

    --dry-run is simulated: the group must exist, and no member may read the topics; a share group must have no members.
    """
    dry_run, yes, output = options
    if not topic:
        raise CommandError("--topic is missing; name the topics whose offsets shall go", ExitCode.USAGE)
    timeout, topics = cluster.options.timeout, list(dict.fromkeys(topic))
    with cluster.connected() as client:
        committed = client.list_consumer_group_offsets([group], timeout=timeout)[group]
        partitions = sorted(each for each in committed if each.topic in topic)
        with_offsets = {each.topic for each in partitions}
        rows = [_without_offsets(each) for each in topics if each not in with_offsets]
        if dry_run or not committed:
            [(_, described)] = described_groups(client, [group], timeout).items()
            if isinstance(described, KafkaError):
                print_outcomes([OutcomeRow.failed(group, "group", "delete offsets", described)], output)
                return
            if isinstance(described, ShareGroupDescription):
                print_outcomes(_of_share_group(cluster, client, described, topics, dry_run=dry_run, yes=yes), output)
                return
            rows += simulated_deletion(described, partitions)
        elif partitions:
            number = counted(len(partitions), "partition")
            confirm(cluster, f"delete the offsets of {group} in {number}", yes=yes)
            results = client.delete_consumer_group_offsets(group, partitions, timeout=timeout)
            rows += outcome_rows(explained(results), "offset", "delete")
    print_outcomes(rows, output)


def _of_share_group(
    cluster: Cluster,
    client: BlockingAdminClient,
    group: ShareGroupDescription,
    topics: Sequence[str],
    *,
    dry_run: bool,
    yes: bool,
) -> list[OutcomeRow]:
    """Offsets of a share group go by topic: none is left without the others."""
    timeout, name = cluster.options.timeout, group.group_id
    begun = {each.topic for each in client.list_share_group_offsets([name], timeout=timeout)[name]}
    rows = [_without_offsets(each) for each in topics if each not in begun]
    wanted = [each for each in topics if each in begun]
    if dry_run:
        rows += simulated_share_deletion(group, wanted)
    elif wanted:
        confirm(cluster, f"delete the offsets of {name} in {counted(len(wanted), 'topic')}", yes=yes)
        results = client.delete_share_group_offsets(name, wanted, timeout=timeout)
        rows += outcome_rows(explained(results), "offset", "delete")
    return rows


def _without_offsets(topic: str) -> OutcomeRow:
    return OutcomeRow(topic, "offset", "delete", Status.UNCHANGED, reason="the group has committed no offsets there")


def simulated_deletion(group: GroupDescription, partitions: Iterable[TopicPartition]) -> Iterator[OutcomeRow]:
    """What a deletion of offsets would do.

    Args:
        group: as it is now.
        partitions: those whose offsets are to go.
    """
    read = _topics_of_members(group)
    for each in partitions:
        if each.topic in read:
            yield OutcomeRow.failed(str(each), "offset", "delete", meaning_of(GroupSubscribedToTopicError))
        else:
            yield OutcomeRow(str(each), "offset", "delete", Status.WOULD_BE_DONE, reason="simulated")


def _topics_of_members(group: GroupDescription) -> set[str]:
    """The topics that members read. Those of a regular expression are seen by what members have of them."""
    match group:
        case ConsumerGroupDescription():
            wanted = {topic for member in group.members for topic in member.subscribed_topics}
            for member in group.members:
                wanted |= {each.topic for each in (*member.assignment, *(member.target_assignment or ()))}
            return wanted
        case StreamsGroupDescription(topology=StreamsTopology(subtopologies=parts)) if group.members and parts:
            made = {topic.name for part in parts for topic in part.repartition_source_topics}
            return made | {topic for part in parts for topic in part.source_topics}
        case ClassicGroupDescription():
            return {topic for member in group.members for topic in member.subscribed_topics or ()}
        case _:
            return set()


def simulated_share_deletion(group: ShareGroupDescription, topics: Iterable[str]) -> Iterator[OutcomeRow]:
    """What a deletion of offsets of a share group would do.

    Args:
        group: as it is now.
        topics: those in which its offsets are to go.
    """
    for topic in topics:
        if group.members:
            yield OutcomeRow.failed(topic, "offset", "delete", meaning_of(NonEmptyGroupError))
        else:
            yield OutcomeRow(topic, "offset", "delete", Status.WOULD_BE_DONE, reason="simulated")
