"""Numbers as Java writes them."""

from __future__ import annotations

import math


def java_double(value: float) -> str:
    """As ``Double.toString`` writes it: with a point always, and an exponent below 0.001 and from 10 000 000 on."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    digits, _, exponent = f"{value!r}".partition("e")
    if exponent:
        shift = int(exponent)
    else:
        digits, _, exponent = f"{value:.17e}".partition("e")
        digits, shift = _shortest(value, int(exponent)), int(exponent)
    return f"{digits if '.' in digits else digits + '.0'}E{shift}"


def _shortest(value: float, exponent: int) -> str:
    """The fewest digits before the exponent that give the value."""
    for places in range(1, 18):
        digits = f"{value:.{places}e}".partition("e")[0]
        if float(f"{digits}e{exponent}") == value:
            return digits
    raise AssertionError("a float needs at most 17 digits")
