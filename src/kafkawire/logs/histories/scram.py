"""``scram_history``: SCRAM credentials of users (KIP-900), without their salts and keys."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final, Literal, TypeAlias, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment
from kafkawire.logs.folding.ledger import Ledger
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.tables.enum_names import MECHANISMS

CredentialKey: TypeAlias = tuple[str, int]
"""Name of a user, and number of a mechanism."""


_Record: TypeAlias = (
    tuple[Literal["UserScramCredentialRecord"], str, int, int, bytes, bytes]
    | tuple[Literal["RemoveUserScramCredentialRecord"], str, int]
)


class _ScramReducer:
    """Sets and removes credentials by user and mechanism. A new password has a new salt and begins a new interval."""

    RECORDS: ClassVar[Needed] = {
        "UserScramCredentialRecord": ("name", "mechanism", "iterations", "salt", "stored_key"),
        "RemoveUserScramCredentialRecord": ("name", "mechanism"),
    }

    OWNERS: ClassVar[Owners] = {"UserScramCredentialRecord": "name", "RemoveUserScramCredentialRecord": "name"}

    def __init__(self) -> None:
        self.ledger: Ledger[CredentialKey] = Ledger()

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            match record:
                case "UserScramCredentialRecord", user, mechanism, iterations, salt, stored_key:
                    self.ledger.put((user, mechanism), (iterations, salt, stored_key), at)
                case "RemoveUserScramCredentialRecord", user, mechanism:
                    self.ledger.drop((user, mechanism), at)


def _cells(intervals: IntervalColumns[CredentialKey]) -> Columns:
    return {
        "user": [key[0] for key in intervals.keys],
        "mechanism": MECHANISMS.of(key[1] for key in intervals.keys),
        "iterations": value_columns(intervals.values, 3)[0],
    }


HISTORY: Final = MetadataHistory(
    "scram_history",
    "SCRAM credentials of users, with the time during which each was set",
    {
        "user": pa.string(),
        "mechanism": pa.string(),
        "iterations": pa.int32(),
    },
    lambda _: _ScramReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("user", "mechanism"),
)
