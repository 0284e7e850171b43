"""``quota_history``: client quotas (KIP-546, KIP-599, KIP-612)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.intervals import Interval, Ledger, Moment
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.times import TIMESTAMP
from kafkawire.protocol import ClientQuotaRecord
from kafkawire.wire import Message

DEFAULT_ENTITY: Final = "<default>"
"""The default user, client id or address."""

QuotaKey: TypeAlias = tuple[frozenset[tuple[str, str | None]], str]
"""Types and names of the parts of an entity, and the key of the quota."""


class _QuotaReducer:
    """Sets and removes quotas by entity and key."""

    RECORDS: ClassVar[frozenset[str]] = frozenset({"ClientQuotaRecord"})

    def __init__(self) -> None:
        self.ledger: Ledger[QuotaKey] = Ledger()

    def apply(self, record: Message, at: Moment) -> None:
        """See ``StateReducer``."""
        match record:
            case ClientQuotaRecord():
                entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
                if record.remove:
                    self.ledger.drop((entity, record.key), at)
                else:
                    self.ledger.put((entity, record.key), (record.value,), at)


def _cells(intervals: Sequence[Interval[QuotaKey]]) -> Columns:
    """Cells; parts of an entity of other types have no column."""
    entities = [_named(interval.key[0]) for interval in intervals]
    return {
        "user": [entity.get("user") for entity in entities],
        "client_id": [entity.get("client-id") for entity in entities],
        "ip": [entity.get("ip") for entity in entities],
        "key": [interval.key[1] for interval in intervals],
        "value": value_columns([interval.values for interval in intervals], 1)[0],
    }


def _named(entity: frozenset[tuple[str, str | None]]) -> dict[str, str]:
    return {kind: DEFAULT_ENTITY if name is None else name for kind, name in entity}


HISTORY: Final = MetadataHistory(
    "quota_history",
    "client quotas, with the time during which each was set",
    {
        "user": pa.string(),
        "client_id": pa.string(),
        "ip": pa.string(),
        "key": pa.string(),
        "value": pa.float64(),
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    },
    lambda _: _QuotaReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("user", "client_id", "ip", "key"),
)
