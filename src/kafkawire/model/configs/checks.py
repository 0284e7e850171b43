"""Checks of values of configurations beyond their type. The messages are Kafka's."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec

from kafkawire.model.configs.java_durations import java_duration
from kafkawire.model.configs.java_numbers import java_double

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | None
"""A parsed value: text, a number, a boolean, the entries of a list, or None."""

_REPLICA = re.compile(r"([0-9]+:[0-9]+)?", re.ASCII)
_BY_DURATION = "by_duration:"


class InvalidValueError(Exception):
    """An invalid value of a configuration; the message is Kafka's and has the value, which is not secret then."""

    @classmethod
    def of(cls, name: str, value: object, reason: str) -> InvalidValueError:
        """The usual form of the message.

        Args:
            name: of the configuration.
            value: as it was given.
            reason: what is wrong with it.
        """
        shown = "null" if value is None else java_double(value) if isinstance(value, float) else value
        return cls(f"Invalid value {shown} for configuration {name}: {reason}")


class _Check(msgspec.Struct, frozen=True, tag_field="kind", omit_defaults=True):
    """A check of one value, which raises InvalidValueError if it is invalid. Each kind implements ``verify``."""

    def verify(self, name: str, value: Value) -> None:
        """Raise InvalidValueError if the value is invalid."""
        raise NotImplementedError


class Range(_Check, frozen=True, tag="range"):
    """A number between two others; None for no limit."""

    minimum: int | float | None = None
    maximum: int | float | None = None

    def verify(self, name: str, value: Value) -> None:
        """Validate the number."""
        if not isinstance(value, int | float):
            raise InvalidValueError.of(name, value, "Value must be non-null")
        if self.minimum is not None and value < self.minimum:
            raise InvalidValueError.of(name, value, f"Value must be at least {self.minimum}")
        if self.maximum is not None and value > self.maximum:
            raise InvalidValueError.of(name, value, f"Value must be no more than {self.maximum}")


class RangeOr(_Check, frozen=True, tag="range_or"):
    """A number between two others, or a special one beside."""

    minimum: int
    maximum: int
    other: int

    def verify(self, name: str, value: Value) -> None:
        """Validate the number."""
        if not isinstance(value, int) or not (self.minimum <= value <= self.maximum or value == self.other):
            reason = f"Value must be between {self.minimum} and {self.maximum} or equal to {self.other}"
            raise InvalidValueError.of(name, value, reason)


class OneOf(_Check, frozen=True, tag="one_of"):
    """One of some words."""

    words: tuple[str, ...]
    ignoring_case: bool = False

    def verify(self, name: str, value: Value) -> None:
        """Validate the text."""
        if value in self.words:
            return
        if self.ignoring_case and isinstance(value, str) and value.upper() in map(str.upper, self.words):
            return
        how = " (case insensitive)" if self.ignoring_case else ""
        raise InvalidValueError.of(name, value, f"String must be one of{how}: {', '.join(self.words)}")


class Entries(_Check, frozen=True, tag="entries"):
    """A list without empty entries; if words are given, only of these."""

    words: tuple[str, ...] = ()
    may_be_empty: bool = True
    may_be_null: bool = False

    def verify(self, name: str, value: Value) -> None:
        """Validate the list."""
        if not isinstance(value, tuple):
            if value is None and self.may_be_null:
                return
            raise InvalidValueError(f"Configuration '{name}' values must not be null.")
        if not value and not self.may_be_empty:
            valid = ", ".join(self.words) or "any non-empty value"
            raise InvalidValueError(f"Configuration '{name}' must not be empty. Valid values include: {valid}")
        if "" in value:
            raise InvalidValueError(f"Configuration '{name}' values must not be empty.")
        for entry in value if self.words else ():
            OneOf(self.words).verify(name, entry)


class NotNull(_Check, frozen=True, tag="not_null"):
    """Any value."""

    def verify(self, name: str, value: Value) -> None:
        """Validate that there is a value."""
        if value is None:
            raise InvalidValueError.of(name, value, "entry must be non null")


class NotEmpty(_Check, frozen=True, tag="not_empty"):
    """Any text that is not empty; or none."""

    def verify(self, name: str, value: Value) -> None:
        """Validate the text."""
        if value == "":
            raise InvalidValueError.of(name, value, "String must be non-empty")


class ThrottledReplicas(_Check, frozen=True, tag="throttled_replicas"):
    """``*``, or a list of partitions and brokers, ``0:1,1:1``; empty entries count for nothing."""

    def verify(self, name: str, value: Value) -> None:
        """Validate the list."""
        entries = value if isinstance(value, tuple) else ()
        if "".join(entries) != "*" and not all(map(_REPLICA.fullmatch, entries)):
            wanted = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
            reason = f"{name} must be the literal '*' or a list of replicas in the following format: {wanted}"
            raise InvalidValueError.of(name, f"[{', '.join(entries)}]", reason)


class OffsetReset(_Check, frozen=True, tag="offset_reset"):
    """Where share groups start: ``earliest``, ``latest`` or ``by_duration:PT1H`` (KIP-932, KIP-1106)."""

    def verify(self, name: str, value: Value) -> None:
        """Validate the strategy."""
        if value in {"earliest", "latest"} or (isinstance(value, str) and _is_by_duration(value)):
            return
        forms = "either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'"
        reason = f"Invalid value `{value}` for configuration {name}. The value must be {forms}."
        raise InvalidValueError.of(name, value, reason)


def _is_by_duration(value: str) -> bool:
    try:
        return value.startswith(_BY_DURATION) and java_duration(value.removeprefix(_BY_DURATION)) >= 0
    except ValueError:
        return False


Check: TypeAlias = Range | RangeOr | OneOf | Entries | NotNull | NotEmpty | ThrottledReplicas | OffsetReset
"""Every check that a definition may have."""
