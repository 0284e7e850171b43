"""``kafkawire transactions hanging``, ``abort``, ``terminate`` and ``fence``."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, ClassVar

import typer

from kafkawire.admin import (
    AbortTransactionSpec,
    BlockingAdminClient,
    HangingTransaction,
    Results,
    TopicPartition,
    TransactionDescription,
)
from kafkawire.admin.operations.hanging_transactions import DEFAULT_MAXIMUM_TRANSACTION_TIMEOUT_MS
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    failures_printed,
    outcome_rows,
    print_outcomes,
    unless_failed,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.argument_texts import milliseconds_of, partition_of
from kafkawire.cli.existing_topics import check_partitions
from kafkawire.cli.items import first_names
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.times import time_of
from kafkawire.cli.transactions.listing import IdsArgument
from kafkawire.codegen.report.text import counted
from kafkawire.column_roles import ColumnRole
from kafkawire.protocol.errors import TransactionalIdNotFoundError
from kafkawire.wire.kafka_errors import KafkaError


class HangingRow(Row, frozen=True):
    """A transaction that is open in a partition although no coordinator will end it.

    Attributes:
        topic, partition: where.
        producer_id, producer_epoch: of its producer.
        start_offset: where it begins: consumers of committed records stop here.
        last_write: when the producer last wrote here.
        coordinator_epoch: of the coordinator that last ended a transaction of the producer here.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    start_offset: int
    last_write: datetime | None
    coordinator_epoch: int | None

    ROLES: ClassVar = {
        "partition": ColumnRole.KEY,
        "producer_id": ColumnRole.KEY,
        "coordinator_epoch": ColumnRole.DETAIL,
    }


TopicsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="TOPIC...", help="Topics; by default all, Kafka's own included.")
]
LongestOption = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="How long a transaction may be open: transaction.max.timeout.ms, 15m."),
]
PartitionArgument = Annotated[str, typer.Argument(metavar="TOPIC:PARTITION", help="Such as orders:0.")]
OffsetOption = Annotated[
    int, typer.Option(metavar="N", min=0, help="Where the transaction begins, as hanging prints it.")
]


