"""What one node says of its cluster. A client would go on to the addresses that it finds there; this does not."""

from __future__ import annotations

from typing import NamedTuple

from kafkawire import protocol
from kafkawire.admin.connection.channel import Channel
from kafkawire.admin.first_versions import CLUSTER_ALONE_SINCE, first_version, metadata_request
from kafkawire.model.nodes import Node
from kafkawire.protocol.errors import error_of

_CONTROLLER_ENDPOINTS = 2


class ClusterSeen(NamedTuple):
    """A cluster as a node describes it.

    Attributes:
        cluster_id: its id; None if the node does not return it.
        controller: the node that is named as controller.
        nodes: all nodes, with the addresses that they advertise.
    """

    cluster_id: str | None
    controller: int
    nodes: tuple[Node, ...]


async def cluster_behind(channel: Channel, deadline: float, *, controllers: bool) -> ClusterSeen:
    """The cluster of a node.

    Args:
        channel: a connection to it.
        deadline: when to give up, in the time of the event loop.
        controllers: whether it is a controller, and the others are.

    Raises:
        KafkaError: it refuses, or does not answer.
    """
    if controllers:
        minimum = first_version(protocol.DescribeClusterRequest, "endpoint_type")
        version = channel.versions.choose(protocol.DescribeClusterRequest, minimum=minimum)
        request = protocol.DescribeClusterRequest(endpoint_type=_CONTROLLER_ENDPOINTS)
        listed = await channel.request(request, protocol.DescribeClusterResponse, version, deadline)
        if listed.error_code:
            raise error_of(listed.error_code, listed.error_message)
        found = ((each.broker_id, each.host, each.port) for each in listed.brokers)
        return _seen(listed.cluster_id, listed.controller_id, *found)
    version = channel.versions.choose(protocol.MetadataRequest, minimum=CLUSTER_ALONE_SINCE)
    answer = await channel.request(metadata_request(version, ()), protocol.MetadataResponse, version, deadline)
    if answer.error_code:
        raise error_of(answer.error_code, None)
    return _seen(
        answer.cluster_id, answer.controller_id, *((each.node_id, each.host, each.port) for each in answer.brokers)
    )


def _seen(cluster_id: str | None, controller: int, *found: tuple[int, str, int]) -> ClusterSeen:
    nodes = (Node(node_id, host, port, cluster_id=cluster_id or None) for node_id, host, port in found)
    return ClusterSeen(cluster_id or None, controller, tuple(sorted(nodes)))
