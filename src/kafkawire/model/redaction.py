"""Values whose secrets are in no representation."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec


class Redacted(msgspec.Struct, frozen=True):
    """A value with fields that are in no representation.

    Attributes:
        UNSHOWN: the names of these fields.
    """

    UNSHOWN: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Names and values of the other fields, for ``repr`` and rich."""
        return [(name, getattr(self, name)) for name in self.__struct_fields__ if name not in self.UNSHOWN]
