"""Configurations of brokers that have no process, and most of them no listeners."""

from __future__ import annotations

from functools import cache

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration


@cache
def configuration_of(**properties: str) -> BrokerConfiguration:
    """The configuration of a broker, by names with ``_`` for each dot; laws make many groups with the same."""
    return BrokerConfiguration({name.replace("_", "."): value for name, value in properties.items()})
