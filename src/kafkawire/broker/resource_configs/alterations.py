"""Changes of configurations: the operations of KIP-339, the checks, the policy and the records (G5, G6)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.features import ELR_FEATURE
from kafkawire.broker.image.metadata_image import MetadataImage
from kafkawire.broker.item_errors import ItemError, item_errors
from kafkawire.broker.plugins.alter_config_policy import AlterConfigPolicy, ConfigRequestMetadata
from kafkawire.broker.plugins.reconfigurable import Reconfigurable, needs_reconfiguration
from kafkawire.broker.resource_configs.broker_rules import BrokerChangeRules
from kafkawire.broker.resource_configs.descriptions import topic_defaults
from kafkawire.broker.resource_configs.rules import ConfigRules
from kafkawire.model.configs.broker_names import broker_definition
from kafkawire.model.configs.definitions import ConfigDefinition, definitions
from kafkawire.model.configs.resources import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType
from kafkawire.protocol import ConfigRecord
from kafkawire.protocol.error_codes import ErrorCode

_log = logging.getLogger(__name__)
_LONGEST: Final = 2**15 - 1
"""The most bytes of a string in a record."""

_MIN_INSYNC_REPLICAS: Final = "min.insync.replicas"


class ConfigAlterations:
    """Validates changes of configurations and makes their records.

    Args:
        image: the state of the cluster.
        dynamic: the broker's own configuration.
        policy: the user's policy; None if there is none.
        reconfigurable: returns the plug-in that can be configured again, or None.
    """

    def __init__(
        self,
        image: MetadataImage,
        dynamic: DynamicConfiguration,
        policy: AlterConfigPolicy | None = None,
        reconfigurable: Callable[[], Reconfigurable | None] = lambda: None,
    ) -> None:
        self._image = image
        self._dynamic = dynamic
        self._policy = policy
        self._reconfigurable = reconfigurable
        self._rules = ConfigRules(dynamic)
        self._broker_rules = BrokerChangeRules(dynamic)

    def records_of_new(self, resource: ConfigResource, configs: Mapping[str, str]) -> Sequence[ConfigRecord]:
        """The records of the configuration of a new resource.

        Raises:
            ItemError: the configuration is invalid.
        """
        self._rules.check(resource.resource_type, resource.name, configs)
        self._ask_policy(resource, configs)
        return [_record(resource, name, value) for name, value in configs.items()]

    def records_of_changes(self, resource: ConfigResource, changes: Iterable[ConfigChange]) -> Sequence[ConfigRecord]:
        """The records of changes; none for values that stay the same.

        For brokers, unchanged values are recorded too: brokers then reload files.

        Args:
            resource: the resource.
            changes: each name once, with a value where the operation needs one.

        Raises:
            ItemError: the resulting configuration is invalid.
        """
        current = self._image.configs.of(resource.resource_type, resource.name)
        altered: dict[str, str | None] = {}
        for change in changes:
            value = self._changed(resource, change, current.get(change.name))
            if value != current.get(change.name) or resource.resource_type is ConfigResourceType.BROKER:
                altered[change.name] = value
        result = {name: text for name, text in {**current, **altered}.items() if text is not None}
        self._check(resource, result, altered)
        return [_record(resource, name, value) for name, value in altered.items()]

    def records_of_replacement(self, resource: ConfigResource, configs: Mapping[str, str]) -> Sequence[ConfigRecord]:
        """The records that replace the configuration of a resource.

        Raises:
            ItemError: the configuration is invalid.
        """
        current = self._image.configs.of(resource.resource_type, resource.name)
        is_broker = resource.resource_type is ConfigResourceType.BROKER
        altered = {name: text for name, text in configs.items() if is_broker or current.get(name) != text}
        removed = [name for name in current if name not in configs]
        self._check_min_insync_replicas(resource, {**altered, **dict.fromkeys(removed)})
        self._check(resource, configs, altered)
        return [
            *(_record(resource, name, text) for name, text in altered.items()),
            *(_record(resource, name, None) for name in removed),
        ]

    def check_broker(self, resource: ConfigResource, changes: Iterable[ConfigChange]) -> None:
        """Validate changes of a broker's configuration as a broker does, before the controller validates them.

        Raises:
            ItemError: the broker refuses them.
        """
        current = dict(self._image.configs.of(resource.resource_type, resource.name))
        for change in changes:
            if change.operation in {ConfigOperation.APPEND, ConfigOperation.SUBTRACT}:
                _check_is_list(change)
            value = self._changed(resource, change, current.get(change.name))
            if value is None:
                current.pop(change.name, None)
            else:
                current[change.name] = value
        self.check_broker_configs(resource, current)

    def check_broker_configs(self, resource: ConfigResource, configs: Mapping[str, str]) -> None:
        """Validate a broker's whole configuration as a broker does.

        Raises:
            ItemError: the broker refuses it.
        """
        self._broker_rules.check(configs, of_one_broker=bool(resource.name))
        self._ask_plugin(resource, configs)

    def _ask_plugin(self, resource: ConfigResource, configs: Mapping[str, str]) -> None:
        plugin = self._reconfigurable()
        if plugin is None or resource.name not in {"", self._dynamic.node}:
            return
        before = self._dynamic.texts()
        after = self._dynamic.texts(of_this=configs) if resource.name else self._dynamic.texts(of_all=configs)
        try:
            if needs_reconfiguration(plugin, before, after):
                plugin.validate_reconfiguration(after)
        except ConfigurationError as error:
            raise ItemError(ErrorCode.INVALID_REQUEST, str(error)) from None
        except Exception as error:
            changed = ", ".join(sorted(name for name in {*before, *after} if before.get(name) != after.get(name)))
            name = f"{type(plugin).__module__}:{type(plugin).__qualname__}"
            _log.exception("%s could not validate a change of %s", name, changed)
            message = f"Validation of dynamic config update of [{changed}] failed with class {name}"
            raise ItemError(ErrorCode.INVALID_REQUEST, message) from error

    def _changed(self, resource: ConfigResource, change: ConfigChange, current: str | None) -> str | None:
        match change.operation:
            case ConfigOperation.SET:
                return change.value
            case ConfigOperation.DELETE:
                return None
        definition = _definition(resource, change.name)
        if definition is None or definition.kind != "list":
            message = f"Can't {change.operation.name} to key {change.name} because its type is not LIST."
            raise ItemError(ErrorCode.INVALID_CONFIG, message)
        entries = self._entries(resource, change.name, current, definition)
        named = _split(change.value or "")
        if change.operation is ConfigOperation.APPEND:
            known = frozenset(entries)
            return ",".join((*entries, *(one for one in dict.fromkeys(named) if one not in known)))
        return ",".join(_without(entries, named))

    def _entries(
        self, resource: ConfigResource, name: str, current: str | None, definition: ConfigDefinition
    ) -> Sequence[str]:
        if current is None:
            is_topic = resource.resource_type is ConfigResourceType.TOPIC
            current = topic_defaults(self._dynamic).get(name) if is_topic else definition.default
        return [entry for entry in (current or "").split(",") if entry]

    def _check(self, resource: ConfigResource, result: Mapping[str, str], altered: Mapping[str, str | None]) -> None:
        self._check_min_insync_replicas(resource, altered)
        self._rules.check(resource.resource_type, resource.name, result)
        is_topic = resource.resource_type is ConfigResourceType.TOPIC
        if is_topic and resource.name not in self._image.topics.by_name:
            raise ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{resource.name}' does not exist.")
        self._ask_policy(resource, altered)

    def _ask_policy(self, resource: ConfigResource, altered: Mapping[str, str | None]) -> None:
        if self._policy is not None:
            with item_errors(f"asking the policy about {resource.name}"):
                self._policy.validate(ConfigRequestMetadata(resource, dict(altered)))

    def _check_min_insync_replicas(self, resource: ConfigResource, altered: Mapping[str, str | None]) -> None:
        """Clusters with eligible leader replicas have one ``min.insync.replicas`` for all brokers (KIP-966)."""
        if resource.resource_type is not ConfigResourceType.BROKER or _MIN_INSYNC_REPLICAS not in altered:
            return
        if not self._image.features.levels.get(ELR_FEATURE):
            return
        if resource.name:
            message = "Broker-level min.insync.replicas cannot be altered while ELR is enabled."
            raise ItemError(ErrorCode.INVALID_CONFIG, message)
        if altered[_MIN_INSYNC_REPLICAS] is None:
            message = "Cluster-level min.insync.replicas cannot be removed while ELR is enabled."
            raise ItemError(ErrorCode.INVALID_CONFIG, message)


def _definition(resource: ConfigResource, name: str) -> ConfigDefinition | None:
    match resource.resource_type:
        case ConfigResourceType.TOPIC:
            return definitions().topic.get(name)
        case ConfigResourceType.GROUP:
            return definitions().group.get(name)
        case ConfigResourceType.BROKER:
            return broker_definition(name)
    return None


def _split(text: str) -> list[str]:
    """Entries as Java's ``split`` returns them: without empty ones at the end, except for an empty text."""
    parts = text.split(",")
    while text and parts and not parts[-1]:
        parts.pop()
    return parts


def _without(entries: Iterable[str], removed: Iterable[str]) -> Iterator[str]:
    """The entries without the first occurrence of each removed one."""
    left = Counter(removed)
    for entry in entries:
        if left[entry]:
            left[entry] -= 1
        else:
            yield entry


def _check_is_list(change: ConfigChange) -> None:
    definition = broker_definition(change.name)
    if definition is None:
        raise ItemError(ErrorCode.INVALID_CONFIG, f"Unknown config name: {change.name}")
    if definition.kind != "list":
        operation = change.operation.name.lower()
        message = f"Config value {operation} is not allowed for config key: {change.name}"
        raise ItemError(ErrorCode.INVALID_CONFIG, message)


def _record(resource: ConfigResource, name: str, value: str | None) -> ConfigRecord:
    if value is not None and len(value.encode(errors="replace")) > _LONGEST:
        limit = f"it exceeds the maximum value size of {_LONGEST} bytes."
        raise ItemError(ErrorCode.INVALID_CONFIG, f"The configuration value cannot be added because {limit}")
    return ConfigRecord(resource.resource_type, resource.name, name, value)
