"""All quotas of clients at work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

from kafkawire.admin.quotas import CONNECTION_CREATION_RATE, IP, ClientQuotaEntity
from kafkawire.broker.clock import Clock
from kafkawire.broker.image.client_quotas import entity_of
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata
from kafkawire.broker.quotas.connection_rates import ConnectionRates
from kafkawire.broker.quotas.default_callback import DefaultQuotaCallback, callback_entity
from kafkawire.broker.quotas.measured_rates import ByteRates, RequestTimes
from kafkawire.broker.quotas.mutations import Mutations
from kafkawire.broker.quotas.rate import DEFAULT_WINDOWS, QuotaWindows
from kafkawire.protocol import ClientQuotaRecord

__all__ = ["ClientQuotas"]

_log = logging.getLogger(__name__)
_TYPES: Final = {quota_type.value: quota_type for quota_type in ClientQuotaType}


class ClientQuotas:
    """What clients may use of this broker.

    Args:
        clock: measures.
        windows: of all quotas but the next (``quota.window.num``, ``quota.window.size.seconds``).
        mutation_windows: of changes (``controller.quota.window.num``, ``controller.quota.window.size.seconds``).
        callback: decides about buckets and limits; configured already. None for Kafka's own order of precedence.

    Attributes:
        produce, fetch, request, mutations, connections: one for each kind of quota.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        windows: QuotaWindows = DEFAULT_WINDOWS,
        mutation_windows: QuotaWindows = DEFAULT_WINDOWS,
        callback: ClientQuotaCallback | None = None,
    ) -> None:
        self._callback = callback or DefaultQuotaCallback()
        self._set: dict[ClientQuotaType, dict[ClientQuotaEntity, float]] = {kind: {} for kind in ClientQuotaType}
        self.produce = ByteRates(ClientQuotaType.PRODUCE, self._callback, windows, clock)
        self.fetch = ByteRates(ClientQuotaType.FETCH, self._callback, windows, clock)
        self.request = RequestTimes(ClientQuotaType.REQUEST, self._callback, windows, clock)
        self.mutations = Mutations(self._callback, mutation_windows, clock)
        self.connections = ConnectionRates(windows, clock)
        self._enable()

    def apply(self, record: ClientQuotaRecord) -> None:
        """A quota was set or removed; it holds from now on, also for buckets in use."""
        entity = entity_of(record)
        value = None if record.remove else record.value
        if IP in entity:
            if record.key == CONNECTION_CREATION_RATE:
                self.connections.update(entity, value)
            return
        quota_type = _TYPES.get(record.key)
        if quota_type is not None:
            self._update(quota_type, entity, value)

    def _update(self, quota_type: ClientQuotaType, entity: ClientQuotaEntity, value: float | None) -> None:
        told = callback_entity(entity)
        if value is None:
            self._set[quota_type].pop(entity, None)
            self._guarded(lambda: self._callback.remove_quota(quota_type, told))
        else:
            self._set[quota_type][entity] = value
            self._guarded(lambda: self._callback.update_quota(quota_type, told, value))
        self._of_type(quota_type).buckets.outdate()
        self._enable()

    def use(self, callback: ClientQuotaCallback | None) -> None:
        """Have another callback decide: it is told all quotas, and the one before is closed.

        Args:
            callback: configured already; None for Kafka's own order of precedence.
        """
        before, self._callback = self._callback, callback or DefaultQuotaCallback()
        self._guarded(before.close)
        for quota_type, limits in self._set.items():
            self._of_type(quota_type).buckets.use(self._callback)
            for entity, value in limits.items():
                self._callback.update_quota(quota_type, callback_entity(entity), value)
        self._enable()

    @property
    def wants_cluster_metadata(self) -> bool:
        """Whether anything depends on it."""
        return not isinstance(self._callback, DefaultQuotaCallback)

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> None:
        """Topics or partitions have changed (D6)."""
        if self._guarded(lambda: self._callback.update_cluster_metadata(cluster)):
            for quota_type in ClientQuotaType:
                self._of_type(quota_type).buckets.outdate()

    def close(self) -> None:
        """The broker stops."""
        self._guarded(self._callback.close)

    def _of_type(self, quota_type: ClientQuotaType) -> ByteRates | RequestTimes | Mutations:
        kinds: Mapping[ClientQuotaType, ByteRates | RequestTimes | Mutations] = {
            ClientQuotaType.PRODUCE: self.produce,
            ClientQuotaType.FETCH: self.fetch,
            ClientQuotaType.REQUEST: self.request,
            ClientQuotaType.CONTROLLER_MUTATION: self.mutations,
        }
        return kinds[quota_type]

    def _enable(self) -> None:
        """Measure what there are quotas of; callbacks of others may limit without any."""
        is_custom = not isinstance(self._callback, DefaultQuotaCallback)
        for quota_type, limits in self._set.items():
            self._of_type(quota_type).enabled = is_custom or bool(limits)

    def _guarded(self, call: Callable[[], object]) -> object:
        """Call a callback about something that has happened already: it cannot fail any more."""
        try:
            return call()
        except Exception:  # noqa: BLE001 - code of users, and what it is told is done
            _log.exception("%s failed; its quotas may be wrong from now on", type(self._callback).__qualname__)
            return None
