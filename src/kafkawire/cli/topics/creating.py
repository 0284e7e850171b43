"""``kafkawire topics create``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

import msgspec
import typer

from kafkawire.admin import BlockingAdminClient, CreatedTopic, NewTopic, Results
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.items import FromOption, config_pairs, given_items
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import call_progress
from kafkawire.cli.topics.selection import in_words
from kafkawire.protocol.errors import TopicAlreadyExistsError

NamesArgument = Annotated[list[str] | None, typer.Argument(metavar="TOPIC...", help="Names of the new topics.")]
PartitionsOption = Annotated[
    int | None, typer.Option(min=1, help="Partitions of each topic; by default as many as the brokers say.")
]
ReplicationOption = Annotated[
    int | None,
    typer.Option(min=1, help="Replicas of each partition; by default as many as the brokers say."),
]
AssignmentOption = Annotated[
    str | None,
    typer.Option(
        "--replica-assignment",
        metavar="IDS",
        help="Brokers of each partition in place of numbers, as Kafka's tool has it: 1:2,2:3 are two partitions.",
    ),
]
ConfigsOption = Annotated[
    list[str] | None, typer.Option("--config", metavar="NAME=VALUE", help="A config of each topic; repeatable.")
]
IfNotExistsOption = Annotated[bool, typer.Option("--if-not-exists", help="A topic that exists is no failure.")]
WaitOption = Annotated[
    bool, typer.Option("--wait", help="Wait until all brokers have the topics and partitions have leaders.")
]

Simple: TypeAlias = str | int | float | bool
"""A value of a config in a file."""


class TopicItem(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A topic of a file; options say what it does not.

    Attributes:
        name: its name.
        partitions, replication_factor: how many.
        assignments: partition to the ids of its brokers, the preferred leader first.
        configs: values by name.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    assignments: Mapping[int, tuple[int, ...]] | None = None
    configs: Mapping[str, Simple] = {}


@cluster_command
def run(
    cluster: Cluster,
    topics: NamesArgument = None,
    file: FromOption = None,
    partitions: PartitionsOption = None,
    replication_factor: ReplicationOption = None,
    replica_assignment: AssignmentOption = None,
    config: ConfigsOption = None,
    if_not_exists: IfNotExistsOption = False,
    wait: WaitOption = False,
    *,
    options: ChangeOptions,
) -> None:
    """Create topics. --dry-run has the controller check everything, its policy included.

    An object of --from has name, partitions, replication_factor, assignments and configs; the options say what it does
    not.
    """
    dry_run, yes, output = options
    if replica_assignment and (partitions or replication_factor):
        message = (
            "--replica-assignment says the partitions and replicas; leave --partitions and --replication-factor out"
        )
        raise CommandError(message, ExitCode.USAGE)
    assignments = _assignments(replica_assignment) if replica_assignment else None
    configs = config_pairs("--config", config or ())
    items = [TopicItem(name=name) for name in topics or ()]
    items += given_items(file, TopicItem) if file else []
    if not items:
        raise CommandError("no topic is named; give names or --from FILE", ExitCode.USAGE)
    wanted = [_new_topic(each, partitions, replication_factor, assignments, configs) for each in items]
    if not dry_run:
        confirm(cluster, f"create {in_words([each.name for each in wanted])}", yes=yes, destructive=False)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        with call_progress("topics") as progress:
            results = client.create_topics(wanted, validate_only=dry_run, timeout=timeout, progress=progress)
        rows = outcome_rows(results, "topic", "create", dry_run=dry_run, reason=_in_words)
        if if_not_exists:
            rows = [_unchanged(row, results) for row in rows]
        if wait and not dry_run:
            rows = _waited(client, rows, timeout)
    print_outcomes(rows, output)


def _new_topic(
    item: TopicItem,
    partitions: int | None,
    replication_factor: int | None,
    assignments: Mapping[int, Sequence[int]] | None,
    configs: Mapping[str, str],
) -> NewTopic:
    """The topic of an item, with the options where it says nothing."""
    named = item.partitions is not None or item.replication_factor is not None
    by_broker = item.assignments or (None if named else assignments)
    if item.assignments and named:
        message = f"{item.name}: its assignments say the partitions and replicas; leave the numbers out"
        raise CommandError(message, ExitCode.USAGE)
    texts = {**configs, **{name: config_text(value) for name, value in item.configs.items()}}
    if by_broker:
        return NewTopic(item.name, replica_assignments=by_broker, configs=texts)
    return NewTopic(
        item.name,
        num_partitions=item.partitions or partitions or -1,
        replication_factor=item.replication_factor or replication_factor or -1,
        configs=texts,
    )


def config_text(value: Simple) -> str:
    """A value of a file as Kafka has it: all are texts."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _assignments(text: str) -> Mapping[int, Sequence[int]]:
    """Brokers by partition, of ``1:2,2:3``."""
    try:
        return {number: tuple(map(int, each.split(":"))) for number, each in enumerate(text.split(","))}
    except ValueError:
        message = f"--replica-assignment: {text!r} does not fit; give ids of brokers, such as 1:2,2:3"
        raise CommandError(message, ExitCode.USAGE) from None


def _in_words(topic: CreatedTopic) -> str | None:
    if topic.num_partitions is None or topic.replication_factor is None:
        return None
    partitions = "1 partition" if topic.num_partitions == 1 else f"{topic.num_partitions} partitions"
    return f"{partitions}, replication factor {topic.replication_factor}"


def _unchanged(row: OutcomeRow, results: Results[str, CreatedTopic]) -> OutcomeRow:
    if isinstance(results.errors().get(row.item), TopicAlreadyExistsError):
        return OutcomeRow(row.item, row.kind, row.action, Status.UNCHANGED, reason="it exists")
    return row


def _waited(client: BlockingAdminClient, rows: Sequence[OutcomeRow], timeout: float) -> list[OutcomeRow]:
    """The rows after all brokers have the topics; one that some lack at the timeout has failed."""
    created = [row.item for row in rows if row.status is Status.DONE]
    errors = client.wait_for_topics(created, timeout=timeout).errors() if created else {}
    return [
        msgspec.structs.replace(row, status=Status.FAILED, error="TIMEOUT", reason=f"created, but {errors[row.item]}")
        if row.item in errors and row.status is Status.DONE
        else row
        for row in rows
    ]
