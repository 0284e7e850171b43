"""Durations as Java reads them: the text of ``java.time.Duration.parse``."""

from __future__ import annotations

import re
from typing import Final

_DURATION: Final = re.compile(
    r"(?P<sign>[-+]?)P(?:(?P<days>[-+]?[0-9]+)D)?"
    r"(?P<time>T(?:(?P<hours>[-+]?[0-9]+)H)?(?:(?P<minutes>[-+]?[0-9]+)M)?"
    r"(?:(?P<seconds>[-+]?[0-9]+)(?:[.,](?P<fraction>[0-9]{0,9}))?S)?)?",
    re.ASCII | re.IGNORECASE,
)
_UNITS: Final = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86_400}
_MOST_SECONDS: Final = (1 << 63) - 1
_NANOSECONDS: Final = 10**9


def java_duration(text: str) -> int:
    """The nanoseconds of a duration such as ``PT1H30M``, ``P1DT0.5S`` or ``PT1H-30M``, which may be negative.

    Raises:
        ValueError: it is no duration, or its seconds are more than a long of Java can have.
    """
    found = _DURATION.fullmatch(text)
    # Java takes a t without a time after it, but no T.
    if found is None or found["time"] == "T" or not any(found.group(*_UNITS)):
        raise ValueError(f"{text!r} is no duration: pass something like PT1H or P1DT12H")
    seconds = 0
    for name, unit in _UNITS.items():  # in the order in which Java adds them
        part = int(found[name] or 0) * unit
        seconds = _checked(seconds + _checked(part))
    fraction = int((found["fraction"] or "").ljust(9, "0"))
    nanoseconds = seconds * _NANOSECONDS + (-fraction if (found["seconds"] or "").startswith("-") else fraction)
    nanoseconds = -nanoseconds if found["sign"] == "-" else nanoseconds
    _checked(nanoseconds // _NANOSECONDS)
    return nanoseconds


def _checked(seconds: int) -> int:
    if not -_MOST_SECONDS - 1 <= seconds <= _MOST_SECONDS:
        raise ValueError(f"{seconds} seconds are too many for a duration: pass at most {_MOST_SECONDS}")
    return seconds
