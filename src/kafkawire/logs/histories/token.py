"""``token_history``: delegation tokens (KIP-48). Their HMACs are in no record: brokers compute them from a secret."""

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
from kafkawire.logs.times import TIMESTAMP

_Record: TypeAlias = (
    tuple[Literal["DelegationTokenRecord"], str, str, str, Sequence[str], int, int, int]
    | tuple[Literal["RemoveDelegationTokenRecord"], str]
)

_VALUES: Final = ("owner", "requester", "renewers", "issued_at", "expires_at", "max_time")


class _TokenReducer:
    """Sets and removes tokens by their id. A renewal records the token again, with another time of expiry."""

    RECORDS: ClassVar[Needed] = {
        "DelegationTokenRecord": (
            *("token_id", "owner", "requester", "renewers"),
            *("issue_timestamp", "expiration_timestamp", "max_timestamp"),
        ),
        "RemoveDelegationTokenRecord": ("token_id",),
    }

    OWNERS: ClassVar[Owners] = {"DelegationTokenRecord": "token_id", "RemoveDelegationTokenRecord": "token_id"}

    def __init__(self) -> None:
        self.ledger: Ledger[str] = Ledger()

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case "DelegationTokenRecord", token_id, owner, requester, renewers, issued, expires, latest:
                    values = (owner, requester, tuple(renewers), issued, expires, latest)
                    self.ledger.put(token_id, values, at)
                case "RemoveDelegationTokenRecord", token_id:
                    self.ledger.drop(token_id, at)


def _cells(intervals: IntervalColumns[str]) -> Columns:
    columns = value_columns(intervals.values, len(_VALUES))
    return {"token_id": intervals.keys, **dict(zip(_VALUES, columns, strict=True))}


HISTORY: Final = MetadataHistory(
    "token_history",
    "delegation tokens, with the time during which each had the same expiry",
    {
        "token_id": pa.string(),
        "owner": pa.string(),
        "expires_at": TIMESTAMP,
        "requester": pa.string(),
        "renewers": pa.list_(pa.string()),
        "issued_at": TIMESTAMP,
        "max_time": TIMESTAMP,
    },
    lambda _: _TokenReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("owner", "token_id"),
)
