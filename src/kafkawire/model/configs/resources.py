"""Configurations: resources, entries and their sources, changes (KIP-133, 226, 339, 1000, 1142)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from typing import ClassVar

import msgspec

from kafkawire import protocol
from kafkawire.model.redaction import Redacted
from kafkawire.model.tolerant_enums import MembersByCode, TolerantEnum

_NODE_ID = r"[0-9]{1,10}"
_MAXIMUM_NODE_ID = 2**31 - 1


class ConfigResourceType(TolerantEnum):
    """The types of resources with a configuration (G1)."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigSource(TolerantEnum):
    """The source of a value (G2)."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


class ConfigType(TolerantEnum):
    """The type of a value (G3)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigResource(msgspec.Struct, frozen=True, gc=False, order=True):
    """A resource that has a configuration.

    Attributes:
        resource_type: its type.
        name: topic, group, id of the broker, name of the subscription to metrics. A broker with an empty name is the
            default of all brokers of the cluster.
    """

    resource_type: ConfigResourceType
    name: str

    @classmethod
    def topic(cls, name: str) -> ConfigResource:
        """A topic."""
        return cls(ConfigResourceType.TOPIC, name)

    @classmethod
    def broker(cls, node: int) -> ConfigResource:
        """A broker."""
        return cls(ConfigResourceType.BROKER, str(node))

    @classmethod
    def broker_default(cls) -> ConfigResource:
        """The default of all brokers."""
        return cls(ConfigResourceType.BROKER, "")

    @classmethod
    def broker_logger(cls, node: int) -> ConfigResource:
        """The log levels of a broker."""
        return cls(ConfigResourceType.BROKER_LOGGER, str(node))

    @classmethod
    def client_metrics(cls, subscription: str) -> ConfigResource:
        """A subscription to the metrics of clients."""
        return cls(ConfigResourceType.CLIENT_METRICS, subscription)

    @classmethod
    def group(cls, name: str) -> ConfigResource:
        """A group."""
        return cls(ConfigResourceType.GROUP, name)

    @property
    def is_of_one_node(self) -> bool:
        """Whether it belongs to one node: a broker (not the default of all), or the log levels of one."""
        if self.resource_type is ConfigResourceType.BROKER:
            return bool(self.name)
        return self.resource_type is ConfigResourceType.BROKER_LOGGER

    @property
    def node(self) -> int | None:
        """Id of the node that it belongs to; None if it belongs to no node, or its name is not an id."""
        if not self.is_of_one_node or not re.fullmatch(_NODE_ID, self.name):
            return None
        node = int(self.name)
        return node if node <= _MAXIMUM_NODE_ID else None


class ConfigOperation(IntEnum):
    """The operation of a change (G5)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigChange(Redacted, frozen=True, gc=False):
    """One change of a configuration (KIP-339). The value is in no representation, since it may be a password.

    Attributes:
        name: name of the config.
        operation: the operation.
        value: for ``SET`` the new value; for ``APPEND`` and ``SUBTRACT`` entries of a list, separated by commas; None
            for ``DELETE``.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset({"value"})

    name: str
    operation: ConfigOperation
    value: str | None = None

    @classmethod
    def set(cls, name: str, value: str) -> ConfigChange:
        """Set a value."""
        return cls(name, ConfigOperation.SET, value)

    @classmethod
    def delete(cls, name: str) -> ConfigChange:
        """Remove the value, so that the default applies again (G6). It may have none."""
        return cls(name, ConfigOperation.DELETE)

    @classmethod
    def append(cls, name: str, *entries: str) -> ConfigChange:
        """Add entries to a list; existing ones are skipped, a list without a value starts as the default."""
        return cls(name, ConfigOperation.APPEND, ",".join(entries))

    @classmethod
    def subtract(cls, name: str, *entries: str) -> ConfigChange:
        """Remove entries from a list; those that it does not have are skipped."""
        return cls(name, ConfigOperation.SUBTRACT, ",".join(entries))

    def __repr__(self) -> str:
        return f"ConfigChange({self.operation.name} {self.name!r})"


class ConfigSynonym(msgspec.Struct, frozen=True, gc=False):
    """A value that applies, or would apply if those before it were removed.

    Attributes:
        name: under which it is set there; topics and brokers have different names for some.
        value: None if it is sensitive.
        source: where it is set.
    """

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(msgspec.Struct, frozen=True, gc=False):
    """What a configuration says for one name.

    Attributes:
        name: the name.
        value: None if it is sensitive or not set.
        source: where the value comes from.
        is_read_only: whether it can be changed only in the broker's own file.
        is_sensitive: whether brokers keep the value to themselves.
        synonyms: all values for it, that which holds first; empty unless asked for.
        config_type: how the value is written; ``UNKNOWN`` below version 3 of the answer.
        documentation: what it is for; None unless asked for.
    """

    name: str
    value: str | None
    source: ConfigSource = ConfigSource.UNKNOWN
    is_read_only: bool = False
    is_sensitive: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()
    config_type: ConfigType = ConfigType.UNKNOWN
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        """Whether it is set neither for the resource nor for brokers."""
        return self.source is ConfigSource.DEFAULT_CONFIG


_SOURCES = MembersByCode(ConfigSource)
_TYPES = MembersByCode(ConfigType)


def described_entries(
    configs: Iterable[protocol.DescribeConfigsResponse.DescribeConfigsResourceResult],
) -> dict[str, ConfigEntry]:
    """The configuration of a resource in an answer, by names.

    A sensitive value is None whatever the broker sent (G4). Version 0 of the answer has no source, only whether the
    value is the default.
    """
    return {config.name: _entry(config) for config in configs}


def _entry(config: protocol.DescribeConfigsResponse.DescribeConfigsResourceResult) -> ConfigEntry:
    source = ConfigSource.DEFAULT_CONFIG if config.is_default else source_of(config.config_source)
    return ConfigEntry(
        config.name,
        None if config.is_sensitive else config.value,
        source,
        config.read_only,
        config.is_sensitive,
        tuple(
            ConfigSynonym(synonym.name, None if config.is_sensitive else synonym.value, source_of(synonym.source))
            for synonym in config.synonyms
        ),
        _TYPES[config.config_type],
        config.documentation or None,
    )


def source_of(code: int) -> ConfigSource:
    """The source of a number on the wire; those of newer brokers keep their number."""
    return ConfigSource.UNKNOWN if code == -1 else _SOURCES[code]  # version 0 has -1 for it
