"""The order in which Kafka's maps have the entities of quotas, and the quotas of an entity."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from kafkawire.model.java_order import bucket_order, grown, hash_order, in_java_order, java_hash
from kafkawire.model.quotas.entities import ClientQuotaEntity

_hash_of_type = lru_cache(maxsize=8)(java_hash)


@lru_cache(maxsize=1 << 17)
def entity_hash(entity: ClientQuotaEntity) -> int:
    """``ClientQuotaEntity.hashCode``, without its sign."""
    parts = (_hash_of_type(type_) ^ (0 if name is None else java_hash(name)) for type_, name in entity.items())
    return (31 + sum(parts)) & 0xFFFFFFFF


def described_in_order(entities: Iterable[ClientQuotaEntity], count: int) -> list[ClientQuotaEntity]:
    """Entities in the order in which brokers describe them: they are put from one map into another.

    Args:
        entities: some or all of those of a ``HashMap``.
        count: how many the last map has; it was made for as many.
    """
    return bucket_order(hash_order(entities, entity_hash), entity_hash, grown(count, count))


@lru_cache(maxsize=256)
def keys_in_order(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of the quotas of an entity: brokers put them from one map into another, which they make for as many."""
    return tuple(hash_order(in_java_order(keys), java_hash, len(keys)))
