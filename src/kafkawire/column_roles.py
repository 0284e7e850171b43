"""What a column says about its row: what a reader needs first, and what can be left out where there is no room."""

from __future__ import annotations

from enum import StrEnum


class ColumnRole(StrEnum):
    """What a column says about its row; the most important role first."""

    PLACE = "place"
    """The offset of the record in its log."""

    TIME = "time"
    """When the row was valid, or the time of the record."""

    ERROR = "error"
    """What is wrong with the row."""

    KEY = "key"
    """What identifies the row."""

    VALUE = "value"
    """What the row says of it."""

    DETAIL = "detail"
    """What other columns say better: the number of a name, an id beside a name."""

    ORIGIN = "origin"
    """Where the row was read: file, position."""

    CONTENT = "content"
    """The whole record as JSON, in which ``data`` comes after type and version."""
