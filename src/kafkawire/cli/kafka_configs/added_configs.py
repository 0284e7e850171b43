"""The configs of ``--add-config``: ``k1=v1,k2=[v1,v2,v2],k3=v3``, read as kafka-configs reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

_OUTSIDE_OF_BRACKETS: Final = r"(?=[^\]]*(?:\[|\Z))"
_COMMA = re.compile(f",{_OUTSIDE_OF_BRACKETS}")
_EQUALS_SIGN = re.compile(rf"[ \t\n\v\f\r]*=[ \t\n\v\f\r]*{_OUTSIDE_OF_BRACKETS}")
_KEY = re.compile(r"[$a-zA-Z0-9._-]*")
_BRACKETS: Final = str.maketrans("", "", "[]")
_TRIMMED: Final = "".join(map(chr, range(0x21)))
"""The characters that Java trims."""

_BOTH_PARTS: Final = 2


class AddedConfigsError(ValueError):
    """A text that is not of configs."""


class ForbiddenCharacterError(AddedConfigsError):
    """The name of a config has a character that none may have.

    Attributes:
        key: the name.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        super().__init__(f"Invalid character found for config key: {key}")


def read_added(text: str) -> dict[str, str]:
    """The configs of a value of ``--add-config``; of a key given twice, the last value.

    Brackets group a value with commas or equals signs, and are not part of it. They do not nest.

    Raises:
        AddedConfigsError: a part is not of the form ``key=value``.
    """
    pairs = [_EQUALS_SIGN.split(part) for part in _parts(text)]
    if any(len(pair) != _BOTH_PARTS for pair in pairs):
        raise AddedConfigsError(
            "Invalid entity config: all configs to be added must be in the format "
            '"key=val" or  "key=[val1,val2]" to group values which contain commas.'
        )
    return {trimmed(key): trimmed(value.translate(_BRACKETS)) for key, value in pairs}


def check_keys(configs: Mapping[str, str]) -> None:
    """Check the characters of names; the first that is bad counts.

    Raises:
        ForbiddenCharacterError: a name has another character.
    """
    for key in configs:
        if not _KEY.fullmatch(key):
            raise ForbiddenCharacterError(key)


def read_deleted(values: Iterable[str]) -> list[str]:
    """The names of values of ``--delete-config``."""
    return [trimmed(value) for value in values]


def trimmed(text: str) -> str:
    """Without blanks and control characters at both ends."""
    return text.strip(_TRIMMED)


def _parts(text: str) -> list[str]:
    """What commas divide; empty parts at the end do not count, except that an empty text is one part."""
    parts = _COMMA.split(text)
    while parts and not parts[-1] and len(parts) > 1:
        parts.pop()
    return [] if parts == [""] and text else parts
