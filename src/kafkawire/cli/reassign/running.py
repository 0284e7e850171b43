"""``kafkawire reassign run``: replicas begin to move as a file says."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.filesize import decimal

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.cli.access.changes import ChangeOptions, confirm, outcome_rows, print_outcomes
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.given_text import shown_path
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.reassign.assignment_file import read_assignment, write_assignment
from kafkawire.cli.reassign.planning import MoveRow, current_assignment, live_racks, move_rows
from kafkawire.cli.reassign.throttle import set_throttle
from kafkawire.cli.reassign.watching import wait_until_moved
from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.wire.kafka_errors import KafkaError

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="What plan wrote, or Kafka's own tool; - is standard input.")
]
ThrottleOption = Annotated[
    int | None, typer.Option(metavar="BYTES", help="Most bytes a second that each broker copies.", min=1)
]
RollbackOption = Annotated[
    Path | None, typer.Option(help="File for the brokers as they are now, to run if all shall be as before.")
]
WatchOption = Annotated[bool, typer.Option("--watch", help="Wait until all have moved, and remove the limit.")]


@cluster_command
def run(
    cluster: Cluster,
    file: FileArgument,
    throttle: ThrottleOption = None,
    rollback_out: RollbackOption = None,
    watch: WatchOption = False,
    *,
    options: ChangeOptions,
) -> None:
    """Move replicas to the brokers that a file names; brokers copy in the background, and the command ends before.

    --dry-run prints what would move, checked against the topics and live brokers.
    """
    dry_run, yes, output = options
    wanted = read_assignment(file)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        current = current_assignment(client, sorted({each.topic for each in wanted}), timeout)
        changed = {each: replicas for each, replicas in wanted.items() if current.get(each) != replicas}
        _check(file, wanted, current, live_racks(client, timeout))
        rows = move_rows(current, changed)
        work = _work(client, rows, timeout)
        if dry_run or not changed:
            print_rows(rows, MoveRow, output, empty="no replica needs to move")
            if changed:
                print(f"would {work}", file=sys.stderr)
            return
        confirm(cluster, work, yes=yes)
        before = {each: current[each] for each in changed}
        if rollback_out is not None:
            write_assignment(rollback_out, before)
        _start(client, before, changed, throttle, timeout, watch=watch, output=output)


def _start(
    client: BlockingAdminClient,
    before: Mapping[TopicPartition, Sequence[int]],
    changed: Mapping[TopicPartition, Sequence[int]],
    throttle: int | None,
    timeout: float,
    *,
    watch: bool,
    output: RowFormat,
) -> None:
    if throttle is not None:
        set_throttle(client, before, changed, throttle, timeout)
    results = client.alter_partition_reassignments(changed, timeout=timeout)
    if watch:
        wait_until_moved(client, list(results.values()), timeout, remove_limits=throttle is not None)
    elif throttle is not None:
        print("the limit stays until: kafkawire reassign watch --remove-throttle", file=sys.stderr)
    print_outcomes(outcome_rows(results, "partition", "move" if watch else "begin to move"), output)


def _work(client: BlockingAdminClient, rows: Sequence[MoveRow], timeout: float) -> str:
    """How much is copied; without the bytes where the caller may not see them, or a broker does not answer."""
    copies = sum(len(row.adding) for row in rows)
    text = f"copy {copies} replicas of {len(rows)} partitions"
    try:
        found = client.describe_log_dirs(timeout=timeout).values()
    except KafkaError:
        return text
    sizes: dict[TopicPartition, int] = {}
    for directories in found.values():
        for directory in directories.values():
            for partition, replica in directory.replicas.items():
                sizes[partition] = max(replica.size_bytes, sizes.get(partition, 0))
    parts = [(TopicPartition(row.topic, row.partition), len(row.adding)) for row in rows]
    if any(partition not in sizes for partition, _ in parts):
        return text
    return f"{text}: {decimal(sum(sizes[partition] * number for partition, number in parts))}"


def _check(
    file: Path,
    wanted: Mapping[TopicPartition, Sequence[int]],
    current: Mapping[TopicPartition, Sequence[int]],
    live: Mapping[int, str | None],
) -> None:
    name = shown_path(file)
    for partition, replicas in wanted.items():
        if partition not in current:
            raise CommandError(
                f"{name}: there is no partition {partition}; topics may have changed since", ExitCode.USAGE
            )
        absent = [broker for broker in replicas if broker not in live and broker not in current[partition]]
        if absent:
            raise CommandError(f"{name}: {partition} would go to broker {absent[0]}, which is not live", ExitCode.USAGE)
