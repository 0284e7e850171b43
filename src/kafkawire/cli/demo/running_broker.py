"""What a running broker supports, and its nodes and topics."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from kafkawire.admin import AdminSettings, BlockingAdminClient, Capability, ClusterDescription, TopicDescription
from kafkawire.cli.outcome import CommandError
from kafkawire.layout import Uuid
from kafkawire.wire.kafka_errors import KafkaError

_SECONDS = 10.0


def ask_broker(console: Console, address: str) -> None:
    """Show the methods of the client that a broker supports, the nodes of its cluster, and its topics.

    Raises:
        CommandError: if it does not respond.
    """
    settings = AdminSettings(request_timeout=_SECONDS, call_timeout=_SECONDS)
    try:
        with BlockingAdminClient(address, settings=settings) as client:
            cluster = client.describe_cluster()
            node = cluster.nodes[0].node.id
            console.print(_capability_table(node, client.capabilities([node])[node]))
            console.print(_topic_table(cluster, client.describe_topics(client.list_topics().keys()).all()))
    except KafkaError as error:
        raise CommandError(f"the broker at {address} did not respond: {error}") from None


def _capability_table(node: int, capabilities: Mapping[str, Capability]) -> Table:
    table = Table(title=f"What node {node} supports", title_justify="left")
    for heading in ("method", "support", "API", "version"):
        table.add_column(heading)
    for method, found in capabilities.items():
        version = "" if found.version is None else str(found.version)
        table.add_row(method, found.support.value, "" if found.api is None else found.api.name, version)
    return table


def _topic_table(cluster: ClusterDescription, topics: Mapping[str | Uuid, TopicDescription]) -> Table:
    nodes = ", ".join(str(member.node) for member in cluster.nodes)
    table = Table(title=f"Cluster {cluster.cluster_id}; {nodes}", title_justify="left")
    for heading in ("topic", "partitions", "internal"):
        table.add_column(heading)
    for topic in topics.values():
        table.add_row(topic.name, str(len(topic.partitions)), "yes" if topic.is_internal else "no")
    return table
