"""Validation of the configurations of topics, groups, client metrics and brokers; with Kafka's messages (G5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.topic_names import check_topic_name
from kafkawire.model.configs.checks import InvalidValueError, Value
from kafkawire.model.configs.definitions import ConfigDefinition, definitions
from kafkawire.model.configs.resources import ConfigResourceType
from kafkawire.protocol.error_codes import ErrorCode

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


class ConfigRules:
    """Validates whole configurations: the values of a resource after a change.

    Args:
        dynamic: the broker's own configuration, with the limits for groups.
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
        """Validate a configuration; raise if it is not acceptable.

        Raises:
            ItemError: there is no such resource, or the configuration is invalid.
        """
        check = self._checks.get(resource_type)
        if check is None:
            raise ItemError(ErrorCode.INVALID_REQUEST, f"Unknown resource type {resource_type}")
        check(name, configs)

    def _check_topic(self, name: str, configs: Mapping[str, str]) -> None:
        if not name:
            raise ItemError(ErrorCode.INVALID_REQUEST, "Default topic resources are not allowed.")
        check_topic_name(name)
        values = _values(definitions().topic, configs, "topic")
        least, most = values.get("min.compaction.lag.ms", 0), values.get("max.compaction.lag.ms")
        if isinstance(least, int) and isinstance(most, int) and least > most:
            conflict = f"min.compaction.lag.ms ({least}) > max.compaction.lag.ms ({most})"
            raise ItemError(ErrorCode.INVALID_CONFIG, f"conflict topic config setting {conflict}")
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
    except (re.error, OverflowError, RecursionError):
        return False
    return True
