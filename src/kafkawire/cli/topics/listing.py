"""``kafkawire topics list``."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole


class TopicRow(Row, frozen=True):
    """A topic in a list.

    Attributes:
        name: its name.
        topic_id: its id, in Kafka's base64.
        is_internal: whether Kafka itself uses it.
    """

    name: str
    topic_id: str | None
    is_internal: bool

    ROLES: ClassVar = {"topic_id": ColumnRole.DETAIL}


@cluster_command
def run(
    cluster: Cluster,
    internal: Annotated[bool, typer.Option("--internal", help="Topics of Kafka itself too.")] = False,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """List topics."""
    with cluster.connected() as client:
        topics = client.list_topics(include_internal=internal, timeout=cluster.options.timeout)
    rows = [
        TopicRow(name, None if each.topic_id is None else str(each.topic_id), each.is_internal)
        for name, each in sorted(topics.items())
    ]
    print_rows(rows, TopicRow, output, empty="no topics")
