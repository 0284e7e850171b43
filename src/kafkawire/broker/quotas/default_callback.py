"""Kafka's own quota callback: the quotas of AlterClientQuotas, by precedence (D7 to D11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from kafkawire.broker.plugins.client_quota_callback import (
    ClientQuotaCallback,
    ClientQuotaEntity,
    ClientQuotaType,
    ConfigEntity,
    ConfigEntityType,
)
from kafkawire.broker.sessions import Principal
from kafkawire.model.quotas import entities as quotas
from kafkawire.model.quotas.effective import BucketTags, bucket_without_limit, precedence

USER_TAG: Final = "user"
CLIENT_ID_TAG: Final = "client-id"

_ENTITY_TYPES: Final[Mapping[ConfigEntityType, str]] = {
    ConfigEntityType.USER: quotas.USER,
    ConfigEntityType.DEFAULT_USER: quotas.USER,
    ConfigEntityType.CLIENT_ID: quotas.CLIENT_ID,
    ConfigEntityType.DEFAULT_CLIENT_ID: quotas.CLIENT_ID,
}
_DEFAULTS: Final = frozenset({ConfigEntityType.DEFAULT_USER, ConfigEntityType.DEFAULT_CLIENT_ID})


def callback_entity(entity: quotas.ClientQuotaEntity) -> ClientQuotaEntity:
    """A user, a client or both, in the form of callbacks."""
    parts: list[ConfigEntity] = []
    for entity_type, named, default in (
        (quotas.USER, ConfigEntityType.USER, ConfigEntityType.DEFAULT_USER),
        (quotas.CLIENT_ID, ConfigEntityType.CLIENT_ID, ConfigEntityType.DEFAULT_CLIENT_ID),
    ):
        if entity_type in entity:
            name = entity[entity_type]
            parts.append(ConfigEntity(default) if name is None else ConfigEntity(named, name))
    return ClientQuotaEntity(tuple(parts))


class _Limits:
    """The limits of one quota type, and their number for each kind of entity."""

    def __init__(self) -> None:
        self.by_entity: dict[quotas.ClientQuotaEntity, float] = {}
        self.kinds: Counter[frozenset[str]] = Counter()

    def set(self, entity: quotas.ClientQuotaEntity, limit: float) -> None:
        self.kinds[frozenset(entity)] += entity not in self.by_entity
        self.by_entity[entity] = limit

    def remove(self, entity: quotas.ClientQuotaEntity) -> None:
        if self.by_entity.pop(entity, None) is None:
            return
        kind = frozenset(entity)
        self.kinds[kind] -= 1
        if not self.kinds[kind]:
            del self.kinds[kind]


class DefaultQuotaCallback(ClientQuotaCallback):
    """The callback that is used if no other is configured."""

    def __init__(self) -> None:
        self._limits = {quota_type.value: _Limits() for quota_type in ClientQuotaType}

    def quota_metric_tags(self, quota_type: ClientQuotaType, principal: Principal, client_id: str) -> Mapping[str, str]:
        """The user, the client or both, as in the entity of the limit that applies."""
        limits = self._limits[quota_type.value]
        bucket = self._only_bucket(limits, principal.name, client_id)
        return {USER_TAG: bucket.user, CLIENT_ID_TAG: bucket.client_id}

    def _only_bucket(self, limits: _Limits, user: str, client_id: str) -> BucketTags:
        if len(limits.kinds) > 1:
            for entity, bucket in precedence(user, client_id):
                if entity in limits.by_entity:
                    return bucket
        return bucket_without_limit(limits.kinds, user, client_id)

    def quota_limit(self, quota_type: ClientQuotaType, metric_tags: Mapping[str, str]) -> float | None:
        """The limit that applies to exactly the user and client in the tags."""
        tags = BucketTags(metric_tags[USER_TAG], metric_tags[CLIENT_ID_TAG])
        parts = bool(tags.user) + bool(tags.client_id)
        limits = self._limits[quota_type.value].by_entity
        for entity, bucket in precedence(unquote(tags.user), tags.client_id):
            if bucket == tags and len(entity) == parts and entity in limits:
                return limits[entity]
        return None

    def update_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity, new_value: float) -> None:
        """Remember a limit."""
        self._limits[quota_type.value].set(_described_entity(quota_entity), new_value)

    def remove_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity) -> None:
        """Forget a limit."""
        self._limits[quota_type.value].remove(_described_entity(quota_entity))


def _described_entity(entity: ClientQuotaEntity) -> quotas.ClientQuotaEntity:
    return quotas.ClientQuotaEntity(
        {
            _ENTITY_TYPES[part.entity_type]: None if part.entity_type in _DEFAULTS else part.name
            for part in entity.config_entities
        }
    )
