"""Words on the wire that a newer broker may add to."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class TolerantText(StrEnum):
    """A word on the wire. One that has no name here becomes a member that keeps the word.

    The case of letters does not matter where a word is looked up. Members are equal if their words are; unknown ones
    are not kept, so that no broker can fill the memory.
    """

    @property
    def is_unknown(self) -> bool:
        """Whether only a newer broker could explain the word."""
        return self.name not in type(self).__members__

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        for known in cls:
            if known.value.casefold() == value.casefold():
                return known
        member = str.__new__(cls, value)
        member._name_ = "UNKNOWN"
        member._value_ = value
        return member
