"""The plug-in interface of client quotas (KIP-257)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import Enum
from typing import Final

from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata
from kafkawire.broker.sessions import Principal
from kafkawire.wire.message import Struct

CALLBACK_CLASS: Final = "client.quota.callback.class"
"""The property with the class; it can be set for all brokers while they run (KIP-257)."""


class ClientQuotaType(Enum):
    """The types of quotas (D2); the values are the keys that set them."""

    PRODUCE = "producer_byte_rate"
    FETCH = "consumer_byte_rate"
    REQUEST = "request_percentage"
    CONTROLLER_MUTATION = "controller_mutation_rate"


class ConfigEntityType(Enum):
    """The types of entities for which quotas can be set (D2)."""

    USER = "user"
    CLIENT_ID = "client-id"
    DEFAULT_USER = "default user"
    DEFAULT_CLIENT_ID = "default client-id"


class ConfigEntity(Struct, frozen=True, gc=False):
    """A user or a client.

    Attributes:
        entity_type: its type.
        name: its name; empty for the defaults.
    """

    entity_type: ConfigEntityType
    name: str = ""


class ClientQuotaEntity(Struct, frozen=True):
    """The entity for which a quota is set.

    Attributes:
        config_entities: a user, a client, or both in this order.
    """

    config_entities: tuple[ConfigEntity, ...]


class ClientQuotaCallback(ABC):
    """Decides which requests share a quota, and its limit.

    The broker calls all methods from its event loop: they must not block. ``quota_metric_tags`` and
    ``quota_reset_required`` are called with every request, so they must be quick.

    If ``quota_metric_tags`` or ``quota_limit`` raises, the request fails with UNKNOWN_SERVER_ERROR; for the quota on
    request time the exception is logged, and the request is not throttled.

    ``client.quota.callback.class`` has the class as ``module:Class``; it is called without arguments.
    """

    def configure(self, configs: Mapping[str, str]) -> None:  # noqa: B027 - not all have something to configure
        """Take the properties of the broker; called once, first."""

    @abstractmethod
    def quota_metric_tags(self, quota_type: ClientQuotaType, principal: Principal, client_id: str) -> Mapping[str, str]:
        """Tags that name a bucket: requests with equal tags share one limit (D3).

        Args:
            quota_type: which quota.
            principal: the principal of the request.
            client_id: the client id of the request; empty if it has none.

        Returns:
            The tags; if empty, the request is not throttled.
        """

    @abstractmethod
    def quota_limit(self, quota_type: ClientQuotaType, metric_tags: Mapping[str, str]) -> float | None:
        """The limit of a bucket, in the unit of the quota's key.

        Args:
            quota_type: which quota.
            metric_tags: as returned by ``quota_metric_tags``.

        Returns:
            The limit, or None for no limit, such as for tags that are no longer in use (D4).
        """

    @abstractmethod
    def update_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity, new_value: float) -> None:
        """Called with each quota at the start, and later with each that AlterClientQuotas sets."""

    @abstractmethod
    def remove_quota(self, quota_type: ClientQuotaType, quota_entity: ClientQuotaEntity) -> None:
        """Called with each quota that AlterClientQuotas removes."""

    def quota_reset_required(self, quota_type: ClientQuotaType) -> bool:
        """Whether limits have changed since the last call, other than by the calls of this interface.

        If so, the broker reads the limits of all buckets of this type again (D5).
        """
        return False

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> bool:
        """Called when topics, partitions or brokers have changed.

        Returns:
            Whether limits have changed; if so, the limits of all buckets are read again (D6).
        """
        return False

    def close(self) -> None:  # noqa: B027 - nor to close
        """Called when the broker stops, or another class is configured."""
