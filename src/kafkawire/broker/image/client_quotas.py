"""Quotas of users, client ids and addresses."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.protocol import ClientQuotaRecord
from kafkawire.wire import Message


def entity_of(record: ClientQuotaRecord) -> ClientQuotaEntity:
    """The entity of a record; a null name is the default entity."""
    return ClientQuotaEntity({part.entity_type: part.entity_name for part in record.entity})


class ClientQuotasImage:
    """All quotas.

    Attributes:
        by_entity: entity to its keys and values; entities without values are left out.
    """

    def __init__(self) -> None:
        self.by_entity: dict[ClientQuotaEntity, dict[str, float]] = {}

    def apply(self, record: ClientQuotaRecord) -> None:
        """Set or remove a quota."""
        entity = entity_of(record)
        if not record.remove:
            self.by_entity.setdefault(entity, {})[record.key] = record.value
            return
        values = self.by_entity.get(entity)
        if values is not None and values.pop(record.key, None) is not None and not values:
            del self.by_entity[entity]

    def records(self) -> Iterator[Message]:
        """The records that set all quotas."""
        for entity, values in self.by_entity.items():
            parts = tuple(ClientQuotaRecord.EntityData(kind, name) for kind, name in entity.items())
            for key, value in values.items():
                yield ClientQuotaRecord(parts, key, value)
