"""How quotas of clients are decided (KIP-257)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import Final

from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata
from kafkawire.broker.sessions import Principal
from kafkawire.wire.message import Struct

__all__ = [
    "CALLBACK_CLASS",
    "ClientQuotaCallback",
    "ClientQuotaEntity",
    "ClientQuotaType",
    "ConfigEntity",
    "ConfigEntityType",
]


CALLBACK_CLASS: Final = "client.quota.callback.class"
"""Names the callback; it can be set for all brokers while they run (KIP-257)."""


class ClientQuotaType(Enum):
    """What a quota is about (D2); the values are the keys that set it."""

    PRODUCE = "producer_byte_rate"
    FETCH = "consumer_byte_rate"
    REQUEST = "request_percentage"
    CONTROLLER_MUTATION = "controller_mutation_rate"


class ConfigEntityType(Enum):
    """For whom a quota can be set (D2)."""

    USER = "user"
    CLIENT_ID = "client-id"
    DEFAULT_USER = "default user"
    DEFAULT_CLIENT_ID = "default client-id"


class ConfigEntity(Struct, frozen=True, gc=False):
    """A user or a client.

    Attributes:
        entity_type: what it is.
        name: its name as it was given; empty for the defaults.
    """

    entity_type: ConfigEntityType
    name: str = ""


class ClientQuotaEntity(Struct, frozen=True):
    """For whom a quota is set.

    Attributes:
        config_entities: a user, a client, or both in this order.
    """

    config_entities: tuple[ConfigEntity, ...]


class ClientQuotaCallback(ABC):
    """Says who shares a quota with whom, and how much it is.

    The broker calls all methods from its event loop: they must not wait. ``quota_metric_tags`` and
    ``quota_reset_required`` are called with every request, so they must be quick.

    An exception in ``quota_metric_tags`` or ``quota_limit`` becomes the answer UNKNOWN_SERVER_ERROR to the request at
    hand; about the time that requests take it is logged, and they are not throttled.

    The class is named by ``client.quota.callback.class``, as ``module:Class``, and made without arguments.
    """

    def configure(self, configs: Mapping[str, str]) -> None:  # noqa: B027 - not all have something to configure
        """Take the properties of the broker; called once, first."""

    @abstractmethod
    def quota_metric_tags(self, quota_type: ClientQuotaType, principal: Principal, client_id: str) -> Mapping[str, str]:
        """Tags that name a bucket: requests with equal tags share one limit (D3).

        Args:
            quota_type: which quota.
            principal: who asks.
            client_id: what the client calls itself; empty if it says nothing.

        Returns:
            The tags; without any the request is not throttled.
        """

    @abstractmethod
    def quota_limit(self, quota_type: ClientQuotaType, metric_tags: Mapping[str, str]) -> float | None:
        """The limit of a bucket, in the unit of the quota's key.

        Args:
            quota_type: which quota.
            metric_tags: what ``quota_metric_tags`` has returned.

        Returns:
            The limit, or None if the tags are no longer in use, which means no limit (D4).
        """

    @abstractmethod
    def update_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity, new_value: float) -> None:
        """A quota was set by AlterClientQuotas, or is known at the start."""

    @abstractmethod
    def remove_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity) -> None:
        """A quota was removed by AlterClientQuotas."""

    def quota_reset_required(self, quota_type: ClientQuotaType) -> bool:
        """Whether limits have changed for another reason than the calls of this interface, since it was last asked.

        True makes the broker look up the limits of all buckets of this type again (D5).
        """
        return False

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> bool:
        """Topics, partitions or brokers have changed.

        Returns:
            Whether limits have changed by that: the limits of all buckets are then looked up again (D6).
        """
        return False

    def close(self) -> None:  # noqa: B027 - nor to close
        """The broker stops, or another class takes over."""
