"""``quota_history``: which client quotas there were (KIP-546, KIP-599, KIP-612)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, TypeAlias

import pyarrow as pa

from kafkawire.logs.histories.columns import TIMESTAMP, Columns, schema_of, value_columns
from kafkawire.logs.histories.intervals import Interval, Ledger, Moment
from kafkawire.protocol import ClientQuotaRecord
from kafkawire.wire import Message

__all__ = ["DEFAULT_ENTITY", "QUOTA_SCHEMA", "QuotaKey", "QuotaReducer", "quota_columns"]

DEFAULT_ENTITY: Final = "<default>"
"""What stands for the default user, client id or address."""

QUOTA_SCHEMA = schema_of(
    {
        "user": pa.string(),
        "client_id": pa.string(),
        "ip": pa.string(),
        "key": pa.string(),
        "value": pa.float64(),
        "valid_from": TIMESTAMP,
        "valid_to": TIMESTAMP,
    }
)

QuotaKey: TypeAlias = tuple[frozenset[tuple[str, str | None]], str]
"""An entity, the types and names of its parts, and the quota's key."""


class QuotaReducer:
    """Sets and removes quotas by entity and key."""

    RECORDS: ClassVar[frozenset[str]] = frozenset({"ClientQuotaRecord"})

    def __init__(self) -> None:
        self.ledger: Ledger[QuotaKey] = Ledger()

    def apply(self, record: Message, at: Moment) -> None:
        """A quota is set or removed."""
        match record:
            case ClientQuotaRecord():
                entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
                if record.remove:
                    self.ledger.drop((entity, record.key), at)
                else:
                    self.ledger.put((entity, record.key), (record.value,), at)


def quota_columns(intervals: Sequence[Interval[QuotaKey]]) -> Columns:
    """What is the history's own in the columns of some intervals. Parts of other types have no column."""
    entities = [_named(interval.key[0]) for interval in intervals]
    return {
        "user": [entity.get("user") for entity in entities],
        "client_id": [entity.get("client-id") for entity in entities],
        "ip": [entity.get("ip") for entity in entities],
        "key": [interval.key[1] for interval in intervals],
        "value": value_columns(intervals, 1)[0],
    }


def _named(entity: frozenset[tuple[str, str | None]]) -> dict[str, str]:
    return {kind: DEFAULT_ENTITY if name is None else name for kind, name in entity}
