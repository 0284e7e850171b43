"""``scram_history``: SCRAM credentials of users (KIP-900), without their salts and keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.intervals import Interval, Ledger, Moment
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.tables.enum_names import MECHANISMS
from kafkawire.logs.times import TIMESTAMP
from kafkawire.protocol import RemoveUserScramCredentialRecord, UserScramCredentialRecord
from kafkawire.wire import Message

CredentialKey: TypeAlias = tuple[str, int]
"""Name of a user, and number of a mechanism."""


class _ScramReducer:
    """Sets and removes credentials by user and mechanism. A new password has a new salt and begins a new interval."""

    RECORDS: ClassVar[frozenset[str]] = frozenset({"UserScramCredentialRecord", "RemoveUserScramCredentialRecord"})

    def __init__(self) -> None:
        self.ledger: Ledger[CredentialKey] = Ledger()

    def apply(self, record: Message, at: Moment) -> None:
        """See ``StateReducer``."""
        match record:
            case UserScramCredentialRecord():
                values = (record.iterations, bytes(record.salt), bytes(record.stored_key))
                self.ledger.put((record.name, record.mechanism), values, at)
            case RemoveUserScramCredentialRecord():
                self.ledger.drop((record.name, record.mechanism), at)


def _cells(intervals: Sequence[Interval[CredentialKey]]) -> Columns:
    return {
        "user": [interval.key[0] for interval in intervals],
        "mechanism": MECHANISMS.of(interval.key[1] for interval in intervals),
        "iterations": value_columns([interval.values for interval in intervals], 3)[0],
    }


HISTORY: Final = MetadataHistory(
    "scram_history",
    "SCRAM credentials of users, with the time during which each was set",
    {
        "user": pa.string(),
        "mechanism": pa.string(),
        "iterations": pa.int32(),
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    },
    lambda _: _ScramReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("user", "mechanism"),
)
