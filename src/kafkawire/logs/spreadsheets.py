"""CSV cells that a spreadsheet would run as formulas: anyone can choose names of groups and users.

The patterns are valid in the regular expressions of Arrow and of Java.
"""

from __future__ import annotations

from typing import Final

FORMULA: Final = r"^[=+\-@\t\r\n\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
"""A text that begins with one of ``= + - @``, also in full width, or with white space."""

NUMBER: Final = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\z"
"""A number, which is not a formula even with a sign."""

QUOTE: Final = "'"
"""The prefix that makes a cell a text."""
