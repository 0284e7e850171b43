"""The roles of columns that follow from their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from kafkawire.column_roles import ColumnRole

_CODE: Final = "_code"


def value_roles(names: Iterable[str]) -> Mapping[str, ColumnRole]:
    """The roles of columns with values: a number beside its name, ``operation_code``, is a detail."""
    listed = tuple(names)
    return {
        name: ColumnRole.DETAIL if name.endswith(_CODE) and name.removesuffix(_CODE) in listed else ColumnRole.VALUE
        for name in listed
    }
