"""Filters of a query on offsets, times and record types, so that other batches and records are not decoded.

More may be read than the query wants: Spark filters the rows again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    LessThan,
    LessThanOrEqual,
)

from kafkawire.logs import ReadOptions

_OFFSET = ("log_offset",)
_TIME = ("append_time",)
_TYPE = ("record_type",)
_MILLISECOND = timedelta(milliseconds=1)


def narrowed(options: ReadOptions, filters: Iterable[Filter], *, offsets: bool, types: bool) -> ReadOptions:
    """Options that exclude what the filters of a query exclude.

    Args:
        options: those of the user.
        filters: of the query; those on other columns, or of other forms, have no effect.
        offsets: whether ``log_offset`` is an offset of the log in every row; in rows of snapshots it is not.
        types: whether the table has a column ``record_type``.
    """
    for each in filters:
        if isinstance(each, EqualTo | GreaterThan | GreaterThanOrEqual | LessThan | LessThanOrEqual):
            if offsets and each.attribute == _OFFSET and isinstance(each.value, int):
                options = _limit_offsets(options, each, each.value)
            elif each.attribute == _TIME and isinstance(each.value, datetime):
                options = _limit_times(options, each, each.value)
        options = _limit_types(options, each) if types else options
    return options


def _limit_offsets(options: ReadOptions, each: Filter, value: int) -> ReadOptions:
    if isinstance(each, EqualTo | GreaterThan | GreaterThanOrEqual):
        least = value + isinstance(each, GreaterThan)
        options = replace(options, from_offset=max(least, options.from_offset or 0))
    if isinstance(each, EqualTo | LessThan | LessThanOrEqual):
        end = max(value + (not isinstance(each, LessThan)), 0)
        options = replace(options, until_offset=end if options.until_offset is None else min(end, options.until_offset))
    return options


def _limit_times(options: ReadOptions, each: Filter, value: datetime) -> ReadOptions:
    """Records have milliseconds, columns have microseconds."""
    if isinstance(each, EqualTo | GreaterThan | GreaterThanOrEqual):
        options = replace(options, from_time=value if options.from_time is None else max(value, options.from_time))
    if isinstance(each, EqualTo | LessThan | LessThanOrEqual):
        end = value + _MILLISECOND
        options = replace(options, until_time=end if options.until_time is None else min(end, options.until_time))
    return options


def _limit_types(options: ReadOptions, each: Filter) -> ReadOptions:
    values: tuple[object, ...] = ()
    if isinstance(each, EqualTo) and each.attribute == _TYPE:
        values = (each.value,)
    elif isinstance(each, In) and each.attribute == _TYPE:
        values = each.value
    names = tuple(value for value in values if isinstance(value, str))
    if not names or len(names) < len(values):
        return options
    known = options.record_types
    return replace(options, record_types=tuple(name for name in names if known is None or name in known))
