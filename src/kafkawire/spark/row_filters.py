"""Filters of a query that are applied before Java gets the rows; Spark applies the others."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import reduce
from typing import Final, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
)

from kafkawire.logs.times import TIMESTAMP

_COMPARISONS: Final = {
    GreaterThan: pc.greater,
    GreaterThanOrEqual: pc.greater_equal,
    LessThan: pc.less,
    LessThanOrEqual: pc.less_equal,
}


def is_applied(each: Filter, schema: pa.Schema) -> bool:
    """Whether `kept` keeps exactly the rows that Spark would keep.

    Args:
        each: a filter of a query.
        schema: of the rows.
    """
    match each:
        case IsNull(attribute=(_,)) | IsNotNull(attribute=(_,)):
            return True
        case EqualTo(attribute=(name,), value=value):
            return _is_equal_in_arrow(schema.field(name).type, value)
        case In(attribute=(name,), value=values):
            return bool(values) and all(_is_equal_in_arrow(schema.field(name).type, value) for value in values)
        case GreaterThan() | GreaterThanOrEqual() | LessThan() | LessThanOrEqual() if len(each.attribute) == 1:
            kind = schema.field(each.attribute[0]).type
            return not pa.types.is_string(kind) and _is_equal_in_arrow(kind, each.value)
        case _:
            return False


def kept(rows: pa.RecordBatch, filters: Iterable[Filter]) -> pa.RecordBatch:
    """The rows for which all filters are true.

    Args:
        rows: of a table.
        filters: those that `is_applied` accepts.
    """
    for each in filters:
        rows = rows.filter(_mask(rows, each))
    return rows


def _is_equal_in_arrow(kind: pa.DataType, value: object) -> bool:
    """Whether a value of a column equals a value of a filter in Arrow if it does in Spark."""
    match value:
        case bool():
            return pa.types.is_boolean(kind)
        case int():
            return pa.types.is_integer(kind)
        case str():
            return pa.types.is_string(kind)
        case datetime(tzinfo=zone):
            return zone is not None and kind.equals(TIMESTAMP)
        case _:
            return False


def _mask(rows: pa.RecordBatch, each: Filter) -> pa.BooleanArray:
    match each:
        case IsNull(attribute=(name,)):
            return rows.column(name).is_null()
        case IsNotNull(attribute=(name,)):
            return rows.column(name).is_valid()
        case EqualTo(attribute=(name,), value=value):
            return pc.equal(rows.column(name), _scalar(value))
        case In(attribute=(name,), value=values):
            return reduce(pc.or_kleene, (pc.equal(rows.column(name), _scalar(value)) for value in values))
        case GreaterThan() | GreaterThanOrEqual() | LessThan() | LessThanOrEqual():
            return _COMPARISONS[type(each)](rows.column(each.attribute[0]), _scalar(each.value))
        case _:
            raise TypeError(f"{each} is not applied here")


def _scalar(value: object) -> pa.Scalar[pa.DataType]:
    return pa.scalar(value, TIMESTAMP) if isinstance(value, datetime) else pa.scalar(cast("str", value))
