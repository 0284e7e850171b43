"""``feature_history``: the finalized levels of features, such as ``metadata.version`` (KIP-584, KIP-1022)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment
from kafkawire.logs.folding.ledger import Ledger
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory

_Record: TypeAlias = tuple[str, str, int]

_NOT_FROM_RECORDS: Final = "kraft.version"
"""Kafka has its level from control records, and ignores metadata records of it (KAFKA-18979)."""


class _FeatureReducer:
    """Sets levels by the name of the feature. Level 0 disables a feature."""

    RECORDS: ClassVar[Needed] = {"FeatureLevelRecord": ("name", "feature_level")}

    OWNERS: ClassVar[Owners] = {"FeatureLevelRecord": "name"}

    def __init__(self) -> None:
        self.ledger: Ledger[str] = Ledger()

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for (_, name, level), at in cast("Iterable[tuple[_Record, Moment]]", changes):
            if name == _NOT_FROM_RECORDS:
                continue
            if level:
                self.ledger.put(name, (level,), at)
            else:
                self.ledger.drop(name, at)


def _cells(intervals: IntervalColumns[str]) -> Columns:
    return {
        "name": intervals.keys,
        "level": value_columns(intervals.values, 1)[0],
    }


HISTORY: Final = MetadataHistory(
    "feature_history",
    "levels of features, with the time during which each was set",
    {"name": pa.string(), "level": pa.int16()},
    lambda _: _FeatureReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("name",),
)
