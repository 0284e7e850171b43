"""What spreadsheets take for formulas when they open CSV: names of groups and users may be chosen by anybody.

The patterns are for the regular expressions of Arrow and of Java.
"""

from __future__ import annotations

from typing import Final

__all__ = ["FORMULA", "NUMBER", "QUOTE"]

FORMULA: Final = r"^[=+\-@\t\r\n\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
"""A text that begins with one of ``= + - @``, also in full width, or a mark that is passed over."""

NUMBER: Final = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\z"
"""A number, which is no formula whatever it begins with."""

QUOTE: Final = "'"
"""What makes a cell a text."""
