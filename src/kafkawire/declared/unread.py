"""What could not be read of a state, and a state without it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kafkawire.declared.planned import Item, Kind
from kafkawire.declared.state import ClusterState
from kafkawire.model.configs.resources import ConfigResource, ConfigResourceType
from kafkawire.wire.kafka_errors import ApiError, KafkaError


class Unread(msgspec.Struct, frozen=True):
    """A part of the state that could not be read: no rights, no authorizer, a broker too old.

    Attributes:
        kind: its kind.
        what: what it is, in words: ACLs, configs of groups, topic orders.
        error: why.
        item: which item; a topic whose configs are unknown has its `ConfigResource`. None if it is not one item.
        resource_type: all resources of which type; None if it is not that.
    """

    kind: Kind
    what: str
    error: KafkaError
    item: Item | None = None
    resource_type: ConfigResourceType | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"

    @property
    def reason(self) -> str:
        """The text of the error, or Kafka's name of it."""
        name = self.error.NAME if isinstance(self.error, ApiError) else type(self.error).__name__
        return self.error.message or name


def without_unread(state: ClusterState, unread: Iterable[Unread]) -> ClusterState:
    """A state without the parts that could not be read of it or of another, which nothing can be said about."""
    parts = tuple(unread)
    items = {each.item for each in parts}
    types = {each.resource_type for each in parts}
    kinds = {each.kind for each in parts if each.item is None and each.resource_type is None}
    return ClusterState(
        topics={
            name: msgspec.structs.replace(topic, configs={}) if ConfigResource.topic(name) in items else topic
            for name, topic in state.topics.items()
            if name not in items
        },
        configs={
            resource: configs
            for resource, configs in state.configs.items()
            if resource not in items and resource.resource_type not in types
        },
        acls=frozenset() if Kind.ACLS in kinds else state.acls,
        quotas={} if Kind.QUOTAS in kinds else state.quotas,
        credentials={} if Kind.USERS in kinds else state.credentials,
    )
