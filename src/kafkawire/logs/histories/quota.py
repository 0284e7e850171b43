"""``quota_history``: client quotas (KIP-546, KIP-599, KIP-612)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, TypeAlias, TypedDict, cast

import pyarrow as pa

from kafkawire.logs.folding.columns import Columns, value_columns
from kafkawire.logs.folding.interval_columns import IntervalColumns
from kafkawire.logs.folding.intervals import Moment
from kafkawire.logs.folding.ledger import Ledger
from kafkawire.logs.folding.metadata_decoder import Needed, Owners
from kafkawire.logs.folding.metadata_fold import Change
from kafkawire.logs.folding.metadata_history import MetadataHistory

DEFAULT_ENTITY: Final = "<default>"
"""The default user, client id or address."""

Entity: TypeAlias = frozenset[tuple[str, str | None]]
"""Types and names of the parts of an entity."""

QuotaKey: TypeAlias = tuple[Entity, str]
"""An entity, and the key of the quota."""


class _Part(TypedDict):
    entity_type: str
    entity_name: str | None


_Record: TypeAlias = tuple[str, Sequence[_Part], str, float, bool]


class _QuotaReducer:
    """Sets and removes quotas by entity and key."""

    RECORDS: ClassVar[Needed] = {"ClientQuotaRecord": ("entity", "key", "value", "remove")}

    OWNERS: ClassVar[Owners] = {"ClientQuotaRecord": "key"}

    def __init__(self) -> None:
        self.ledger: Ledger[QuotaKey] = Ledger()

    def apply(self, changes: Iterable[Change]) -> None:
        """See ``StateReducer``."""
        for record, at in cast("Iterable[tuple[_Record, Moment]]", changes):
            _, parts, key, value, remove = record
            entity = frozenset((part["entity_type"], part["entity_name"]) for part in parts)
            if remove:
                self.ledger.drop((entity, key), at)
            else:
                self.ledger.put((entity, key), (value,), at)


def _cells(intervals: IntervalColumns[QuotaKey]) -> Columns:
    """Cells; parts of an entity of other types have no column."""
    entities = [_named(key[0]) for key in intervals.keys]
    return {
        "user": [entity.get("user") for entity in entities],
        "client_id": [entity.get("client-id") for entity in entities],
        "ip": [entity.get("ip") for entity in entities],
        "key": [key[1] for key in intervals.keys],
        "value": value_columns(intervals.values, 1)[0],
    }


def _named(entity: Entity) -> dict[str, str]:
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
    },
    lambda _: _QuotaReducer(),
    lambda intervals, _: _cells(intervals),
    keys=("user", "client_id", "ip", "key"),
)
