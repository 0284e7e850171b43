"""From values of a field type to an Arrow array."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import pyarrow as pa

from kafkawire.columns.arrow_types import ArrowArray, arrow_type
from kafkawire.layout import FieldType


def array_of_values(type_: FieldType, values: Iterable[object]) -> ArrowArray:
    """An array of decoded values; None is null."""
    if type_.arrow == "string" and type_.annotation != "str":
        values = list(values)
        texts = {value: None if value is None else str(value) for value in set(values)}  # a log repeats a few
        values = [texts[value] for value in values]
    return cast("ArrowArray", pa.array(values, arrow_type(type_)))
