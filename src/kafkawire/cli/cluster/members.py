"""``kafkawire cluster describe``, ``nodes`` and ``quorum``."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, ClassVar, Final

import typer

from kafkawire.admin import BlockingAdminClient
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.times import time_of
from kafkawire.column_roles import ColumnRole
from kafkawire.model.cluster import MetadataQuorum, QuorumReplica
from kafkawire.protocol.errors import UnsupportedVersionError

_METADATA_VERSION: Final = "metadata.version"


class ClusterRow(Row, frozen=True):
    """A cluster.

    Attributes:
        cluster_id: its id.
        brokers: how many are live.
        controller: id of the node that is named as controller.
        quorum_leader: id of the controller that leads the metadata quorum; None also from brokers without one.
        voters: ids of the voters of the metadata quorum.
        metadata_version: the level at which the cluster works.
        operations: what the caller may do on the cluster.
    """

    cluster_id: str | None
    brokers: int
    controller: int | None
    quorum_leader: int | None
    voters: tuple[int, ...]
    metadata_version: int | None
    operations: tuple[str, ...]

    ROLES: ClassVar = {"operations": ColumnRole.DETAIL}


class NodeRow(Row, frozen=True):
    """A member of a cluster.

    Attributes:
        node: its id.
        host, port: its address for this client.
        rack: its rack.
        is_controller: whether it is named as controller.
        is_fenced: whether it is registered and not in use.
    """

    node: int
    host: str
    port: int
    rack: str | None
    is_controller: bool
    is_fenced: bool


class QuorumRow(Row, frozen=True):
    """A voter or observer of the metadata quorum.

    Attributes:
        node: its id.
        status: leader, voter or observer.
        log_end_offset: how far its log goes.
        lag: records that the leader has and it has not.
        last_fetch: when it last fetched.
        last_caught_up: when it last had everything.
        endpoints: its addresses, with the names of their listeners.
        directory_id: id of its metadata directory.
        leader_epoch: how often leadership has changed.
        high_watermark: how far the log is committed.
    """

    node: int
    status: str
    log_end_offset: int | None
    lag: int | None
    last_fetch: datetime | None
    last_caught_up: datetime | None
    endpoints: tuple[str, ...]
    directory_id: str | None
    leader_epoch: int
    high_watermark: int

    ROLES: ClassVar = dict.fromkeys(
        ("last_fetch", "endpoints", "directory_id", "leader_epoch", "high_watermark"), ColumnRole.DETAIL
    )


FencedOption = Annotated[bool, typer.Option("--fenced", help="Brokers that are registered and not in use, too.")]


@cluster_command
def describe(cluster: Cluster, output: FormatOption = RowFormat.TABLE) -> None:
    """Describe the cluster: its id, number of brokers, quorum, metadata version, and what you may do on it."""
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        found = client.describe_cluster(include_authorized_operations=True, timeout=timeout)
        level = client.describe_features(timeout=timeout).finalized.get(_METADATA_VERSION)
        quorum = _quorum(client, timeout)
    row = ClusterRow(
        cluster_id=found.cluster_id,
        brokers=len(found.nodes),
        controller=found.controller,
        quorum_leader=None if quorum is None else quorum.leader,
        voters=() if quorum is None else tuple(each.replica_id for each in quorum.voters),
        metadata_version=None if level is None else level.highest,
        operations=tuple(sorted(each.name for each in found.authorized_operations or ())),
    )
    print_rows([row], ClusterRow, output)


def _quorum(client: BlockingAdminClient, timeout: float) -> MetadataQuorum | None:
    try:
        return client.describe_metadata_quorum(timeout=timeout)
    except UnsupportedVersionError:
        return None


@cluster_command
def nodes(cluster: Cluster, fenced: FencedOption = False, output: FormatOption = RowFormat.TABLE) -> None:
    """List the brokers of the cluster."""
    with cluster.connected() as client:
        found = client.describe_cluster(include_fenced_brokers=fenced, timeout=cluster.options.timeout)
    rows = [
        NodeRow(each.id, each.host, each.port, each.rack, each.id == found.controller, member.is_fenced)
        for member in found.nodes
        for each in [member.node]
    ]
    rows.sort(key=lambda row: row.node)
    print_rows(rows, NodeRow, output, empty="no brokers")


@cluster_command
def quorum(cluster: Cluster, output: FormatOption = RowFormat.TABLE) -> None:
    """Show the voters and observers of the metadata quorum, and how many records each still lacks."""
    with cluster.connected() as client:
        found = client.describe_metadata_quorum(timeout=cluster.options.timeout)
    print_rows(_quorum_rows(found), QuorumRow, output, empty="no members")


def _quorum_rows(quorum: MetadataQuorum) -> Iterator[QuorumRow]:
    end = next((each.log_end_offset for each in quorum.voters if each.replica_id == quorum.leader), None)
    members = [(each, "voter") for each in quorum.voters] + [(each, "observer") for each in quorum.observers]
    for member, status in sorted(members, key=lambda pair: pair[0].replica_id):
        offset = member.log_end_offset
        yield QuorumRow(
            node=member.replica_id,
            status="leader" if member.replica_id == quorum.leader else status,
            log_end_offset=offset,
            lag=None if end is None or offset is None else max(0, end - offset),
            last_fetch=time_of(member.last_fetch_timestamp_ms),
            last_caught_up=time_of(member.last_caught_up_timestamp_ms),
            endpoints=_endpoints(quorum, member),
            directory_id=None if member.directory_id is None else str(member.directory_id),
            leader_epoch=quorum.leader_epoch,
            high_watermark=quorum.high_watermark,
        )


def _endpoints(quorum: MetadataQuorum, member: QuorumReplica) -> tuple[str, ...]:
    return tuple(f"{each.listener}://{each.host}:{each.port}" for each in quorum.endpoints.get(member.replica_id, ()))
