"""Texts of options and arguments that mean a time, a duration, or partitions of a topic."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.logs.option_records import DURATION, TIME, OptionError, ValueKind, value_of
from kafkawire.model.partitions import TopicPartition

_SECOND: Final = 1000
_PARTITIONS: Final = 1 << 31
_LONGEST_NUMBER: Final = 10
"""Digits of a partition."""


def milliseconds_of(text: str, option: str) -> int:
    """The milliseconds of a duration such as ``30s``, ``10m`` or ``7d``.

    Raises:
        CommandError: it is none; the message names the option.
    """
    seconds: int = _value_of(text, DURATION, option)
    return seconds * _SECOND


def time_of(text: str, option: str) -> datetime:
    """The time of a text such as ``2026-03-01`` or ``2026-03-01T12:30:00Z``; without a zone it is in UTC.

    Raises:
        CommandError: it is none; the message names the option.
    """
    time: datetime = _value_of(text, TIME, option)
    return time


def _value_of(text: str, kind: ValueKind, option: str) -> Any:  # noqa: ANN401 the kind decides
    try:
        return value_of(text, kind, option)
    except OptionError as error:
        raise CommandError(f"{option}: {error.reason}", ExitCode.USAGE) from None


def partitions_of(text: str, option: str | None = None) -> list[TopicPartition]:
    """The partitions of ``orders:0`` or ``orders:0,2``.

    Args:
        text: as the user has written it.
        option: whose value it is; None for an argument.

    Raises:
        CommandError: it is written otherwise; the message names the option.
    """
    topic, _, numbers = text.rpartition(":")
    partitions = [TopicPartition(topic, int(each)) for each in numbers.split(",") if _is_partition(each)]
    if not topic or len(partitions) <= numbers.count(","):
        place = "" if option is None else f"{option}: "
        message = f"{place}{text!r}: write TOPIC:PARTITION, such as orders:0 or orders:0,2"
        raise CommandError(message, ExitCode.USAGE)
    return partitions


def _is_partition(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER and int(text) < _PARTITIONS


def partition_of(text: str) -> TopicPartition:
    """The partition of ``orders:0``.

    Raises:
        CommandError: it is written otherwise, or names several.
    """
    first, *others = partitions_of(text)
    if others:
        raise CommandError(f"{text!r}: name one partition, such as {first.topic}:{first.partition}", ExitCode.USAGE)
    return first
