"""The entries of configurations in the responses of DescribeConfigs and CreateTopics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

import msgspec

from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration, SetConfigs
from kafkawire.model.configs.broker_names import broker_definition, broker_synonyms
from kafkawire.model.configs.definitions import ConfigDefinition, definitions
from kafkawire.model.configs.resources import ConfigEntry, ConfigResourceType, ConfigSource, ConfigSynonym, ConfigType
from kafkawire.model.configs.values import written

SetValues: TypeAlias = Mapping[str, str]


def topic_defaults(dynamic: DynamicConfiguration) -> dict[str, str | None]:
    """The values for topics without their own, by the names of topic configurations."""
    known = definitions()
    defaults = {name: definition.default for name, definition in known.topic.items()}
    for name, synonyms in known.topic_synonyms.items():
        for synonym, milliseconds in synonyms.items():
            value = dynamic.value(synonym)
            if value is not None:
                defaults[name] = written(value * milliseconds if milliseconds > 1 and isinstance(value, int) else value)
                break
    return defaults


class _BrokerSources:
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


class ConfigDescriptions:
    """Describes the current configurations.

    Args:
        dynamic: the broker's own configuration.
        configs: the values set for topics, groups and client metrics.
    """

    def __init__(self, dynamic: DynamicConfiguration, configs: SetConfigs) -> None:
        self._dynamic = dynamic
        self._configs = configs
        self._sources = _BrokerSources(dynamic)
        self._inherited: tuple[tuple[SetValues, SetValues], Mapping[str, ConfigEntry]] | None = None

    def topic(self, name: str) -> list[ConfigEntry]:
        """The configuration of a topic."""
        return self.topic_with(self._configs.of(ConfigResourceType.TOPIC, name))

    def topic_with(self, own: Mapping[str, str]) -> list[ConfigEntry]:
        """The configuration of a topic for which these values are set."""
        inherited = self._inherited_by_topics()
        described = _Described(definitions().topic, own, ConfigSource.DYNAMIC_TOPIC_CONFIG)
        return [
            described.entry(name, entry.value, entry.synonyms) if name in own else entry
            for name, entry in inherited.items()
        ]

    def _inherited_by_topics(self) -> Mapping[str, ConfigEntry]:
        """The configuration of a topic without its own values. It is the same until a value of brokers changes."""
        of_brokers = dict(self._dynamic.of_this_broker), dict(self._dynamic.of_all_brokers)
        if self._inherited is None or self._inherited[0] != of_brokers:
            self._inherited = of_brokers, dict(self._entries_without_own())
        return self._inherited[1]

    def _entries_without_own(self) -> Iterator[tuple[str, ConfigEntry]]:
        known = definitions()
        defaults = topic_defaults(self._dynamic)
        described = _Described(known.topic, {}, ConfigSource.DYNAMIC_TOPIC_CONFIG)
        for name in _public(known.topic):
            of_broker = next(iter(known.topic_synonyms.get(name, ())), None)
            synonyms = () if of_broker is None else self._sources.synonyms(of_broker)
            yield name, described.entry(name, defaults[name], synonyms)

    def topic_in_creation(self, own: Mapping[str, str]) -> list[ConfigEntry]:
        """The configuration of a topic that is being created: by name, with the sources that the controller reports.

        Unlike the broker, the controller distinguishes values in other units from defaults, and reports the values of
        the topic as they were written.
        """
        entries = [self._as_controller_sees(entry, own) for entry in self.topic_with(own)]
        return sorted(entries, key=lambda entry: entry.name)

    def group(self, name: str) -> list[ConfigEntry]:
        """The configuration of a group, which need not exist."""
        known = definitions()
        own = self._configs.of(ConfigResourceType.GROUP, name)
        described = _Described(known.group, own, ConfigSource.DYNAMIC_GROUP_CONFIG)
        entries = []
        for key, definition in known.group.items():
            of_broker = known.group_synonyms.get(key)
            if of_broker is None:
                default = definition.default
                synonyms: tuple[ConfigSynonym, ...] = (ConfigSynonym(key, default, ConfigSource.DEFAULT_CONFIG),)
            else:
                default = written(self._dynamic.value(of_broker))
                synonyms = self._sources.synonyms(of_broker)
            entries.append(described.entry(key, default, synonyms))
        return entries

    def client_metrics(self, name: str) -> list[ConfigEntry]:
        """The configuration of a subscription to client metrics."""
        known = definitions().client_metrics
        own = self._configs.of(ConfigResourceType.CLIENT_METRICS, name)
        described = _Described(known, own, ConfigSource.DYNAMIC_CLIENT_METRICS_CONFIG)
        return [described.entry(key, definition.default, ()) for key, definition in known.items()]

    def broker(self) -> list[ConfigEntry]:
        """The configuration of this broker."""
        originals = self._dynamic.texts()
        public = (name for name, one in definitions().broker.items() if not one.is_internal)
        return [self._broker_entry(name, originals) for name in dict.fromkeys((*originals, *public))]

    def all_brokers(self) -> list[ConfigEntry]:
        """The values set for all brokers that have no value of their own."""
        entries = []
        for name, text in self._dynamic.of_all_brokers.items():
            synonyms = tuple(
                one for one in self._sources.synonyms(name) if one.source is ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
            )
            entries.append(_broker_entry(name, text, synonyms))
        return entries

    def _broker_entry(self, name: str, originals: Mapping[str, str]) -> ConfigEntry:
        known = definitions().broker
        text = written(self._dynamic.value(name)) if name in known else originals[name]
        return _broker_entry(name, text, self._sources.synonyms(name))

    def _as_controller_sees(self, entry: ConfigEntry, own: Mapping[str, str]) -> ConfigEntry:
        if entry.name in own:
            return msgspec.structs.replace(entry, value=own[entry.name])
        if entry.source is not ConfigSource.DEFAULT_CONFIG:
            return entry
        sources = (
            (self._dynamic.of_this_broker, ConfigSource.DYNAMIC_BROKER_CONFIG),
            (self._dynamic.of_all_brokers, ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG),
            (self._dynamic.static.properties, ConfigSource.STATIC_BROKER_CONFIG),
        )
        synonyms = definitions().topic_synonyms.get(entry.name, {})
        found = (source for values, source in sources if not synonyms.keys().isdisjoint(values))
        source = next(found, ConfigSource.DEFAULT_CONFIG)
        return msgspec.structs.replace(entry, source=source)


class _Described:
    """Makes the entries of one resource.

    Args:
        known: the definitions of its type.
        own: the values set for it.
        source: the source of these values.
    """

    def __init__(self, known: Mapping[str, ConfigDefinition], own: Mapping[str, str], source: ConfigSource) -> None:
        self._known = known
        self._own = own
        self._source = source

    def entry(self, name: str, default: str | None, inherited: tuple[ConfigSynonym, ...]) -> ConfigEntry:
        """The entry of a name."""
        definition = self._known[name]
        value, synonyms = default, inherited
        if name in self._own:
            value = definition.normalised(self._own[name])
            synonyms = (ConfigSynonym(name, value, self._source), *inherited)
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT_CONFIG
        return ConfigEntry(name, value, source, synonyms=synonyms, config_type=_type(definition))


def _broker_entry(name: str, text: str | None, synonyms: tuple[ConfigSynonym, ...]) -> ConfigEntry:
    definition = broker_definition(name)
    sensitive = definition is None or definition.is_sensitive
    return ConfigEntry(
        name,
        None if sensitive else text,
        synonyms[0].source if synonyms else ConfigSource.DEFAULT_CONFIG,
        is_read_only=name not in definitions().update_modes,
        is_sensitive=sensitive,
        synonyms=synonyms,
        config_type=_type(definition),
    )


def _public(known: Mapping[str, ConfigDefinition]) -> Iterator[str]:
    return (name for name, definition in known.items() if not definition.is_internal)


def _type(definition: ConfigDefinition | None) -> ConfigType:
    return ConfigType.UNKNOWN if definition is None else ConfigType[definition.kind.upper()]


def _shown(name: str, text: str) -> str | None:
    definition = broker_definition(name)
    return None if definition is None or definition.is_sensitive else text
