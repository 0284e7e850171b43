"""The part of the native engine that reads batches, and reads and writes their records."""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, cast

from kafkawire.wire.batches.batch import Header, Record, RecordBatch
from kafkawire.wire.engine import native_engine

if TYPE_CHECKING:
    from kafkawire._native import RecordCodec


def native_record_codec() -> RecordCodec | None:
    """The codec of records, if the native engine is in use and knows the form of records."""
    module = native_engine()
    return _codec_of(module) if module is not None else None


@cache
def _codec_of(module: ModuleType) -> RecordCodec | None:
    try:
        return cast("RecordCodec", module.RecordCodec(Record, Header, RecordBatch))
    except ValueError:
        return None
