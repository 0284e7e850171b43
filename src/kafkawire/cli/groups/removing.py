"""``kafkawire groups remove-members``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from kafkawire.admin import (
    BlockingAdminClient,
    ClassicGroupDescription,
    ClassicGroupMember,
    ConsumerGroupDescription,
    ConsumerGroupMember,
    MemberToRemove,
)
from kafkawire.admin.operations.groups import REMOVED_BY_ADMIN
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.groups.describing import described_groups
from kafkawire.cli.groups.explaining import explained, meaning_of
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.codegen.report.text import counted
from kafkawire.protocol.errors import GroupIdNotFoundError, UnknownMemberIdError
from kafkawire.wire.kafka_errors import KafkaError

GroupArgument = Annotated[str, typer.Argument(metavar="GROUP", help="Id of the group.")]
MembersOption = Annotated[list[str] | None, typer.Option("--member", metavar="ID", help="Id of a member; repeatable.")]
InstancesOption = Annotated[
    list[str] | None, typer.Option("--instance", metavar="NAME", help="Name of a static member; repeatable.")
]
AllOption = Annotated[bool, typer.Option("--all", help="All members.")]
ReasonOption = Annotated[str, typer.Option(metavar="TEXT", help="For the log of the coordinator.")]

_KIND = "member"
_ACTION = "remove"


@cluster_command
def run(
    cluster: Cluster,
    group: GroupArgument,
    member: MembersOption = None,
    instance: InstancesOption = None,
    all_members: AllOption = False,
    reason: ReasonOption = REMOVED_BY_ADMIN,
    *,
    options: ChangeOptions,
) -> None:
    """Remove members from a group of consumers; those that still run join again.

    --dry-run is simulated: the group and the members must exist.
    """
    dry_run, yes, output = options
    named = [MemberToRemove(each) for each in dict.fromkeys(member or ())]
    named += [MemberToRemove(group_instance_id=each) for each in dict.fromkeys(instance or ())]
    if bool(named) == all_members:
        raise CommandError("name members by --member or --instance, or give --all", ExitCode.USAGE)
    timeout = cluster.options.timeout
    if not dry_run:
        question = f"remove {'all members' if all_members else counted(len(named), 'member')} of {group}"
        confirm(cluster, question, yes=yes)
    with cluster.connected() as client:
        members = _members(client, group, timeout)
        if dry_run or isinstance(members, GroupIdNotFoundError):
            rows = list(simulated_removal(group, members, named))
        else:
            results = client.remove_members_from_consumer_group(
                group, None if all_members else named, reason=reason, timeout=timeout
            )
            rows = outcome_rows(explained(results), _KIND, _ACTION, name=_name)
    print_outcomes(rows, output)


def _members(
    client: BlockingAdminClient, group: str, timeout: float
) -> Sequence[ConsumerGroupMember | ClassicGroupMember] | KafkaError:
    """The members of a group; an error if none of it can be removed."""
    [(_, described)] = described_groups(client, [group], timeout).items()
    match described:
        case KafkaError() as error:
            return error
        case ConsumerGroupDescription(members=members) | ClassicGroupDescription(members=members):
            return members
        case _:
            return GroupIdNotFoundError(f"{group} is no group of consumers; stop its members where they run")


def simulated_removal(
    group: str,
    members: Sequence[ConsumerGroupMember | ClassicGroupMember] | KafkaError,
    named: Sequence[MemberToRemove],
) -> Iterator[OutcomeRow]:
    """What a removal would do.

    Args:
        group: its id.
        members: those that it has, or why they cannot be removed.
        named: those that are to go; none for all.
    """
    if isinstance(members, KafkaError):
        for item in map(_name, named) if named else (group,):
            yield OutcomeRow.failed(item, _KIND, _ACTION, members)
        return
    by_id = {each.member_id: each for each in members}
    by_instance = {each.group_instance_id: each for each in members if each.group_instance_id is not None}
    everyone = [
        MemberToRemove(group_instance_id=each.group_instance_id)
        if each.group_instance_id is not None
        else MemberToRemove(each.member_id)
        for each in members
    ]
    for wanted in named or everyone:
        name = _name(wanted)
        found = by_id.get(wanted.member_id) if wanted.group_instance_id is None else by_instance.get(name)
        if found is None:
            yield OutcomeRow.failed(name, _KIND, _ACTION, meaning_of(UnknownMemberIdError))
        else:
            reason = f"simulated: {found.client_id} at {found.client_host}"
            yield OutcomeRow(name, _KIND, _ACTION, Status.WOULD_BE_DONE, reason=reason)


def _name(member: MemberToRemove) -> str:
    return member.group_instance_id or member.member_id
