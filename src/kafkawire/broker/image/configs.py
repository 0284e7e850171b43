"""The configurations of resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from kafkawire.protocol import ConfigRecord
from kafkawire.wire import Message

_TOPIC = 2
_NOTHING: Mapping[str, str] = MappingProxyType({})


class ConfigsImage:
    """Keys and values by resource: its type as in ``ConfigRecord`` and its name, which is empty for the default."""

    def __init__(self) -> None:
        self._by_resource: dict[tuple[int, str], dict[str, str]] = {}

    def of(self, resource_type: int, resource_name: str) -> Mapping[str, str]:
        """The values set for a resource; empty if there are none."""
        return self._by_resource.get((resource_type, resource_name), _NOTHING)

    def resources(self) -> Iterator[tuple[int, str]]:
        """The resources that have values."""
        yield from self._by_resource

    def apply(self, record: ConfigRecord) -> None:
        """Set a value, or remove it if it is null."""
        resource = (record.resource_type, record.resource_name)
        if record.value is not None:
            self._by_resource.setdefault(resource, {})[record.name] = record.value
            return
        values = self._by_resource.get(resource)
        if values is not None and values.pop(record.name, None) is not None and not values:
            del self._by_resource[resource]

    def remove_topic(self, name: str) -> None:
        """Remove the values of a topic."""
        self._by_resource.pop((_TOPIC, name), None)

    def records(self) -> Iterator[Message]:
        """The records that set all values."""
        for (resource_type, resource_name), values in self._by_resource.items():
            for name, value in values.items():
                yield ConfigRecord(resource_type, resource_name, name, value)
