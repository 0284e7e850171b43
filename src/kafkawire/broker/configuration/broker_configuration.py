"""The properties that a broker is started with."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NoReturn

from kafkawire.model.configs.checks import InvalidValueError, Value
from kafkawire.model.configs.definitions import definitions

_ONE_NODE: Final = MappingProxyType(
    {"node.id": "1", "process.roles": "broker,controller", "controller.listener.names": "CONTROLLER"}
)
"""Properties that Kafka requires and for which a single node has only one value."""


class ConfigurationError(Exception):
    """A property has a value with which the broker cannot start; the message has its name and what it should be."""


class Values:
    """Typed values by the names of Kafka's broker properties; a subclass implements ``value``.

    Every method raises KeyError for a name that Kafka does not have, and TypeError for a value of another type.
    """

    def value(self, name: str) -> Value:
        """The value, of any type; None if there is none."""
        raise NotImplementedError

    def text(self, name: str) -> str:
        """A string; empty if there is none."""
        value = self.value(name)
        if value is None:
            return ""
        return value if isinstance(value, str) else _other_type(name, value)

    def integer(self, name: str) -> int:
        """An integer."""
        value = self.value(name)
        return value if isinstance(value, int) and not isinstance(value, bool) else _other_type(name, value)

    def number(self, name: str) -> float:
        """A number."""
        value = self.value(name)
        return float(value) if isinstance(value, int | float) else _other_type(name, value)

    def boolean(self, name: str) -> bool:
        """A boolean."""
        value = self.value(name)
        return value if isinstance(value, bool) else _other_type(name, value)

    def strings(self, name: str) -> tuple[str, ...]:
        """The entries of a list; none if there is no list."""
        value = self.value(name)
        if value is None:
            return ()
        return value if isinstance(value, tuple) else _other_type(name, value)


class BrokerConfiguration(Values):
    """The properties of a broker, as in Kafka's ``server.properties``, with Kafka's types and defaults.

    Names that Kafka does not have are kept for plug-ins. ``repr`` contains no value: some are passwords.

    Args:
        properties: name to value as text.

    Attributes:
        properties: as given; plug-ins are configured with them.

    Raises:
        ConfigurationError: a value is invalid.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self.properties: Mapping[str, str] = MappingProxyType({**_ONE_NODE, **properties})
        parsed: dict[str, Value] = {}
        for name, definition in definitions().broker.items():
            text = self.properties.get(name, definition.default)
            try:
                parsed[name] = None if text is None else definition.value(name, text)
            except InvalidValueError as error:
                raise ConfigurationError(f"{error}. Change {name} in the properties of the broker") from None
        self._values: Mapping[str, Value] = MappingProxyType(parsed)

    def value(self, name: str) -> Value:
        """The given value, or else Kafka's default."""
        return self._values[name]

    def of_listener(self, listener: str) -> BrokerConfiguration:
        """The configuration of a listener: its own properties override those of all listeners.

        Args:
            listener: its name, as in ``listener.name.<name in lower case>.ssl.client.auth``.
        """
        prefix = f"listener.name.{listener.lower()}."
        own = {name.removeprefix(prefix): text for name, text in self.properties.items() if name.startswith(prefix)}
        return BrokerConfiguration({**self.properties, **own})

    def of_node(self, node_id: int) -> BrokerConfiguration:
        """The configuration of another node with the same properties."""
        return BrokerConfiguration({**self.properties, "node.id": str(node_id)})

    def __repr__(self) -> str:
        return f"BrokerConfiguration({len(self.properties)} properties)"


def _other_type(name: str, value: Value) -> NoReturn:
    raise TypeError(f"the value of {name} is of type {type(value).__name__}")
