"""All quotas of clients at work."""

from __future__ import annotations

import logging
from collections.abc import Callable

from kafkawire.broker.clock import Clock
from kafkawire.broker.image.client_quotas import entity_of
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata
from kafkawire.broker.quotas.connection_rates import ConnectionRates
from kafkawire.broker.quotas.default_callback import DefaultQuotaCallback, callback_entity
from kafkawire.broker.quotas.measured_rates import ByteRates, RequestTimes
from kafkawire.broker.quotas.mutations import Mutations
from kafkawire.broker.quotas.rate import DEFAULT_WINDOWS, QuotaWindows
from kafkawire.model.quotas.entities import CONNECTION_CREATION_RATE, IP, ClientQuotaEntity
from kafkawire.protocol import ClientQuotaRecord

__all__ = ["ClientQuotas"]

_log = logging.getLogger(__name__)


class _Kind:
    """A kind of quota.

    Attributes:
        quota_type: which.
        at_work: what counts and throttles.
        limits: what is set.
    """

    def __init__(self, at_work: ByteRates | RequestTimes | Mutations) -> None:
        self.quota_type = at_work.buckets.quota_type
        self.at_work = at_work
        self.limits: dict[ClientQuotaEntity, float] = {}

    def enable(self, *, is_custom: bool) -> None:
        """Measure only what there are quotas of; callbacks of others may limit without any."""
        self.at_work.enabled = is_custom or bool(self.limits)


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
        self.produce = ByteRates(ClientQuotaType.PRODUCE, self._callback, windows, clock)
        self.fetch = ByteRates(ClientQuotaType.FETCH, self._callback, windows, clock)
        self.request = RequestTimes(ClientQuotaType.REQUEST, self._callback, windows, clock)
        self.mutations = Mutations(self._callback, mutation_windows, clock)
        self.connections = ConnectionRates(windows, clock)
        kinds = _Kind(self.produce), _Kind(self.fetch), _Kind(self.request), _Kind(self.mutations)
        self._by_key = {kind.quota_type.value: kind for kind in kinds}
        self._enable()

    def apply(self, record: ClientQuotaRecord) -> None:
        """A quota was set or removed; it holds from now on, also for buckets in use."""
        entity = entity_of(record)
        value = None if record.remove else record.value
        if IP in entity:
            if record.key == CONNECTION_CREATION_RATE:
                self.connections.update(entity, value)
            return
        kind = self._by_key.get(record.key)
        if kind is not None:
            self._update(kind, entity, value)

    def _update(self, kind: _Kind, entity: ClientQuotaEntity, value: float | None) -> None:
        if value is None:
            kind.limits.pop(entity, None)
        else:
            kind.limits[entity] = value
        self._tell(kind.quota_type, entity, value)
        kind.at_work.buckets.outdate()
        kind.enable(is_custom=self.wants_cluster_metadata)

    def _tell(self, quota_type: ClientQuotaType, entity: ClientQuotaEntity, value: float | None) -> None:
        told = callback_entity(entity)
        if value is None:
            self._guarded(lambda callback: callback.remove_quota(quota_type, told))
        else:
            self._guarded(lambda callback: callback.update_quota(quota_type, told, value))

    def use(self, callback: ClientQuotaCallback | None) -> None:
        """Have another callback decide: the one before is closed, and this one is told all quotas.

        Args:
            callback: configured already; None for Kafka's own order of precedence.
        """
        self.close()
        self._callback = callback or DefaultQuotaCallback()
        for kind in self._by_key.values():
            kind.at_work.buckets.use(self._callback)
            for entity, value in kind.limits.items():
                self._tell(kind.quota_type, entity, value)
        self._enable()

    @property
    def wants_cluster_metadata(self) -> bool:
        """Whether anything may depend on it: whether the callback is one of the user's."""
        return not isinstance(self._callback, DefaultQuotaCallback)

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> None:
        """Topics or brokers have changed (D6)."""
        if self._guarded(lambda callback: callback.update_cluster_metadata(cluster)):
            for kind in self._by_key.values():
                kind.at_work.buckets.outdate()

    def close(self) -> None:
        """The broker stops."""
        self._guarded(lambda callback: callback.close())

    def _enable(self) -> None:
        for kind in self._by_key.values():
            kind.enable(is_custom=self.wants_cluster_metadata)

    def _guarded(self, tell: Callable[[ClientQuotaCallback], object]) -> object:
        """Tell the callback of something that has happened already: it cannot fail any more."""
        try:
            return tell(self._callback)
        except Exception:  # noqa: BLE001 - code of users, and what it is told is done
            _log.exception("%s failed; its quotas may be wrong from now on", type(self._callback).__qualname__)
            return None