@cluster_command
def hanging(
    cluster: Cluster,
    topics: TopicsArgument = None,
    max_timeout: LongestOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Find transactions that block a partition although no coordinator will end them."""
    longest = milliseconds_of(max_timeout, "--max-timeout") if max_timeout else DEFAULT_MAXIMUM_TRANSACTION_TIMEOUT_MS
    with cluster.connected() as client:
        found = client.find_hanging_transactions(
            topics or None, max_transaction_timeout_ms=longest, timeout=cluster.options.timeout
        )
    rows = [_row(each) for transactions in found.values().values() for each in transactions]
    with failures_printed(found):
        print_rows(rows, HangingRow, output, empty=unless_failed(found, "no hanging transactions"))


def _row(each: HangingTransaction) -> HangingRow:
    return HangingRow(
        each.partition.topic, each.partition.partition, each.producer_id, each.producer_epoch, each.start_offset,
        time_of(each.last_timestamp_ms), each.coordinator_epoch,
    )  # fmt: skip


@cluster_command
def abort(
    cluster: Cluster,
    partition: PartitionArgument,
    start_offset: OffsetOption,
    *,
    options: ChangeOptions,
) -> None:
    """Abort a transaction that hangs in a partition: its records there are never read as committed.

    --dry-run is simulated: a transaction must begin at the offset.
    """
    dry_run, yes, output = options
    where, timeout = partition_of(partition), cluster.options.timeout
    with cluster.connected() as client:
        check_partitions(client, [where], timeout)
        spec = _open_transaction(client, where, start_offset, timeout)
        if isinstance(spec, KafkaError):
            print_outcomes(outcome_rows(Results({where: spec}), "transaction", "abort"), output)
            return
        if spec is None:
            reason = (
                f"no transaction begins at {start_offset}; kafkawire transactions producers {partition} shows where"
            )
            print_outcomes([_outcome(where, Status.FAILED, reason)], output)
            return
        if dry_run:
            print_outcomes(
                [_outcome(where, Status.WOULD_BE_DONE, f"simulated: of producer {spec.producer_id}")], output
            )
            return
        confirm(cluster, f"abort the transaction of producer {spec.producer_id} in {where}", yes=yes)
        client.abort_transaction(spec, timeout=timeout)
    print_outcomes([_outcome(where, Status.DONE, f"of producer {spec.producer_id}")], output)


def _open_transaction(
    client: BlockingAdminClient, partition: TopicPartition, start_offset: int, timeout: float
) -> AbortTransactionSpec | KafkaError | None:
    """The transaction that begins there; None if there is none."""
    described = client.describe_producers([partition], timeout=timeout)
    for error in described.errors().values():
        return error
    for each in described[partition]:
        if each.transaction_start_offset == start_offset:
            return AbortTransactionSpec(partition, each.producer_id, each.producer_epoch, each.coordinator_epoch or 0)
    return None


def _outcome(partition: TopicPartition, status: Status, reason: str) -> OutcomeRow:
    return OutcomeRow(str(partition), "transaction", "abort", status, reason=reason)


@cluster_command
def terminate(
    cluster: Cluster,
    ids: IdsArgument,
    *,
    options: ChangeOptions,
) -> None:
    """End the open transactions of transactional ids, and fence their producers (KIP-939).

    Brokers make an id that does not exist. --dry-run is simulated: it shows the transaction that each id has now.
    """
    dry_run, yes, output = options
    wanted = list(dict.fromkeys(ids))
    if dry_run:
        print_outcomes(_simulated(cluster, wanted, "transaction", "end"), output)
        return
    confirm(cluster, f"end the transactions of {first_names(wanted)}", yes=yes)
    outcomes: dict[str, KafkaError | None] = {}
    with cluster.connected() as client:
        for each in wanted:
            try:
                outcomes[each] = client.force_terminate_transaction(each, timeout=cluster.options.timeout)
            except KafkaError as error:
                outcomes[each] = error
    print_outcomes(outcome_rows(Results(outcomes), "transaction", "end"), output)


@cluster_command
def fence(
    cluster: Cluster,
    ids: IdsArgument,
    *,
    options: ChangeOptions,
) -> None:
    """Fence the producers of transactional ids: those that run can write no more; their transactions abort.

    Brokers make an id that does not exist. --dry-run is simulated: it shows the transaction that each id has now.
    """
    dry_run, yes, output = options
    wanted = list(dict.fromkeys(ids))
    if dry_run:
        print_outcomes(_simulated(cluster, wanted, "producer", "fence"), output)
        return
    confirm(cluster, f"fence the producers of {first_names(wanted)}", yes=yes)
    with cluster.connected() as client:
        results = client.fence_producers(wanted, timeout=cluster.options.timeout)
    rows = outcome_rows(results, "producer", "fence", reason=lambda each: f"the epoch is {each.producer_epoch} now")
    print_outcomes(rows, output)


def _simulated(cluster: Cluster, ids: Sequence[str], kind: str, action: str) -> list[OutcomeRow]:
    with cluster.connected() as client:
        described = client.describe_transactions(ids, timeout=cluster.options.timeout)
    return [simulated_end(each, outcome, kind, action) for each, outcome in described.items()]


def simulated_end(name: str, described: TransactionDescription | KafkaError, kind: str, action: str) -> OutcomeRow:
    """What the end of a transaction, or the fence of its producer, would do.

    Args:
        name: the transactional id.
        described: its transaction; or why it cannot be described.
        kind, action: of the row.
    """
    if isinstance(described, TransactionalIdNotFoundError):
        reason = "simulated: there is no such id; the brokers would make it"
    elif isinstance(described, KafkaError):
        return OutcomeRow.failed(name, kind, action, described)
    elif described.start_time_ms is None:
        reason = f"simulated: no transaction is open; producer {described.producer_id} would be fenced"
    else:
        where = counted(len(described.partitions), "partition")
        reason = f"simulated: the transaction is {described.state}, in {where}, and would be aborted"
    return OutcomeRow(name, kind, action, Status.WOULD_BE_DONE, reason=reason)
