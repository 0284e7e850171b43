"""The log levels of this process, with Kafka's names (KIP-412)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from kafkawire.broker.item_errors import ItemError
from kafkawire.model.configs.resources import ConfigOperation
from kafkawire.protocol.error_codes import ErrorCode

_ROOT: Final = "root"
_OURS: Final = "kafkawire"
_LEVELS: Final[Mapping[str, int]] = MappingProxyType(
    {"FATAL": logging.CRITICAL, "ERROR": logging.ERROR, "WARN": logging.WARNING, "INFO": logging.INFO,
     "DEBUG": logging.DEBUG, "TRACE": 5}
)  # fmt: skip


class BrokerLoggers:
    """The loggers of kafkawire, and the root logger. A broker that ends restores their levels."""

    def __init__(self) -> None:
        self._earlier: dict[str, int] = {}
        """The levels of the loggers that were changed."""

    def levels(self) -> dict[str, str]:
        """Logger to its level; the level of an ancestor if it has none."""
        return {name: _word(_logger(name).getEffectiveLevel()) for name in self._names()}

    def check(self, name: str, operation: int, value: str | None) -> None:
        """Validate a change; raise if it is not acceptable.

        Raises:
            ItemError: there is no such logger, level or operation.
        """
        if operation not in {ConfigOperation.SET, ConfigOperation.DELETE}:
            if operation not in frozenset(ConfigOperation):
                raise ItemError(ErrorCode.UNKNOWN_SERVER_ERROR)
            message = f"{ConfigOperation(operation).name} operation is not allowed for the BROKER_LOGGER resource"
            raise ItemError(ErrorCode.INVALID_REQUEST, message)
        if name not in self._names():
            raise ItemError(ErrorCode.INVALID_CONFIG, f"Logger {name} does not exist!")
        if operation == ConfigOperation.DELETE:
            if name == _ROOT:
                raise ItemError(ErrorCode.INVALID_REQUEST, "Removing the log level of the root logger is not allowed")
        elif value not in _LEVELS:
            levels = ", ".join(sorted(_LEVELS))
            message = f"Cannot set the log level of {name} to {value} as it is not a supported log level. "
            raise ItemError(ErrorCode.INVALID_CONFIG, f"{message}Valid log levels are {levels}")

    def apply(self, name: str, value: str | None) -> None:
        """Set a level, or remove it with None."""
        logger = _logger(name)
        self._earlier.setdefault(name, logger.level)
        logger.setLevel(logging.NOTSET if value is None else _LEVELS[value])

    def restore(self) -> None:
        """Give each logger that was changed the level that it had before."""
        for name, level in self._earlier.items():
            _logger(name).setLevel(level)
        self._earlier.clear()

    def _names(self) -> list[str]:
        known = logging.root.manager.loggerDict
        ours = sorted(name for name in known if name == _OURS or name.startswith(f"{_OURS}."))
        return [_ROOT, *ours]


def _logger(name: str) -> logging.Logger:
    return logging.getLogger(None if name == _ROOT else name)


def _word(level: int) -> str:
    return next((word for word, number in _LEVELS.items() if level >= number), "TRACE")
