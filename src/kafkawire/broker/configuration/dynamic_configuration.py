"""The properties of a broker, with the changes made while it runs (KIP-226)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from kafkawire.broker.configuration.broker_configuration import BrokerConfiguration, Values
from kafkawire.model.configs.checks import InvalidValueError, Value
from kafkawire.model.configs.definitions import definitions

_BROKER: Final = 4
_DEFAULT_OF_ALL: Final = ""


class SetConfigs(Protocol):
    """The configurations in the metadata."""

    def of(self, resource_type: int, resource_name: str) -> Mapping[str, str]:
        """Names and values of a resource; empty if nothing is set."""


class DynamicConfiguration(Values):
    """The properties of a broker, overridden by those set since for it or for all brokers (KIP-226).

    Values can change at any time: read them again rather than keep them.

    Args:
        configuration: the properties that the broker was started with.
        configs: the configurations set since.

    Attributes:
        static: as given.
        node: id of the broker, as in the names of its resources.
    """

    def __init__(self, configuration: BrokerConfiguration, configs: SetConfigs) -> None:
        self.static = configuration
        self._configs = configs
        self.node = str(configuration.integer("node.id"))

    def of_node(self, node_id: int) -> DynamicConfiguration:
        """The configuration of another node that was started with the same properties."""
        return DynamicConfiguration(self.static.of_node(node_id), self._configs)

    @property
    def of_this_broker(self) -> Mapping[str, str]:
        """The values set for this broker."""
        return self._configs.of(_BROKER, self.node)

    @property
    def of_all_brokers(self) -> Mapping[str, str]:
        """The values set for all brokers that have no value of their own."""
        return self._configs.of(_BROKER, _DEFAULT_OF_ALL)

    def texts(
        self, of_all: Mapping[str, str] | None = None, of_this: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """All values that are set, as they were written, by precedence.

        Args:
            of_all: what would be set for all brokers; None for what is.
            of_this: what would be set for this broker; None for what is.
        """
        return {
            **self.static.properties,
            **(self.of_all_brokers if of_all is None else of_all),
            **(self.of_this_broker if of_this is None else of_this),
        }

    def value(self, name: str) -> Value:
        """The value set for this broker, or for all brokers, or at start, or else Kafka's default.

        Invalid values, which only a log written by another broker can have, are skipped.
        """
        if name in definitions().update_modes:
            definition = definitions().broker.get(name) or definitions().broker_dynamic_only[name]
            for values in (self.of_this_broker, self.of_all_brokers):
                text = values.get(name)
                if text is not None:
                    try:
                        return definition.value(name, text)
                    except InvalidValueError:
                        continue
            if name in definitions().broker_dynamic_only:
                return definition.value(name, self.static.properties.get(name, definition.default))
        return self.static.value(name)
