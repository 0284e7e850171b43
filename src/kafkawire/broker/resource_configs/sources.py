"""The sources of the values of a broker's configuration (KIP-226)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.model.configs.broker_names import broker_definition, broker_synonyms
from kafkawire.model.configs.definitions import definitions
from kafkawire.model.configs.resources import ConfigSource, ConfigSynonym

__all__ = ["BrokerSources"]


class BrokerSources:
    """The values of the broker by precedence.

    Args:
        dynamic: the broker's configuration.
    """

    def __init__(self, dynamic: DynamicConfiguration) -> None:
        self._dynamic = dynamic

    @cached_property
    def _defaults(self) -> Mapping[str, str]:
        return {name: one.default for name, one in definitions().broker.items() if one.default is not None}

    def synonyms(self, name: str) -> tuple[ConfigSynonym, ...]:
        """All values of a name and its synonyms, by precedence.

        Values of synonyms that precede the first value of the name itself are left out, as in Kafka.
        """
        names = broker_synonyms(name)
        of_this, of_all = self._dynamic.of_this_broker, self._dynamic.of_all_brokers
        sources = (
            (of_this, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (of_all, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (self._dynamic.static.properties, ConfigSource.STATIC_BROKER_CONFIG),
            (self._defaults, ConfigSource.DEFAULT_CONFIG),
        )
        found = [
            ConfigSynonym(synonym, _shown(synonym, values[synonym]), source)
            for values, source in sources
            for synonym in names
            if synonym in values
        ]
        first = next((at for at, one in enumerate(found) if one.name == name), len(found))
        return tuple(found[first:])

    def originals(self) -> Mapping[str, str]:
        """All values that are set, as they were written."""
        return {**self._dynamic.static.properties, **self._dynamic.of_all_brokers, **self._dynamic.of_this_broker}


def _shown(name: str, text: str) -> str | None:
    definition = broker_definition(name)
    return None if definition is None or definition.is_sensitive else text
