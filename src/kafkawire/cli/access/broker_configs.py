"""The configs of one broker, where they say how all brokers decide."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.admin import BlockingAdminClient, ConfigEntry, ConfigResource, Node


def configs_of_a_broker(client: BlockingAdminClient, timeout: float) -> tuple[Node, Mapping[str, ConfigEntry] | None]:
    """A broker and its configs; None for configs that the caller may not describe.

    Raises:
        KafkaError: the cluster does not answer.
    """
    broker = client.describe_cluster(timeout=timeout).nodes[0].node
    resource = ConfigResource.broker(broker.id)
    return broker, client.describe_configs([resource], timeout=timeout).values().get(resource)
