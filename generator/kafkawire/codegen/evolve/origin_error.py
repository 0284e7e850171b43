"""The one error of reading a side."""

from __future__ import annotations


class OriginError(Exception):
    """A side of a comparison that cannot be had; the text says what is wrong and what to do."""
