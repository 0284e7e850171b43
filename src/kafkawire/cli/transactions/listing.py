"""``kafkawire transactions list``, ``describe`` and ``producers``."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, ClassVar, Final

import typer

from kafkawire.admin import TransactionState
from kafkawire.cli.access.changes import failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.argument_texts import milliseconds_of, partitions_of
from kafkawire.cli.existing_topics import check_partitions
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.times import time_of
from kafkawire.column_roles import ColumnRole
from kafkawire.protocol.errors import InvalidRegularExpressionError
from kafkawire.wire.kafka_errors import KafkaError

_SECOND: Final = 1000
_OPEN: Final = frozenset(
    {
        TransactionState.ONGOING,
        TransactionState.PREPARE_ABORT,
        TransactionState.PREPARE_COMMIT,
        TransactionState.PREPARE_EPOCH_FENCE,
    }
)


class TransactionRow(Row, frozen=True):
    """A transactional id in a list.

    Attributes:
        transactional_id: the id.
        state: of its transaction.
        producer_id: of the producer that has it.
    """

    transactional_id: str
    state: str
    producer_id: int


class TransactionDescriptionRow(Row, frozen=True):
    """A transactional id and its transaction.

    Attributes:
        transactional_id: the id.
        state: of its transaction.
        start_time: when the transaction began; None if none is open.
        open_seconds: for how long it is open, by the clock of this machine.
        timeout_ms: for how long it may be.
        partitions: those that take part.
        coordinator: id of the broker that coordinates it.
        producer_id, producer_epoch: of its producer.
    """

    transactional_id: str
    state: str
    start_time: datetime | None
    open_seconds: int | None
    timeout_ms: int
    partitions: tuple[str, ...]
    coordinator: int
    producer_id: int
    producer_epoch: int

    ROLES: ClassVar = dict.fromkeys(("coordinator", "producer_id", "producer_epoch"), ColumnRole.DETAIL)


class ProducerRow(Row, frozen=True):
    """A producer in the state of a partition.

    Attributes:
        topic, partition: which.
        producer_id, producer_epoch: of the producer.
        last_write: when it last wrote.
        last_sequence: number of its last record.
        transaction_start_offset: where its open transaction begins; None if none is open.
        coordinator_epoch: of the coordinator that last ended one of its transactions here.
    """

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    last_write: datetime | None
    last_sequence: int | None
    transaction_start_offset: int | None
    coordinator_epoch: int | None

    ROLES: ClassVar = {
        "partition": ColumnRole.KEY,
        "producer_id": ColumnRole.KEY,
        "last_sequence": ColumnRole.DETAIL,
        "coordinator_epoch": ColumnRole.DETAIL,
    }


StatesOption = Annotated[
    list[TransactionState] | None,
    typer.Option("--state", help="Only those in this state; repeatable.", case_sensitive=False),
]
LongerOption = Annotated[
    str | None, typer.Option(metavar="DURATION", help="Only those that are open for longer, such as 15m.")
]
PatternOption = Annotated[
    str | None, typer.Option(metavar="REGEX", help="Only ids that match; the brokers evaluate it (RE2).")
]
IdsArgument = Annotated[list[str], typer.Argument(metavar="ID...", help="Transactional ids.")]
PartitionsArgument = Annotated[
    list[str], typer.Argument(metavar="TOPIC:PARTITION...", help="Such as orders:0, or orders:0,2.")
]


@cluster_command
def list_(
    cluster: Cluster,
    state: StatesOption = None,
    open_longer_than: LongerOption = None,
    pattern: PatternOption = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List transactional ids and the states of their transactions."""
    minimum = None if open_longer_than is None else milliseconds_of(open_longer_than, "--open-longer-than")
    with cluster.connected() as client:
        found = client.list_transactions(
            states=state or (),
            minimum_duration_ms=minimum,
            transactional_id_pattern=pattern,
            timeout=cluster.options.timeout,
        )
    _check_pattern(pattern, found.by_node.errors().values())
    listed = sorted(found.values(), key=lambda each: each.transactional_id)
    if minimum is not None:  # brokers also list ids without a transaction then
        listed = [each for each in listed if each.state in _OPEN]
    rows = [TransactionRow(each.transactional_id, each.state, each.producer_id) for each in listed]
    with failures_printed(found.by_node):
        print_rows(rows, TransactionRow, output, empty=unless_failed(found.by_node, "no transactional ids"))


def _check_pattern(pattern: str | None, errors: Iterable[KafkaError]) -> None:
    if any(isinstance(each, InvalidRegularExpressionError) for each in errors):
        message = f"--pattern: {pattern!r} is no regular expression of the brokers (RE2), such as 'payments-.*'"
        raise CommandError(message, ExitCode.USAGE)


@cluster_command
def describe(cluster: Cluster, ids: IdsArgument, output: FormatOption = RowFormat.TABLE) -> None:
    """Describe transactions: since when they are open, their partitions, their producers."""
    with cluster.connected() as client:
        found = client.describe_transactions(ids, timeout=cluster.options.timeout)
    now = int(time.time() * _SECOND)
    rows = [
        TransactionDescriptionRow(
            transactional_id=name,
            state=each.state,
            start_time=time_of(each.start_time_ms),
            open_seconds=None if each.start_time_ms is None else max(0, now - each.start_time_ms) // _SECOND,
            timeout_ms=each.timeout_ms,
            partitions=tuple(map(str, sorted(each.partitions))),
            coordinator=each.coordinator,
            producer_id=each.producer_id,
            producer_epoch=each.producer_epoch,
        )
        for name, each in found.values().items()
    ]
    with failures_printed(found):
        print_rows(rows, TransactionDescriptionRow, output, empty=unless_failed(found, "no transactions"))


@cluster_command
def producers(cluster: Cluster, partitions: PartitionsArgument, output: FormatOption = RowFormat.TABLE) -> None:
    """List the producers that write to partitions, and where their open transactions begin."""
    wanted = [partition for text in partitions for partition in partitions_of(text)]
    with cluster.connected() as client:
        check_partitions(client, wanted, cluster.options.timeout)
        found = client.describe_producers(wanted, timeout=cluster.options.timeout)
    rows = [
        ProducerRow(
            where.topic,
            where.partition,
            each.producer_id,
            each.producer_epoch,
            time_of(each.last_timestamp_ms),
            each.last_sequence,
            each.transaction_start_offset,
            each.coordinator_epoch,
        )
        for where, states in found.values().items()
        for each in states
    ]
    with failures_printed(found):
        print_rows(rows, ProducerRow, output, empty=unless_failed(found, "no producers"))
