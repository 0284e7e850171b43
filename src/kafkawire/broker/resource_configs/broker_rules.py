"""Validation of broker configurations that are set while brokers run (KIP-226); with Kafka's messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.configuration.dynamic_configuration import DynamicConfiguration
from kafkawire.broker.item_errors import ItemError
from kafkawire.broker.plugins.client_quota_callback import CALLBACK_CLASS, ClientQuotaCallback
from kafkawire.broker.plugins.loading import find
from kafkawire.broker.resource_configs.descriptions import topic_defaults
from kafkawire.model.configs.broker_names import broker_definition, broker_synonyms
from kafkawire.model.configs.checks import InvalidValueError, Value
from kafkawire.model.configs.definitions import definitions
from kafkawire.protocol.error_codes import ErrorCode

_POOLS: Final = (
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
    "remote.log.reader.threads",
    "remote.log.manager.copier.thread.pool.size",
    "remote.log.manager.expiration.thread.pool.size",
    "remote.log.manager.follower.thread.pool.size",
)
_OF_ALL_LISTENERS: Final = frozenset({"max.connections", "max.connection.creation.rate", "num.network.threads"})
_KINDS_OF_GROUPS: Final = ("consumer", "share", "streams")
_LIMITS: Final = ("max.connections", "max.connection.creation.rate")
_OVERRIDES: Final = "max.connections.per.ip.overrides"
_LISTENERS: Final = ("listeners", "listener.security.protocol.map")
_ALL_LOG_DIRS: Final = ("*",)
_BYTES_OF_A_CLEANER: Final = 1 << 20


class BrokerChangeRules:
    """Validates the effective configuration of a broker, or of all brokers, after a change.

    Args:
        dynamic: the broker's configuration.
    """

    def __init__(self, dynamic: DynamicConfiguration) -> None:
        self._dynamic = dynamic

    def check(self, configs: Mapping[str, str], *, of_one_broker: bool) -> None:
        """Validate the configuration; raise if it is not acceptable.

        Raises:
            ItemError: a value cannot be set while brokers run, not for this resource, or contradicts another value.
        """
        try:
            _check_places(configs, of_one_broker=of_one_broker)
            _check_callback(configs.get(CALLBACK_CLASS))
            values = dict(_values(configs))
            if not of_one_broker:
                _refuse(
                    filter(_is_of_one_broker, configs),
                    "Cannot update these configs at default cluster level, broker id must be specified",
                )
            listeners = (key for key in configs if key in _LISTENERS)
            _refuse(listeners, "The embedded broker keeps the listeners that it was started with; cannot update")
            self._check_numbers(values)
            self._check_local_retention(values)
            self._check_connections(values)
            self._check_log_dirs(values)
            self._check_pools(values)
        except InvalidValueError as error:
            raise ItemError(ErrorCode.INVALID_REQUEST, str(error)) from None

    def _check_numbers(self, values: Mapping[str, Value]) -> None:
        rolled = values.get("log.roll.ms")
        _require(not isinstance(rolled, int) or rolled >= 1, "log.roll.ms must be greater than or equal to 1")
        jitter = values.get("log.roll.jitter.ms")
        _require(not isinstance(jitter, int) or jitter >= 0, "log.roll.jitter.ms must be greater than or equal to 0")
        _require(
            values.get("log.retention.ms", 1) != 0,
            "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
        )
        if {"log.cleaner.threads", "log.cleaner.dedupe.buffer.size"} & values.keys():
            threads = self._number("log.cleaner.threads", values)
            size = self._number("log.cleaner.dedupe.buffer.size", values)
            _require(
                threads > 0 and size // threads > _BYTES_OF_A_CLEANER,
                "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
            )
        for kind in _KINDS_OF_GROUPS:
            name, most = f"group.{kind}.assignment.interval.ms", f"group.{kind}.max.assignment.interval.ms"
            if self._number(name, values) > self._number(most, values):
                raise InvalidValueError(f"{name} must be less than or equal to {most}")

    def _check_local_retention(self, values: Mapping[str, Value]) -> None:
        """The local retention must not exceed the whole retention."""
        defaults = topic_defaults(self._dynamic)
        for unit in ("ms", "bytes"):
            local = self._number(f"log.local.retention.{unit}", values)
            whole = values.get(f"log.retention.{unit}", int(defaults[f"retention.{unit}"] or 0))
            if not isinstance(whole, int) or whole < 0:
                continue
            if local == -1:
                reason = f"Value must not be -1 as log.retention.{unit} value is set as {whole}."
                raise InvalidValueError.of(f"log.local.retention.{unit}", local, reason)
            if whole < local:
                reason = f"Value must not be more than log.retention.{unit} property value: {whole}"
                raise InvalidValueError.of(f"log.local.retention.{unit}", local, reason)

    def _check_connections(self, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            base = broker_synonyms(name)[-1]
            if base in _LIMITS and value == 0 and self._is_served(name):
                raise InvalidValueError(f"Invalid {base} {value}")
        overrides = values.get(
            "max.connections.per.ip.overrides", self._dynamic.value("max.connections.per.ip.overrides")
        )
        for entry in filter(None, str(overrides or "").split(",")):
            host, _, number = entry.strip().rpartition(":")
            if not host or not number.strip().isdecimal():
                reason = f"{entry} is no HOST:NUMBER"
                raise InvalidValueError(f"Error parsing configuration property '{_OVERRIDES}': {reason}")
        _require(
            values.get("max.connections.per.ip") != 0 or bool(overrides),
            f"max.connections.per.ip can be set to zero only if {_OVERRIDES} property is set.",
        )

    def _check_log_dirs(self, values: Mapping[str, Value]) -> None:
        cordoned = values.get("cordoned.log.dirs")
        static = self._dynamic.static
        known = static.strings("log.dirs") or static.strings("log.dir")
        entries = cordoned if isinstance(cordoned, tuple) and cordoned != _ALL_LOG_DIRS else ()
        missing = [entry for entry in entries if entry not in known]
        _require(
            not missing,
            "All entries in cordoned.log.dirs must be present in log.dirs or log.dir. "
            f"Missing entries : {', '.join(missing)}",
        )

    def _check_pools(self, values: Mapping[str, Value]) -> None:
        """Kafka resizes thread pools to at least half and at most double their size.

        The embedded broker has no such pools, but its answers are compared with Kafka's.
        """
        for name in _POOLS:
            now, then = self._dynamic.integer(name), self._number(name, values)
            failed = f"Dynamic thread count update validation failed for {name}={then}"
            if then < now // 2:
                raise InvalidValueError(f"{failed}, value should be at least half the current value {now}")
            if then > now * 2:
                raise InvalidValueError(f"{failed}, value should not be greater than double the current value {now}")
        now, then = self._dynamic.integer("log.cleaner.threads"), self._number("log.cleaner.threads", values)
        if then > now * 2:
            raise InvalidValueError(
                f"Log cleaner threads cannot be increased to more than double the current value {now}"
            )

    def _is_served(self, name: str) -> bool:
        """Whether a name is for all listeners, or for an existing one."""
        if not _is_of_listener(name):
            return True
        listeners = {listener.partition("://")[0].lower() for listener in self._dynamic.static.strings("listeners")}
        return name.split(".")[2] in listeners

    def _number(self, name: str, values: Mapping[str, Value]) -> int:
        value = values.get(name)
        return value if isinstance(value, int) else self._dynamic.integer(name)


def _check_places(configs: Mapping[str, str], *, of_one_broker: bool) -> None:
    known = definitions()
    changeable = known.update_modes if of_one_broker else {CALLBACK_CLASS, *known.update_modes}  # KIP-257
    fixed = (key for key in configs if key in known.broker and key not in changeable)
    _refuse(fixed, "Cannot update these configs dynamically")
    _refuse(
        (key for key in configs if key in known.of_listeners_only),
        "These security configs can be dynamically updated only per-listener using the listener prefix",
    )


def _check_callback(text: str | None) -> None:
    if not text:
        return
    try:
        find(text, ClientQuotaCallback, CALLBACK_CLASS)
    except ConfigurationError as error:
        raise InvalidValueError(str(error)) from None


def _values(configs: Mapping[str, str]) -> Iterator[tuple[str, Value]]:
    """The parsed values; errors of listeners' values have the name without the listener's prefix."""
    for name, text in configs.items():
        definition = broker_definition(name)
        if definition is not None:
            yield name, definition.value(broker_synonyms(name)[-1] if _is_of_listener(name) else name, text)


def _is_of_one_broker(name: str) -> bool:
    mode = definitions().update_modes.get(name)
    if mode is not None:
        return mode == "per-broker"
    return _is_of_listener(name) and broker_synonyms(name)[-1] not in _OF_ALL_LISTENERS


def _is_of_listener(name: str) -> bool:
    return name.startswith("listener.name.") and len(broker_synonyms(name)) > 1


def _refuse(names: Iterable[str], why: str) -> None:
    refused = ", ".join(names)
    if refused:
        raise InvalidValueError(f"{why}: [{refused}]")


def _require(is_so: bool, what: str) -> None:
    if not is_so:
        raise InvalidValueError(f"requirement failed: {what}")
