"""``kafkawire reassign elect-leaders``."""

from __future__ import annotations

from typing import Annotated

import typer

from kafkawire.admin import ElectionType, TopicPartition
from kafkawire.cli.access.changes import YesOption, confirm, outcome_rows, print_outcomes
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.rows.formats import FormatOption, RowFormat

TopicsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="TOPIC...", help="Topics; by default all partitions that need it.")
]
UncleanOption = Annotated[
    bool, typer.Option("--unclean", help="Any replica may lead, also one that lacks records: these are lost.")
]


@cluster_command
def run(
    cluster: Cluster,
    topics: TopicsArgument = None,
    unclean: UncleanOption = False,
    yes: YesOption = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Have the preferred replica of each partition lead it, such as after all brokers were restarted."""
    timeout = cluster.options.timeout
    question = "elect leaders that may lack records, which are lost then" if unclean else "elect preferred leaders"
    confirm(cluster, question, yes=yes, destructive=unclean)
    with cluster.connected() as client:
        partitions = None
        if topics:
            described = client.describe_topics(topics, timeout=timeout).all()
            partitions = [
                TopicPartition(topic.name, each.partition) for topic in described.values() for each in topic.partitions
            ]
        election = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
        results = client.elect_leaders(partitions, election, timeout=timeout)
    rows = outcome_rows(results, "partition", "elect", reason=lambda new: None if new else "no election was needed")
    print_outcomes(rows, output)
