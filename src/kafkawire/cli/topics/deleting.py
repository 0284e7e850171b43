"""``kafkawire topics delete``."""

from __future__ import annotations

from typing import Annotated

import typer

from kafkawire.admin import Results
from kafkawire.cli.access.changes import (
    ChangeOptions,
    OutcomeRow,
    Status,
    confirm,
    outcome_rows,
    print_outcomes,
)
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.items import FromOption
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.progress import call_progress
from kafkawire.cli.topics.selection import RegexOption, TopicsArgument, chosen_topics, in_words, wanted_names

IfExistsOption = Annotated[bool, typer.Option("--if-exists", help="A topic that does not exist is no failure.")]


@cluster_command
def run(
    cluster: Cluster,
    topics: TopicsArgument = None,
    regex: RegexOption = None,
    file: FromOption = None,
    if_exists: IfExistsOption = False,
    *,
    options: ChangeOptions,
) -> None:
    """Delete topics with all their records. Topics of Kafka itself must be named, patterns do not find them.

    --dry-run is simulated: brokers cannot check a deletion.
    """
    dry_run, yes, output = options
    wanted = wanted_names(topics, file)
    if not wanted and regex is None:
        raise CommandError("no topic is named; give names, patterns, --regex or --from FILE", ExitCode.USAGE)
    timeout = cluster.options.timeout
    with cluster.connected() as client:
        chosen = chosen_topics(client, wanted, regex, timeout=timeout)
        unknown = outcome_rows(Results[str, None](chosen.unknown), "topic", "delete")
        if if_exists:
            unknown = [OutcomeRow(row.item, "topic", "delete", Status.UNCHANGED, reason="no topic") for row in unknown]
        if dry_run:
            rows = outcome_rows(
                Results[str, None](dict.fromkeys(chosen.names)),
                "topic",
                "delete",
                dry_run=True,
                reason=lambda _: "simulated",
            )
            print_outcomes([*rows, *unknown], output)
            return
        if chosen.names:
            confirm(cluster, f"delete {in_words(chosen.names)} with all records", yes=yes)
        with call_progress("topics") as progress:
            results = client.delete_topics(chosen.names, timeout=timeout, progress=progress)
    print_outcomes([*outcome_rows(results, "topic", "delete"), *unknown], output)
