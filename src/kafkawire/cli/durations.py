"""Durations that options give."""

from __future__ import annotations

from typing import Final

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.logs.option_records import DURATION, OptionError, value_of

_SECOND: Final = 1000


def milliseconds_of(text: str, option: str) -> int:
    """The milliseconds of a duration such as ``30s``, ``10m`` or ``7d``.

    Raises:
        CommandError: it is none; the message names the option.
    """
    try:
        seconds: int = value_of(text, DURATION, option)
    except OptionError as error:
        raise CommandError(str(error), ExitCode.USAGE) from None
    return seconds * _SECOND
