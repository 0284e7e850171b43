"""Enumerations that a newer broker may extend."""

from __future__ import annotations

import re
from enum import IntEnum, StrEnum
from typing import Self, TypeVar

_NUMBERED = r"UNKNOWN_?(-?\d{1,3})"


class TolerantEnum(IntEnum):
    """An int8 on the wire. A number that has no name here becomes a member that keeps the number.

    Such a member is the same object whenever its number is looked up; its name is ``UNKNOWN_99``. Its text is its name.
    """

    @property
    def is_unknown(self) -> bool:
        """Whether it is ``UNKNOWN`` or a number of newer brokers."""
        return self.name == "UNKNOWN" or self.name not in type(self).__members__

    @classmethod
    def parse(cls, name: str) -> Self:
        """The member of a name, in the forms that Kafka's tools use: ``DESCRIBE_CONFIGS``, ``DescribeConfigs``.

        Raises:
            ValueError: no member has this name.
        """
        numbered = re.fullmatch(_NUMBERED, name, re.IGNORECASE)
        if numbered:
            return cls(int(numbered[1]))
        for known, member in cls.__members__.items():
            if _letters(known) == _letters(name):
                return member
        raise ValueError(f"{name!r} is not a {cls.__name__}: give one of {', '.join(cls.__members__)}")

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, int) or not -0x80 <= value <= 0x7F:
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return cls._value2member_map_.setdefault(value, member)  # type: ignore[return-value]  # typed as any Enum

    def __str__(self) -> str:
        return self.name

    def __format__(self, format_spec: str) -> str:
        return format(self.name, format_spec)


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").upper()


_Member = TypeVar("_Member", bound=TolerantEnum)


class MembersByCode(dict[int, _Member]):
    """The members of an enumeration by their numbers, faster than the call of the class.

    Args:
        enumeration: the class.
    """

    def __init__(self, enumeration: type[_Member]) -> None:
        super().__init__({member.value: member for member in enumeration})
        self._enumeration = enumeration

    def __missing__(self, code: int) -> _Member:
        member = self[code] = self._enumeration(code)
        return member


class TolerantText(StrEnum):
    """A word on the wire. One that has no name here becomes a member that keeps the word.

    The case of letters does not matter where a word is looked up. Members are equal if their words are; unknown ones
    are not kept, so that no broker can fill the memory.
    """

    @property
    def is_unknown(self) -> bool:
        """Whether only newer brokers have the word."""
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
