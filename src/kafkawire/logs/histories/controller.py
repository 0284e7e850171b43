"""``controller_history``: controllers, as they were registered (KIP-919). Unlike brokers, they are never fenced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, Literal, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment
from kafkawire.logs.folding.ledger import Ledger
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.histories.registrations import ENDPOINTS, FEATURES, Endpoint, Feature, endpoints_of, features_of

_Record: TypeAlias = (
    tuple[Literal["RegisterControllerRecord"], int, str, Sequence[Endpoint], Sequence[Feature]]
    | tuple[Literal["UnregisterControllerRecord"], int]
)


class _ControllerReducer:
    """Registers and removes controllers by their id."""

    RECORDS: ClassVar[Needed] = {
        "RegisterControllerRecord": ("controller_id", "incarnation_id", "end_points", "features"),
        "UnregisterControllerRecord": ("controller_id",),
    }

    OWNERS: ClassVar[Owners] = {
        "RegisterControllerRecord": "controller_id",
        "UnregisterControllerRecord": "controller_id",
    }

    def __init__(self) -> None:
        self.ledger: Ledger[int] = Ledger()

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case "RegisterControllerRecord", controller_id, incarnation_id, endpoints, features:
                    values = (incarnation_id, endpoints_of(endpoints), features_of(features))
                    self.ledger.put(controller_id, values, at)
                case "UnregisterControllerRecord", controller_id:
                    self.ledger.drop(controller_id, at)


def _cells(intervals: IntervalColumns[int]) -> Columns:
    incarnation_ids, endpoints, features = value_columns(intervals.values, 3)
    return {
        "controller_id": intervals.keys,
        "endpoints": endpoints,
        "features": features,
        "incarnation_id": incarnation_ids,
    }


HISTORY: Final = MetadataHistory(
    "controller_history",
    "registrations of controllers, with the time during which each held",
    {
        "controller_id": pa.int32(),
        "endpoints": ENDPOINTS,
        "features": FEATURES,
        "incarnation_id": pa.string(),
    },
    lambda _: _ControllerReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("controller_id",),
    details=("incarnation_id", "features"),
)
