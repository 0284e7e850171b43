"""``broker_history``: brokers, as they were registered at the controller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, Literal, NamedTuple, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment
from kafkawire.logs.folding.ledger import Ledger, LedgerRules, fits_where_known
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.histories.registrations import (
    ENDPOINTS,
    FEATURES,
    Endpoint,
    Endpoints,
    Feature,
    Features,
    endpoints_of,
    features_of,
)

_Ids: TypeAlias = Sequence[str]

_Registered: TypeAlias = tuple[
    *tuple[Literal["RegisterBrokerRecord"], int, int, str, bool, bool, str | None],
    *tuple[Sequence[Endpoint], Sequence[Feature], _Ids | None, _Ids | None],
]
_Changed: TypeAlias = tuple[
    Literal["BrokerRegistrationChangeRecord"], int, int, int | None, int | None, _Ids | None, _Ids | None
]
_Record: TypeAlias = (
    _Registered
    | _Changed
    | tuple[Literal["FenceBrokerRecord"], int, int]
    | tuple[Literal["UnfenceBrokerRecord"], int, int]
    | tuple[Literal["UnregisterBrokerRecord"], int]
)

_FENCING: Final = {1: True, -1: False}
_SHUTDOWN: Final = {1: True}
"""What the numbers of a change mean (KIP-841); 0 is no change."""


class _Broker(NamedTuple):
    """A registration. None is not known: the registration is older than the log."""

    epoch: int
    incarnation_id: str | None = None
    fenced: bool | None = None
    in_controlled_shutdown: bool | None = None
    rack: str | None = None
    endpoints: Endpoints | None = None
    features: Features | None = None
    log_dirs: tuple[str, ...] | None = None
    cordoned_log_dirs: tuple[str, ...] | None = None


class _BrokerReducer:
    """Registers, changes and removes brokers by their id, as Kafka's ``ClusterDelta``."""

    RECORDS: ClassVar[Needed] = {
        "RegisterBrokerRecord": (
            *("broker_id", "broker_epoch", "incarnation_id", "fenced", "in_controlled_shutdown", "rack"),
            *("end_points", "features", "log_dirs", "cordoned_log_dirs"),
        ),
        "BrokerRegistrationChangeRecord": (
            *("broker_id", "broker_epoch", "fenced", "in_controlled_shutdown", "log_dirs", "cordoned_log_dirs"),
        ),
        "FenceBrokerRecord": ("id", "epoch"),
        "UnfenceBrokerRecord": ("id", "epoch"),
        "UnregisterBrokerRecord": ("broker_id",),
    }

    OWNERS: ClassVar[Owners] = {
        "RegisterBrokerRecord": "broker_id",
        "BrokerRegistrationChangeRecord": "broker_id",
        "FenceBrokerRecord": "id",
        "UnfenceBrokerRecord": "id",
        "UnregisterBrokerRecord": "broker_id",
    }

    def __init__(self) -> None:
        self.ledger: Ledger[int] = Ledger(LedgerRules(fits=fits_where_known, make=_Broker._make))

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case ("RegisterBrokerRecord", broker_id, *_):
                    self.ledger.put(broker_id, _registered(record), at)
                case ("BrokerRegistrationChangeRecord", broker_id, epoch, *_):
                    self._change(broker_id, epoch, record, at)
                case "FenceBrokerRecord", broker_id, epoch:
                    self._fence(broker_id, epoch, at, fenced=True)
                case "UnfenceBrokerRecord", broker_id, epoch:
                    self._fence(broker_id, epoch, at, fenced=False)
                case "UnregisterBrokerRecord", broker_id:
                    self.ledger.drop(broker_id, at)

    def _change(self, broker_id: int, epoch: int, record: _Changed, at: Moment) -> None:
        held = self._held(broker_id, epoch)
        if held is not None:
            self.ledger.put(broker_id, _changed(held, record), at)

    def _fence(self, broker_id: int, epoch: int, at: Moment, *, fenced: bool) -> None:
        held = self._held(broker_id, epoch)
        if held is not None:
            self.ledger.put(broker_id, held._replace(fenced=fenced), at)

    def _held(self, broker_id: int, epoch: int) -> _Broker | None:
        """The registration that a record changes; None if it cannot exist, and Kafka would stop."""
        held = cast("_Broker | None", self.ledger.values(broker_id))
        if held is not None and held.epoch == epoch:
            return held
        return None if self.ledger.complete else _Broker(epoch)


def _registered(record: _Registered) -> _Broker:
    _, _, epoch, incarnation_id, fenced, stopping, rack, endpoints, features, log_dirs, cordoned = record
    return _Broker(
        epoch,
        incarnation_id,
        fenced,
        bool(stopping),
        rack,
        endpoints_of(endpoints),
        features_of(features),
        _sorted(log_dirs),
        _sorted(cordoned),
    )


def _changed(held: _Broker, record: _Changed) -> _Broker:
    _, _, _, fencing, shutdown, log_dirs, cordoned = record
    return held._replace(
        fenced=_FENCING.get(fencing or 0, held.fenced),
        in_controlled_shutdown=_SHUTDOWN.get(shutdown or 0, held.in_controlled_shutdown),
        log_dirs=_sorted(log_dirs) if log_dirs else held.log_dirs,
        cordoned_log_dirs=held.cordoned_log_dirs if cordoned is None else _sorted(cordoned),
    )


def _sorted(ids: _Ids | None) -> tuple[str, ...]:
    """Ids as Kafka keeps them; records of older versions have none."""
    return tuple(sorted(ids or ()))


def _cells(intervals: IntervalColumns[int]) -> Columns:
    columns = value_columns(intervals.values, len(_Broker._fields))
    return {"broker_id": intervals.keys, **dict(zip(_Broker._fields, columns, strict=True))}


HISTORY: Final = MetadataHistory(
    "broker_history",
    "registrations of brokers, with the time during which each held",
    {
        "broker_id": pa.int32(),
        "fenced": pa.bool_(),
        "in_controlled_shutdown": pa.bool_(),
        "rack": pa.string(),
        "endpoints": ENDPOINTS,
        "features": FEATURES,
        "log_dirs": pa.list_(pa.string()),
        "cordoned_log_dirs": pa.list_(pa.string()),
        "incarnation_id": pa.string(),
        "epoch": pa.int64(),
    },
    lambda _: _BrokerReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("broker_id",),
    details=("incarnation_id", "epoch", "log_dirs", "cordoned_log_dirs", "features"),
)
