"""Checks alterations of quotas and makes their records, with Kafka's rules and messages (E8 to E13)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from ipaddress import ip_address
from math import isnan
from typing import Final

from kafkawire.broker.image.client_quotas import ClientQuotasImage
from kafkawire.model.quotas.entities import CLIENT_KEYS, CONNECTION_CREATION_RATE, IP, IP_KEYS, ClientQuotaEntity
from kafkawire.model.quotas.validation import ENTITY_TYPES, HIGHEST_WHOLE, is_whole
from kafkawire.protocol import ClientQuotaRecord
from kafkawire.wire.message import Struct

_INTEGER_TYPES: Final[Mapping[str, str]] = {CONNECTION_CREATION_RATE: "an INT"}


class Alteration(Struct, frozen=True):
    """The alteration of one entity.

    Attributes:
        entity: the entity.
        values: keys and their new values in the order of the request; None removes a key.
    """

    entity: ClientQuotaEntity
    values: tuple[tuple[str, float | None], ...]


def host_names(alterations: Iterable[Alteration]) -> set[str]:
    """The names of ip entities that are not addresses and must be resolved."""
    names = (alteration.entity.get(IP) for alteration in alterations)
    return {name for name in names if name and not _is_address(name)}


class QuotaAlterations:
    """The alterations of one request.

    Args:
        image: the current quotas.
        unknown_hosts: host names that do not resolve.

    Attributes:
        records: the records to commit.
        refusals: entity to the reason why its alteration is refused, or None if it is not.
    """

    def __init__(self, image: ClientQuotasImage, unknown_hosts: Collection[str]) -> None:
        self.records: list[ClientQuotaRecord] = []
        self.refusals: dict[ClientQuotaEntity, str | None] = {}
        self._image = image
        self._unknown_hosts = unknown_hosts

    def add(self, alteration: Alteration) -> None:
        """Check an alteration; the first one of an entity is done even if a later one is refused (E9)."""
        entity = alteration.entity
        keys = [key for key, _ in alteration.values]
        if entity in self.refusals or len(set(keys)) < len(keys):
            self.refusals[entity] = f"Ignoring duplicate entity {_in_java(entity)}"
            return
        self.refusals[entity] = self._refusal_of_entity(entity) or _refusal_of_values(entity, alteration.values)
        if self.refusals[entity] is None:
            self.records += self._changes(alteration)

    def _refusal_of_entity(self, entity: ClientQuotaEntity) -> str | None:
        if not entity:
            return "Invalid empty client quota entity"
        for entity_type, name in entity.items():
            if entity_type not in ENTITY_TYPES:
                return f"Unhandled client quota entity type: {entity_type}"
            if name == "":
                return f"Empty {entity_type} not supported"
        if IP not in entity:
            return None
        if len(entity) > 1:
            return "Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId"
        if entity[IP] in self._unknown_hosts:
            return f"{entity[IP]} is not a valid IP or resolvable host."
        return None

    def _changes(self, alteration: Alteration) -> Iterable[ClientQuotaRecord]:
        """Records for the values that change (E12)."""
        present = self._image.by_entity.get(alteration.entity, {})
        parts = tuple(ClientQuotaRecord.EntityData(kind, name) for kind, name in alteration.entity.items())
        for key, value in alteration.values:
            if value is None:
                if key in present:
                    yield ClientQuotaRecord(parts, key, remove=True)
            elif key not in present or not _are_equal(present[key], value):
                yield ClientQuotaRecord(parts, key, value)


def _refusal_of_values(entity: ClientQuotaEntity, values: Sequence[tuple[str, float | None]]) -> str | None:
    possible = IP_KEYS if IP in entity else CLIENT_KEYS
    for key, value in values:
        if value is None:
            continue
        if key not in possible:
            return f"Invalid configuration key {key}"
        if value <= 0:
            return f"Quota {key} must be greater than 0"
        if key not in HIGHEST_WHOLE:
            continue
        if value > HIGHEST_WHOLE[key]:
            return f"Proposed value for {key} is too large for {_INTEGER_TYPES.get(key, 'a LONG')}."
        if not isnan(value) and not is_whole(value):
            return f"{key} cannot be a fractional value."
    return None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _are_equal(one: float, other: float) -> bool:
    return one == other or (isnan(one) and isnan(other))


def _in_java(entity: ClientQuotaEntity) -> str:
    parts = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity.items())
    return f"ClientQuotaEntity(entries={{{parts}}})"
