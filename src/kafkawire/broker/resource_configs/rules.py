"""What may be set for topics, groups, client metrics and brokers; refusals in Kafka's words (G5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.admin.config_resources import ConfigResourceType
from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.configuration.checks import InvalidValueError, Value
from kafkawire.broker.configuration.definitions import ConfigDefinition, definitions
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.plugins.client_quota_callback import CALLBACK_CLASS, ClientQuotaCallback
from kafkawire.broker.plugins.loading import find
from kafkawire.broker.resource_configs.sources import broker_definition
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.protocol.error_codes import ErrorCode

__all__ = ["ConfigRules"]

_MINIMUM_INTERVAL_MS, _MAXIMUM_INTERVAL_MS = 100, 3_600_000
_MATCH_PARAMETERS: Final = frozenset(
    {
        "client_instance_id",
        "client_id",
        "client_software_name",
        "client_software_version",
        "client_source_address",
        "client_source_port",
    }
)
_KINDS_WITH_SESSIONS: Final = ("consumer", "share", "streams")
_STANDBY_REPLICAS: Final = "streams.num.standby.replicas"
_NODE_ID: Final = re.compile(r"[+-]?[0-9]{1,10}", re.ASCII)
_THREADS: Final = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
)


class ConfigRules:
    """Looks at whole configurations: what would be set for a resource after a change.

    Args:
        dynamic: the broker's own configuration, which bounds those of groups.
    """

    def __init__(self, dynamic: DynamicConfiguration) -> None:
        self._dynamic = dynamic
        self._checks: Mapping[int, Callable[[str, Mapping[str, str]], None]] = MappingProxyType(
            {
                ConfigResourceType.TOPIC: self._check_topic,
                ConfigResourceType.GROUP: self._check_group,
                ConfigResourceType.CLIENT_METRICS: self._check_client_metrics,
                ConfigResourceType.BROKER: self._check_broker_name,
            }
        )

    def check(self, resource_type: int, name: str, configs: Mapping[str, str]) -> None:
        """Let a configuration pass.

        Raises:
            ItemError: there is no such resource, or it cannot have such a configuration.
        """
        check = self._checks.get(resource_type)
        if check is None:
            raise ItemError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource_type}")
        check(name, configs)

    def check_broker_change(self, configs: Mapping[str, str], *, of_one_broker: bool) -> None:
        """Let what would be set for a broker, or for all, pass.

        Raises:
            ItemError: it cannot be set while brokers run, or not there.
        """
        try:
            self._check_places(configs, of_one_broker=of_one_broker)
            for name, text in configs.items():
                definition = broker_definition(name)
                if definition is not None:
                    definition.value(name, text)
            self._check_threads(configs)
        except InvalidValueError as error:
            raise ItemError(ErrorCode.INVALID_REQUEST, str(error)) from None

    def _check_topic(self, name: str, configs: Mapping[str, str]) -> None:
        if not name:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
        check_topic_name(name)
        values = _values(definitions().topic, configs, "topic")
        least, most = values.get("min.compaction.lag.ms", 0), values.get("max.compaction.lag.ms")
        if isinstance(least, int) and isinstance(most, int) and least > most:
            told = f"min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
            raise ItemError(ErrorCode.INVALID_CONFIG, f"conflict topic config setting {told}")
        if values.get("remote.storage.enable") and not self._dynamic.boolean("remote.log.storage.system.enable"):
            disabled = "Tiered Storage functionality is disabled in the broker."
            raise ItemError(ErrorCode.INVALID_CONFIG, f"{disabled} Topic cannot be configured with remote log storage.")

    def _check_group(self, name: str, configs: Mapping[str, str]) -> None:
        if not name:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Default group resources are not allowed.")
        values = _values(definitions().group, configs, "group")
        for key, value in values.items():
            if isinstance(value, int):
                self._check_bounds(key, value)
        for kind in _KINDS_WITH_SESSIONS:
            session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
            if self._of_group(session, values) <= self._of_group(heartbeat, values):
                raise ItemError(ErrorCode.INVALID_CONFIG, f"{session} must be greater than {heartbeat}")

    def _check_bounds(self, key: str, value: int) -> None:
        kind, _, rest = key.partition(".")
        least = f"group.{kind}.min.{rest}"
        most = "group.streams.max.standby.replicas" if key == _STANDBY_REPLICAS else f"group.{kind}.max.{rest}"
        known = definitions().broker
        if least in known and value < self._dynamic.integer(least):
            raise ItemError(ErrorCode.INVALID_CONFIG, f"{key} must be greater than or equal to {least}")
        if most in known and value > self._dynamic.integer(most):
            raise ItemError(ErrorCode.INVALID_CONFIG, f"{key} must be less than or equal to {most}")

    def _of_group(self, key: str, values: Mapping[str, Value]) -> int:
        value = values.get(key)
        return value if isinstance(value, int) else self._dynamic.integer(f"group.{key}")

    def _check_client_metrics(self, name: str, configs: Mapping[str, str]) -> None:
        if not name:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
        known = definitions().client_metrics
        unknown = next((key for key in configs if key not in known), None)
        if unknown is not None:
            raise ItemError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {unknown}")
        values = _values(known, configs, "client metrics")
        interval = values.get("interval.ms")
        if isinstance(interval, int) and not _MINIMUM_INTERVAL_MS <= interval <= _MAXIMUM_INTERVAL_MS:
            allowed = f"between {_MINIMUM_INTERVAL_MS} and {_MAXIMUM_INTERVAL_MS} (1 hour)"
            message = f"Invalid value {interval} for interval.ms, interval must be {allowed}"
            raise ItemError(ErrorCode.INVALID_REQUEST, message)
        patterns = values.get("match")
        for pattern in patterns if isinstance(patterns, tuple) else ():
            if not _is_client_pattern(pattern):
                raise ItemError(ErrorCode.INVALID_CONFIG, f"Illegal client matching pattern: {pattern}")

    def _check_broker_name(self, name: str, configs: Mapping[str, str]) -> None:
        if not name:
            return
        if not _NODE_ID.fullmatch(name):
            raise ItemError(ErrorCode.INVALID_REQUEST, "Unable to parse broker name as a base 10 number.")
        if int(name) < 0:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Invalid negative broker ID.")

    def _check_places(self, configs: Mapping[str, str], *, of_one_broker: bool) -> None:
        known = definitions()
        changeable = known.update_modes if of_one_broker else {CALLBACK_CLASS, *known.update_modes}
        fixed = [key for key in configs if key in known.broker and key not in changeable]
        _refuse(fixed, "Cannot update these configs dynamically")
        if configs.get(CALLBACK_CLASS):
            _check_callback(configs[CALLBACK_CLASS])
        secured = [key for key in configs if key in _security_configs()]
        _refuse(
            secured,
            "These security configs can be dynamically updated only per-listener using the listener prefix",
        )
        if not of_one_broker:
            for key, text in configs.items():
                definition = broker_definition(key)
                if definition is not None:
                    definition.value(key, text)
            _refuse(
                [key for key in configs if _is_of_one_broker(key)],
                "Cannot update these configs at default cluster level, broker id must be specified",
            )

    def _check_threads(self, configs: Mapping[str, str]) -> None:
        """Pools of threads are resized in steps: to half or double their size at most."""
        for name in _THREADS:
            if name not in configs:
                continue
            now, then = self._dynamic.integer(name), int(configs[name])
            failed = f"Dynamic thread count update validation failed for {name}={then}"
            if then < now / 2:
                raise InvalidValueError(f"{failed}, value should be at least half the current value {now}")
            if then > now * 2:
                raise InvalidValueError(f"{failed}, value should not be greater than double the current value {now}")


def _values(known: Mapping[str, ConfigDefinition], configs: Mapping[str, str], kind: str) -> dict[str, Value]:
    unknown = next((key for key in configs if key not in known), None)
    if unknown is not None:
        raise ItemError(ErrorCode.INVALID_CONFIG, f"Unknown {kind} config name: {unknown}")
    try:
        return {key: known[key].value(key, text) for key, text in configs.items()}
    except InvalidValueError as error:
        raise ItemError(ErrorCode.INVALID_CONFIG, str(error)) from None


def _is_client_pattern(pattern: str) -> bool:
    parts = pattern.split("=")
    if len(parts) != 2 or parts[0].strip() not in _MATCH_PARAMETERS:
        return False
    try:
        re.compile(parts[1].strip())
    except re.error:
        return False
    return True


def _check_callback(text: str) -> None:
    try:
        find(text, ClientQuotaCallback, CALLBACK_CLASS)
    except ConfigurationError as error:
        raise InvalidValueError(str(error)) from None


def _refuse(names: Iterable[str], why: str) -> None:
    told = ", ".join(names)
    if told:
        raise InvalidValueError(f"{why}: [{told}]")


def _is_of_one_broker(name: str) -> bool:
    mode = definitions().update_modes.get(name)
    if mode is not None:
        return mode == "per-broker"
    base = name.split(".", 3)
    return name.startswith("listener.name.") and len(base) == 4 and base[3] not in _OF_ALL_LISTENERS


_OF_ALL_LISTENERS: Final = frozenset({"max.connections", "max.connection.creation.rate", "num.network.threads"})


def _security_configs() -> frozenset[str]:
    """What can be changed for a listener only."""
    modes = definitions().update_modes
    return frozenset(name for name, mode in modes.items() if mode == "per-broker" and name.startswith("ssl."))
