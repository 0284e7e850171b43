"""A cluster brought back to the state in which each scenario begins, and brokers that have applied all changes."""

from __future__ import annotations

from functools import partial

from tests.apache_kafka.eventually import eventually
from tests.conformance.kafka_configs.scenarios import TOPICS

from kafkawire.admin import (
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ConfigChange,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    NewTopic,
    ScramDeletion,
)

_DYNAMIC = {ConfigSource.DYNAMIC_BROKER_CONFIG, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG}
_FENCE = ClientQuotaEntity(ip="10.255.255.255")
_NEEDED = "min.insync.replicas"
"""Set for all brokers when a cluster is made; cannot be removed there."""


def reset(client: BlockingAdminClient, *, listable: frozenset[ConfigResourceType]) -> None:
    """Remove all topics but those of `TOPICS`, which are created again, all quotas, credentials and dynamic configs."""
    client.delete_topics(client.list_topics())
    client.create_topics([NewTopic(name, 1, 1) for name in TOPICS]).all()
    client.wait_for_topics(TOPICS).all()
    (quotas,) = client.describe_client_quotas().all().values()
    client.alter_client_quotas(
        [ClientQuotaAlteration(entity, dict.fromkeys(values)) for entity, values in quotas.items()]
    ).all()
    credentials = client.describe_user_scram_credentials().all()
    client.alter_user_scram_credentials(
        [ScramDeletion(user, info.mechanism) for user, infos in credentials.items() for info in infos]
    ).all()
    _reset_configs(client, listable)


def _reset_configs(client: BlockingAdminClient, listable: frozenset[ConfigResourceType]) -> None:
    client.incremental_alter_configs(_removals(client, listable)).all()
    settle(client)


def settle(client: BlockingAdminClient) -> None:
    """Wait until the one broker has applied all changes so far.

    It applies them one after the other: when it shows the second of two more, it has applied all before the first.
    """
    for value in (1.0, None):
        client.alter_client_quotas([ClientQuotaAlteration(_FENCE, {"connection_creation_rate": value})]).all()
        eventually(partial(_shows_fence, client), (value is not None).__eq__)


def _shows_fence(client: BlockingAdminClient) -> bool:
    wanted = ClientQuotaFilter.of_entity(_FENCE)
    return _FENCE in client.describe_client_quotas([wanted])[wanted]


def _removals(
    client: BlockingAdminClient, listable: frozenset[ConfigResourceType]
) -> dict[ConfigResource, list[ConfigChange]]:
    """What is set for brokers, and for resources of the types that can be listed."""
    nodes = [ConfigResource.broker(each.node.id) for each in client.describe_cluster().nodes]
    listed = client.list_config_resources(listable)
    described = client.describe_configs([ConfigResource.broker_default(), *nodes, *listed]).all()
    removals = {
        resource: [
            ConfigChange.delete(entry.name)
            for entry in entries.values()
            if (entry.source in _DYNAMIC and entry.name != _NEEDED) or resource in listed
        ]
        for resource, entries in described.items()
    }
    return {resource: some for resource, some in removals.items() if some}
