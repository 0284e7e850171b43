"""``kafkawire groups reset``: groups go on elsewhere; without ``--execute`` nothing is changed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import ResetOffset, Results, ToOffset, TopicPartition
from kafkawire.admin.offset_resets import ResetTarget
from kafkawire.admin.operations.group_offsets import GroupSelection
from kafkawire.cli.access.changes import Status, YesOption, confirm
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.existing_topics import existing_partitions
from kafkawire.cli.groups.offsets_file import read_offsets
from kafkawire.cli.groups.reset_targets import (
    CurrentOption,
    DurationOption,
    EarliestOption,
    FileOption,
    GivenTargets,
    LatestOption,
    OffsetOption,
    ShiftOption,
    TimeOption,
    chosen_target,
)
from kafkawire.cli.items import first_names
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.wire.kafka_errors import KafkaError


class ResetRow(Row, frozen=True):
    """A partition in which a group goes on elsewhere.

    Attributes:
        group: its id.
        topic, partition: which; None for an error of the whole group.
        offset: where the group went on before; None if nothing was committed.
        new_offset: where it goes on after.
        shift: how far it moves; below 0 for back, which means to read again.
        status: done, would be done, or failed.
        error: why it failed, or that the wanted offset lies outside of the partition.
    """

    group: str
    topic: str | None
    partition: int | None
    offset: int | None
    new_offset: int | None
    shift: int | None
    status: Status
    error: str | None = None

    ROLES: ClassVar = {"topic": ColumnRole.KEY, "partition": ColumnRole.KEY, "error": ColumnRole.ERROR}


GroupsArgument = Annotated[list[str] | None, typer.Argument(metavar="GROUP...", help="Ids of the groups.")]
TopicsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--topic",
        metavar="TOPIC[:0,1]",
        help="A topic, or some of its partitions; repeatable; by default all that the group has offsets for.",
    ),
]
ExecuteOption = Annotated[bool, typer.Option("--execute", help="Do it; else the rows show what would be done.")]


@cluster_command
def run(
    cluster: Cluster,
    groups: GroupsArgument = None,
    topic: TopicsOption = None,
    to_earliest: EarliestOption = False,
    to_latest: LatestOption = False,
    to_current: CurrentOption = False,
    to_offset: OffsetOption = None,
    to_datetime: TimeOption = None,
    by_duration: DurationOption = None,
    shift_by: ShiftOption = None,
    from_file: FileOption = None,
    execute: ExecuteOption = False,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Reset the offsets of groups without members; only shows the new offsets unless --execute is given."""
    target = chosen_target(
        GivenTargets(
            to_earliest, to_latest, to_current, to_offset, to_datetime, by_duration, shift_by, from_file
        )
    )  # fmt: skip
    named = list(dict.fromkeys(groups or ()))
    if isinstance(target, Path):
        rows = _to_offsets(cluster, read_offsets(target, named), topic, execute=execute, yes=yes)
    else:
        rows = _to_target(cluster, named, topic or (), target, execute=execute, yes=yes)
    print_rows(rows, ResetRow, output, empty="no group has offsets there; --topic names topics")
    if not execute and any(row.status is Status.WOULD_BE_DONE for row in rows):
        print("nothing was changed; --execute does it", file=sys.stderr)
    failed = sum(row.status is Status.FAILED for row in rows)
    if failed:
        raise typer.Exit(ExitCode.FAILED if failed == len(rows) else ExitCode.SOME_FAILED)


def _to_target(
    cluster: Cluster,
    groups: Sequence[str],
    topics: Sequence[str],
    target: ResetTarget,
    *,
    execute: bool,
    yes: bool,
) -> list[ResetRow]:
    if not groups:
        raise CommandError("no group is named; name groups as arguments", ExitCode.USAGE)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        selection: GroupSelection = groups
        if topics:
            partitions = existing_partitions(client, topics, timeout, "--topic")
            selection = dict.fromkeys(groups, partitions)
        _confirm(cluster, groups, execute=execute, yes=yes)
        results = client.reset_offsets(selection, target, dry_run=not execute, timeout=timeout)
    return list(_rows(results.items(), execute=execute))


def _to_offsets(
    cluster: Cluster,
    wanted: Mapping[str, Mapping[TopicPartition, int]],
    topics: Sequence[str] | None,
    *,
    execute: bool,
    yes: bool,
) -> list[ResetRow]:
    """Partitions of a group that go to the same offset go in one call."""
    if topics:
        message = "--topic: the lines of --from-file name the topics; leave one of the two out"
        raise CommandError(message, ExitCode.USAGE)
    _confirm(cluster, list(wanted), execute=execute, yes=yes)
    rows: list[ResetRow] = []
    with cluster.connected() as client:
        for group, offsets in wanted.items():
            same: dict[int, list[TopicPartition]] = {}
            for partition, offset in offsets.items():
                same.setdefault(offset, []).append(partition)
            for offset, partitions in same.items():
                results = client.reset_offsets(
                    {group: partitions}, ToOffset(offset), dry_run=not execute, timeout=cluster.options.timeout
                )
                rows += _rows(results.items(), execute=execute)
    return rows


def _confirm(cluster: Cluster, groups: Sequence[str], *, execute: bool, yes: bool) -> None:
    if execute:
        confirm(cluster, f"reset the offsets of {first_names(groups)}", yes=yes, to_look="no --execute")


def _rows(
    results: Iterable[tuple[str, Results[TopicPartition, ResetOffset] | KafkaError]], *, execute: bool
) -> Iterator[ResetRow]:
    done = Status.DONE if execute else Status.WOULD_BE_DONE
    for group, offsets in results:
        if isinstance(offsets, KafkaError):
            yield ResetRow(group, None, None, None, None, None, Status.FAILED, str(offsets))
            continue
        for where, reset in sorted(offsets.items(), key=lambda item: item[0]):
            if isinstance(reset, KafkaError):
                yield ResetRow(group, where.topic, where.partition, None, None, None, Status.FAILED, str(reset))
                continue
            before, after = reset.previous_offset, reset.new_offset
            remark = "the nearest offset that the partition has" if reset.is_clamped else None
            shift = None if before is None else after - before
            yield ResetRow(group, where.topic, where.partition, before, after, shift, done, remark)
