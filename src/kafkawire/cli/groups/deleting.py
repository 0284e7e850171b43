"""``kafkawire groups delete`` and ``delete-offsets``."""

from __future__ import annotations

from typing import Annotated

import typer

from kafkawire.cli.access.changes import (
    DryRunOption,
    OutcomeRow,
    Status,
    YesOption,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.groups.describing import described_groups
from kafkawire.cli.groups.removing import GroupArgument
from kafkawire.cli.items import FromOption, first_names, given_names
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
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
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Delete groups of any type, with their offsets. --dry-run is simulated: a group must exist and have no members."""
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
    print_outcomes(outcome_rows(results, "group", "delete"), output)


def _simulated(group: str, outcome: object) -> OutcomeRow:
    if isinstance(outcome, KafkaError):
        return OutcomeRow.failed(group, "group", "delete", outcome)
    members = len(getattr(outcome, "members", ()))
    if members:
        reason = f"it has {members} members; stop them first"
        return OutcomeRow(group, "group", "delete", Status.FAILED, "NON_EMPTY_GROUP", reason)
    return OutcomeRow(group, "group", "delete", Status.WOULD_BE_DONE, reason="simulated")


@cluster_command
def delete_offsets(
    cluster: Cluster,
    group: GroupArgument,
    topic: TopicsOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Delete the committed offsets of a group in topics that its members no longer read. --dry-run is simulated."""
    if not topic:
        raise CommandError("--topic is missing; name the topics whose offsets shall go", ExitCode.USAGE)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        committed = client.list_consumer_group_offsets([group], timeout=timeout)[group]
        partitions = sorted(each for each in committed if each.topic in topic)
        if dry_run:
            rows = [_would(str(each)) for each in partitions]
            print_outcomes(rows, output)
            return
        if partitions:
            confirm(cluster, f"delete the offsets of {group} in {len(partitions)} partitions", yes=yes)
        results = client.delete_consumer_group_offsets(group, partitions, timeout=timeout)
    print_outcomes(outcome_rows(results, "offset", "delete"), output)


def _would(item: str) -> OutcomeRow:
    return OutcomeRow(item, "offset", "delete", Status.WOULD_BE_DONE, reason="simulated")
