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
    """

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {}

    @property
    def row_name(self) -> str:
        """What ``-o name`` prints: the first field."""
        return str(getattr(self, self.__struct_fields__[0]))
