"""The quotas of clients, as they are enforced."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from kafkawire.broker.clock import Clock
from kafkawire.broker.image.client_quotas import entity_of
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.plugins.cluster_metadata import ClusterMetadata
from kafkawire.broker.plugins.reconfigurable import Reconfigurable
from kafkawire.broker.quotas.connection_rates import ConnectionRates
from kafkawire.broker.quotas.default_callback import DefaultQuotaCallback, callback_entity
from kafkawire.broker.quotas.measured_rates import ByteRates, RequestTimes
from kafkawire.broker.quotas.metrics import QuotaMetric
from kafkawire.broker.quotas.mutations import Mutations
from kafkawire.broker.quotas.rate import DEFAULT_WINDOWS, QuotaWindows
from kafkawire.model.quotas.entities import CONNECTION_CREATION_RATE, IP, ClientQuotaEntity
from kafkawire.protocol import ClientQuotaRecord

_log = logging.getLogger(__name__)


class _Kind:
    """A type of quota.

    Attributes:
        quota_type: which.
        at_work: measures and throttles.
        limits: the limits that are set.
    """

    def __init__(self, at_work: ByteRates | RequestTimes | Mutations) -> None:
        self.quota_type = at_work.buckets.quota_type
        self.at_work = at_work
        self.limits: dict[ClientQuotaEntity, float] = {}

    def enable(self, *, is_custom: bool) -> None:
        """Measure only if there are limits, or a custom callback, which may limit without any."""
        self.at_work.enabled = is_custom or bool(self.limits)


class ClientQuotas:
    """The quotas of a broker's clients.

    Args:
        clock: the broker's.
        windows: of all other quotas (``quota.window.num``, ``quota.window.size.seconds``).
        mutation_windows: of changes (``controller.quota.window.num``, ``controller.quota.window.size.seconds``).
        callback: decides buckets and limits, already configured; None for Kafka's own precedence.

    Attributes:
        produce, fetch, request, mutations, connections: one for each type of quota.
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
        """Apply a quota that was set or removed, also to buckets in use."""
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
        self._pass_quota(kind.quota_type, entity, value)
        kind.at_work.buckets.outdate()
        kind.enable(is_custom=self.wants_cluster_metadata)

    def _pass_quota(self, quota_type: ClientQuotaType, entity: ClientQuotaEntity, value: float | None) -> None:
        callback_quota = callback_entity(entity)
        if value is None:
            self._call_back(lambda callback: callback.remove_quota(quota_type, callback_quota))
        else:
            self._call_back(lambda callback: callback.update_quota(quota_type, callback_quota, value))

    def use(self, callback: ClientQuotaCallback | None) -> None:
        """Replace the callback: close the old one, and pass all quotas to the new one.

        Args:
            callback: already configured; None for Kafka's own precedence.
        """
        self.close()
        self._callback = callback or DefaultQuotaCallback()
        for kind in self._by_key.values():
            kind.at_work.buckets.use(self._callback)
            for entity, value in kind.limits.items():
                self._pass_quota(kind.quota_type, entity, value)
        self._enable()

    @property
    def reconfigurable(self) -> Reconfigurable | None:
        """The callback, if it can be configured again while it is used."""
        return self._callback if isinstance(self._callback, Reconfigurable) else None

    @property
    def wants_cluster_metadata(self) -> bool:
        """Whether the callback is the user's, which may depend on cluster metadata."""
        return not isinstance(self._callback, DefaultQuotaCallback)

    def update_cluster_metadata(self, cluster: ClusterMetadata) -> None:
        """Pass the changed topics or brokers to the callback (D6)."""
        if self._call_back(lambda callback: callback.update_cluster_metadata(cluster)):
            for kind in self._by_key.values():
                kind.at_work.buckets.outdate()

    def metrics(self) -> Sequence[QuotaMetric]:
        """The use of all quotas, by type and tags."""
        return [metric for kind in self._by_key.values() for metric in kind.at_work.buckets.metrics()]

    def close(self) -> None:
        """Close the callback; it is called no more."""
        self._call_back(lambda callback: callback.close())
        self._callback = DefaultQuotaCallback()

    def _enable(self) -> None:
        for kind in self._by_key.values():
            kind.enable(is_custom=self.wants_cluster_metadata)

    def _call_back(self, call: Callable[[ClientQuotaCallback], object]) -> object:
        """Call the callback about a change that is already committed, and log whatever it raises."""
        try:
            return call(self._callback)
        except Exception:  # noqa: BLE001 - users' code, and the change is already committed
            _log.exception("%s failed; its quotas may be wrong from now on", type(self._callback).__qualname__)
            return None
