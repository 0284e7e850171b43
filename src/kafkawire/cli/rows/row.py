"""What a command prints: rows of one class, whose fields are the columns, and the stable schema of JSON and YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from kafkawire.column_roles import ColumnRole


class Row(msgspec.Struct, frozen=True):
    """A row. Fields are added to a class of rows, never renamed or removed: programs read them.

    Attributes:
        ROLES: the roles of fields that are not plain values. The first field is always a key.
        OPTIONAL: fields that no table shows if they are null in all rows, since they were not requested.
    """

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {}
    OPTIONAL: ClassVar[frozenset[str]] = frozenset()

    @property
    def row_name(self) -> str:
        """What ``-o name`` prints: the first field."""
        return str(getattr(self, self.__struct_fields__[0]))
