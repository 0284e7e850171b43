"""Quotas as parts of Kafka's messages, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkawire import protocol
from kafkawire.model.quotas.entities import (
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
)


def described_quotas(
    entries: Iterable[protocol.DescribeClientQuotasResponse.EntryData],
) -> dict[ClientQuotaEntity, Mapping[str, float]]:
    """The entities of an answer and the values that are set for them (E7)."""
    return {
        ClientQuotaEntity({part.entity_type: part.entity_name for part in entry.entity}): {
            value.key: value.value for value in entry.values
        }
        for entry in entries
    }


def altered_entity(entry: protocol.AlterClientQuotasResponse.EntryData) -> ClientQuotaEntity:
    """The entity that a result is about; results are in no useful order (E9)."""
    return ClientQuotaEntity({part.entity_type: part.entity_name for part in entry.entity})


def filter_components(wanted: ClientQuotaFilter) -> tuple[protocol.DescribeClientQuotasRequest.ComponentData, ...]:
    """The components of a protocol.DescribeClientQuotasRequest, or of one of its filters in version 2 (KIP-888)."""
    return tuple(
        protocol.DescribeClientQuotasRequest.ComponentData(component.entity_type, component.match_type, component.name)
        for component in wanted.components
    )


def alteration_entry(alteration: ClientQuotaAlteration) -> protocol.AlterClientQuotasRequest.EntryData:
    """An alteration as an item of an protocol.AlterClientQuotasRequest."""
    return protocol.AlterClientQuotasRequest.EntryData(
        tuple(protocol.AlterClientQuotasRequest.EntityData(type_, name) for type_, name in alteration.entity.items()),
        tuple(
            protocol.AlterClientQuotasRequest.OpData(key, 0.0, remove=True)
            if value is None
            else protocol.AlterClientQuotasRequest.OpData(key, value)
            for key, value in alteration.values.items()
        ),
    )
