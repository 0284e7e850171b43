"""stub"""

from __future__ import annotations


class InvalidPatternError(Exception):
    """Invalid."""


class IdPattern:
    """stub"""

    def __init__(self, pattern: str) -> None:
        raise InvalidPatternError(pattern)

    def matches(self, text: str) -> bool:
        """Stub"""
        return False
