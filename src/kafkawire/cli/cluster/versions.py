"""``kafkawire cluster api-versions``: what each broker serves."""

from __future__ import annotations

from typing import Annotated, ClassVar

import typer

from kafkawire.cli.access.changes import failures_printed, unless_failed
from kafkawire.cli.access.cluster_command import Cluster, cluster_command
from kafkawire.cli.access.live_nodes import check_live, live_nodes
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole


class ServedApiRow(Row, frozen=True):
    """An API that a node serves.

    Attributes:
        node: id of the node.
        api: its name; None if this release does not know it.
        key: its API key.
        lowest, highest: the versions that the node serves, both included.
        used: the version in which this client sends it; None if it sends none, or shares none with the node.
    """

    node: int
    api: str | None
    key: int
    lowest: int
    highest: int
    used: int | None

    ROLES: ClassVar = {"api": ColumnRole.KEY}

    @property
    def row_name(self) -> str:
        """The name of the API, or its key."""
        return self.api or str(self.key)


NodesOption = Annotated[list[int] | None, typer.Option("--node", metavar="ID", help="Of this node; repeatable.")]


@cluster_command
def api_versions(cluster: Cluster, node: NodesOption = None, output: FormatOption = RowFormat.TABLE) -> None:
    """List the APIs that each node serves, their versions, and the version that this client uses."""
    with cluster.connected() as client:
        if node:
            check_live("--node", node, live_nodes(client, cluster.options.timeout))
        found = client.describe_api_versions(node or None, timeout=cluster.options.timeout)
    rows = [
        ServedApiRow(served_by, each.name, each.key, each.lowest, each.highest, each.used)
        for served_by, apis in sorted(found.values().items())
        for each in apis
    ]
    with failures_printed(found):
        print_rows(rows, ServedApiRow, output, empty=unless_failed(found, "no APIs"))
