"""``kafkawire groups describe`` and ``members``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, TypeAlias

import typer

from kafkawire.admin import (
    BlockingAdminClient,
    ClassicGroupDescription,
    ConsumerGroupDescription,
    GroupType,
    Results,
    ShareGroupDescription,
    StreamsGroupDescription,
    TopicPartition,
)
from kafkawire.cli.access.changes import failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.protocol.errors import GroupIdNotFoundError
from kafkawire.wire.kafka_errors import KafkaError

GroupDescription: TypeAlias = (
    ClassicGroupDescription | ConsumerGroupDescription | ShareGroupDescription | StreamsGroupDescription
)


class GroupDescriptionRow(Row, frozen=True):
    """A group.

    Attributes:
        group: its id.
        type: classic, consumer, share or streams.
        state: its state.
        members: how many it has.
        coordinator: id of the broker that coordinates it.
        assignor: what hands out partitions; None where nothing does.
        epoch: how often it has changed; None for classic groups.
    """

    group: str
    type: str
    state: str
    members: int
    coordinator: int
    assignor: str | None
    epoch: int | None


class MemberRow(Row, frozen=True):
    """A member of a group.

    Attributes:
        group: id of the group.
        client_id: of the member.
        host: the address that it comes from.
        assignment: the partitions or tasks that it has.
        member_id: its id.
        instance_id: its name if it is a static member.
        topics: those that it wants.
        rack: its rack.
        epoch: the epoch of the group that it has reached; None in classic groups.
    """

    group: str
    client_id: str
    host: str
    assignment: tuple[str, ...]
    member_id: str
    instance_id: str | None
    topics: tuple[str, ...]
    rack: str | None
    epoch: int | None

    ROLES: ClassVar = {
        "client_id": ColumnRole.KEY,
        "member_id": ColumnRole.DETAIL,
        "instance_id": ColumnRole.DETAIL,
        "rack": ColumnRole.DETAIL,
        "epoch": ColumnRole.DETAIL,
    }

    @property
    def row_name(self) -> str:
        """The id of the member."""
        return self.member_id


GroupsArgument = Annotated[list[str], typer.Argument(metavar="GROUP...", help="Ids of the groups.")]


@cluster_command
def describe(cluster: Cluster, groups: GroupsArgument, output: FormatOption = RowFormat.TABLE) -> None:
    """Describe groups of any type: state, number of members, coordinator, assignor."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        found = described_groups(client, groups, timeout)
        names = known_groups(client, found.errors(), timeout)
    with failures_printed(found, names):
        print_rows(map(_row, found.values().values()), GroupDescriptionRow, output, empty=None)


@cluster_command
def members(cluster: Cluster, groups: GroupsArgument, output: FormatOption = RowFormat.TABLE) -> None:
    """List the members of groups, and the partitions that each has."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        found = described_groups(client, groups, timeout)
        names = known_groups(client, found.errors(), timeout)
    rows = [row for each in found.values().values() for row in _members(each)]
    with failures_printed(found, names):
        print_rows(rows, MemberRow, output, empty=unless_failed(found, "no members"))


def described_groups(
    client: BlockingAdminClient, groups: Sequence[str], timeout: float
) -> Results[str, GroupDescription]:
    """Groups of any type; most are of consumers, so these come first."""
    outcomes: dict[str, GroupDescription | KafkaError] = dict(
        client.describe_consumer_groups(groups, timeout=timeout).items()
    )
    for describe_others in (
        client.describe_share_groups,
        client.describe_streams_groups,
        client.describe_classic_groups,
    ):
        absent = [group for group, outcome in outcomes.items() if isinstance(outcome, GroupIdNotFoundError)]
        if absent:
            outcomes.update(describe_others(absent, timeout=timeout).values())
    return Results(outcomes, groups)


def known_groups(client: BlockingAdminClient, errors: Mapping[str, KafkaError], timeout: float) -> list[str]:
    """The groups that exist, if one of those named does not; for a suggestion."""
    if not any(isinstance(error, GroupIdNotFoundError) for error in errors.values()):
        return []
    return [each.group_id for each in client.list_groups(timeout=timeout).values()]


def _row(group: GroupDescription) -> GroupDescriptionRow:
    match group:
        case ClassicGroupDescription():
            return _described(group, GroupType.CLASSIC, group.protocol, None)
        case ConsumerGroupDescription():
            return _described(group, group.type, group.assignor, group.group_epoch)
        case ShareGroupDescription():
            return _described(group, GroupType.SHARE, group.assignor, group.group_epoch)
        case StreamsGroupDescription():
            return _described(group, GroupType.STREAMS, group.assignor, group.group_epoch)


def _described(
    group: GroupDescription, kind: GroupType, assignor: str | None, epoch: int | None
) -> GroupDescriptionRow:
    return GroupDescriptionRow(
        group.group_id, kind, group.state, len(group.members), group.coordinator, assignor or None, epoch
    )


def _members(group: GroupDescription) -> Iterator[MemberRow]:
    name = group.group_id
    match group:
        case ClassicGroupDescription():
            for classic in group.members:
                assignment = _texts(classic.partitions or ())
                yield MemberRow(
                    name, classic.client_id, classic.client_host, assignment, classic.member_id,
                    classic.group_instance_id, classic.subscribed_topics or (), classic.rack_id, None,
                )  # fmt: skip
        case ConsumerGroupDescription():
            for each in group.members:
                wanted = each.subscribed_topics or ((each.subscribed_regex,) if each.subscribed_regex else ())
                yield MemberRow(
                    name, each.client_id, each.client_host, _texts(each.assignment), each.member_id,
                    each.group_instance_id, wanted, each.rack_id, each.member_epoch,
                )  # fmt: skip
        case ShareGroupDescription():
            for sharing in group.members:
                yield MemberRow(
                    name, sharing.client_id, sharing.client_host, _texts(sharing.assignment), sharing.member_id,
                    None, sharing.subscribed_topics, sharing.rack_id, sharing.member_epoch,
                )  # fmt: skip
        case StreamsGroupDescription():
            for streaming in group.members:
                tasks = tuple(f"{task.subtopology_id}_{task.partition}" for task in streaming.assignment.active)
                yield MemberRow(
                    name, streaming.client_id, streaming.client_host, tasks, streaming.member_id,
                    streaming.group_instance_id, (), streaming.rack_id, streaming.member_epoch,
                )  # fmt: skip


def _texts(partitions: Iterable[TopicPartition]) -> tuple[str, ...]:
    return tuple(map(str, sorted(partitions)))
