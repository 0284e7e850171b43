"""Optional chapter: what a broker of the user supports, and its nodes and topics."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Mapping
from typing import Final

from kafkawire.admin import (
    AdminSettings,
    BlockingAdminClient,
    Capability,
    ClusterDescription,
    Support,
    TopicDescription,
)
from kafkawire.cli.demo.stage import Stage
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.layout import Uuid
from kafkawire.model.nodes import Node, bootstrap_nodes
from kafkawire.wire.kafka_errors import KafkaError, OperationTimeoutError

_SECONDS_TO_CONNECT: Final = 3.0
_SECONDS: Final = 10.0
_NODES_SHOWN: Final = 4
_TOPICS_SHOWN: Final = 5


def show(stage: Stage) -> None:
    """Show the methods of the client that a broker supports, the nodes of its cluster, and its topics.

    Raises:
        CommandError: it does not respond.
    """
    address = stage.your_broker or ""
    settings = AdminSettings(request_timeout=_SECONDS, call_timeout=_SECONDS)
    try:
        with BlockingAdminClient(address, settings=settings) as client:
            cluster = client.describe_cluster()
            node = cluster.nodes[0].node.id
            _show_cluster(stage, address, cluster)
            _show_capabilities(stage, node, client.capabilities([node])[node])
            _show_topics(stage, client.describe_topics(client.list_topics().keys()).all())
    except KafkaError as error:
        raise CommandError(f"the broker at {address} did not respond: {error}") from None


def checked_address(address: str) -> str:
    """An address at which a broker of Kafka responds.

    Args:
        address: host:port of a broker, or several, separated by commas.

    Raises:
        CommandError: it is not an address, or none of the brokers responds within a few seconds.
    """
    try:
        nodes = bootstrap_nodes(address)
    except ValueError as error:
        raise CommandError(f"--broker: {error}", ExitCode.USAGE) from None
    faults = [fault for node in nodes if (fault := _fault(node)) is not None]
    if len(faults) == len(nodes):
        raise CommandError(f"--broker: {'; '.join(faults)}")
    settings = AdminSettings(request_timeout=_SECONDS_TO_CONNECT, call_timeout=_SECONDS_TO_CONNECT)
    try:
        with BlockingAdminClient(address, settings=settings) as client:
            client.describe_cluster()
    except OperationTimeoutError:
        raise CommandError(
            f"--broker: {address} accepts connections, but does not respond as Kafka within "
            f"{_SECONDS_TO_CONNECT:.0f} s: is this the port of a listener without TLS and login? The demo uses neither"
        ) from None
    except KafkaError as error:
        raise CommandError(f"--broker: {error.message}. The demo uses neither TLS nor a login") from None
    return address


def _fault(node: Node) -> str | None:
    """Why there is no connection to a broker, and what to do; None if there is one."""
    try:
        socket.create_connection((node.host, node.port), _SECONDS_TO_CONNECT).close()
    except socket.gaierror as error:
        return f"the name {node.host} does not resolve ({error.strerror}): correct it, or use the address of the host"
    except ConnectionRefusedError:
        return f"{node.address} refuses the connection: is the broker running, and is this the port of its listener?"
    except TimeoutError:
        return (
            f"{node.address} does not accept a connection within {_SECONDS_TO_CONNECT:.0f} s: does a firewall stop it, "
            "or is the host down?"
        )
    except OSError as error:
        return f"{node.address} cannot be reached: {error.strerror or error}"
    return None


def _show_cluster(stage: Stage, address: str, cluster: ClusterDescription) -> None:
    nodes = _counted(len(cluster.nodes), "node")
    stage.say(f"{address} is a broker of cluster {cluster.cluster_id}, which has {nodes}:")
    for member in cluster.nodes[:_NODES_SHOWN]:
        stage.item(str(member.node))
    _say_more(stage, len(cluster.nodes) - _NODES_SHOWN)


def _show_capabilities(stage: Stage, node: int, capabilities: Mapping[str, Capability]) -> None:
    found = Counter(capability.support for capability in capabilities.values())
    stage.say(
        f"Of the {len(capabilities)} methods of the admin client, node {node} supports {found[Support.SUPPORTED]}, "
        f"{found[Support.FALLBACK]} more by an older API, and not {found[Support.UNSUPPORTED]}."
    )
    for support in (Support.FALLBACK, Support.UNSUPPORTED):
        names = [method for method, capability in capabilities.items() if capability.support is support]
        if names:
            stage.say(f"{'By an older API' if support is Support.FALLBACK else 'Not'}: {', '.join(names)}")


def _show_topics(stage: Stage, topics: Mapping[str | Uuid, TopicDescription]) -> None:
    shown = sorted(topics.values(), key=lambda topic: topic.name)[:_TOPICS_SHOWN]
    rows = [(topic.name, f"{len(topic.partitions):,}", "yes" if topic.is_internal else "no") for topic in shown]
    stage.table(("topic", "partitions", "internal"), rows, right=("partitions",))
    _say_more(stage, len(topics) - _TOPICS_SHOWN)


def _say_more(stage: Stage, number: int) -> None:
    if number > 0:
        stage.item(f"and {number:,} more")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
