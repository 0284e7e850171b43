"""``kafkawire groups delete``, ``delete-offsets`` and ``remove-members``."""

from __future__ import annotations

from typing import Annotated

import typer

from kafkawire.admin import MemberToRemove
from kafkawire.admin.operations.groups import REMOVED_BY_ADMIN
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
from kafkawire.cli.groups.describing import GroupsArgument, described_groups
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.wire.kafka_errors import KafkaError

GroupArgument = Annotated[str, typer.Argument(metavar="GROUP", help="Id of the group.")]
TopicsOption = Annotated[
    list[str] | None, typer.Option("--topic", metavar="NAME", help="Offsets of this topic; repeatable.")
]
MembersOption = Annotated[list[str] | None, typer.Option("--member", metavar="ID", help="Id of a member; repeatable.")]
InstancesOption = Annotated[
    list[str] | None, typer.Option("--instance", metavar="NAME", help="Name of a static member; repeatable.")
]
AllOption = Annotated[bool, typer.Option("--all", help="All members.")]
ReasonOption = Annotated[str, typer.Option(metavar="TEXT", help="For the log of the coordinator.")]


@cluster_command
def delete(
    cluster: Cluster,
    groups: GroupsArgument,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Delete groups of any type, with their offsets. --dry-run is simulated: a group must exist and have no members."""
    timeout = cluster.options.timeout
    if not dry_run:
        confirm(cluster, f"delete {', '.join(groups)} with the committed offsets", yes=yes)
    with cluster.connected() as client:
        if dry_run:
            described = described_groups(client, groups, timeout)
            print_outcomes(map(_simulated, groups, (outcome for _, outcome in described.items())), output)
            return
        results = client.delete_consumer_groups(groups, timeout=timeout)
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


@cluster_command
def remove_members(
    cluster: Cluster,
    group: GroupArgument,
    member: MembersOption = None,
    instance: InstancesOption = None,
    all_members: AllOption = False,
    reason: ReasonOption = REMOVED_BY_ADMIN,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Remove members from a group of consumers; those that still run join again."""
    named = [MemberToRemove(each) for each in member or ()]
    named += [MemberToRemove(group_instance_id=each) for each in instance or ()]
    if bool(named) == all_members:
        raise CommandError("name members by --member or --instance, or give --all", ExitCode.USAGE)
    confirm(cluster, f"remove {'all' if all_members else len(named)} members of {group}", yes=yes)
    with cluster.connected() as client:
        results = client.remove_members_from_consumer_group(
            group, None if all_members else named, reason=reason, timeout=cluster.options.timeout
        )
    print_outcomes(outcome_rows(results, "member", "remove", name=_name), output)


def _name(member: MemberToRemove) -> str:
    return member.group_instance_id or member.member_id
