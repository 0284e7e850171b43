"""Which configurations are sensitive, as in brokers: passwords, and names without a definition."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from kafkawire.model.configs.broker_names import broker_definition
from kafkawire.model.configs.definitions import ConfigDefinition, definitions
from kafkawire.model.configs.resources import ConfigResourceType

HIDDEN: Final = "[hidden]"
"""The replacement of a sensitive value, as in Kafka; null would mean that nothing is set."""


@cache
def _by_type() -> Mapping[int, Mapping[str, ConfigDefinition]]:
    known = definitions()
    return {
        ConfigResourceType.TOPIC: known.topic,
        ConfigResourceType.GROUP: known.group,
        ConfigResourceType.CLIENT_METRICS: known.client_metrics,
    }


def is_sensitive(resource_type: int, name: str) -> bool:
    """Whether values of a configuration are sensitive.

    They are if Kafka's definitions make it a password, or do not have it: a plug-in may use it as a password. Levels of
    loggers, which have no definition, are not.

    Args:
        resource_type: number of the type of the resource.
        name: name of the configuration, that of one listener as well: ``listener.name.sasl.ssl.keystore.password``.
    """
    if resource_type == ConfigResourceType.BROKER_LOGGER:
        return False
    if resource_type == ConfigResourceType.BROKER:
        definition = broker_definition(name)
    else:
        definition = _by_type().get(resource_type, {}).get(name)
    return definition is None or definition.is_sensitive
