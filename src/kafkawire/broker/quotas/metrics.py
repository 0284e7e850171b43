"""The use of quotas, as Kafka's metrics have it."""

from __future__ import annotations

from collections.abc import Mapping

from kafkawire.broker.plugins.client_quota_callback import ClientQuotaType
from kafkawire.wire.message import Struct


class QuotaMetric(Struct, frozen=True):
    """The use of a quota by the clients that share it, over the windows of the measurement.

    Attributes:
        quota_type: which quota; rate and limit are in the unit of its key.
        tags: name the clients: ``user`` and ``client-id``, one of which may be empty, or what a callback returns (D3).
        limit: the limit; None if there is none.
        rate: the use per second, as ``byte-rate``, ``request-time`` and ``mutation-rate`` in Kafka.
        throttle_ms: average throttle time of the responses that had one, in milliseconds, as ``throttle-time`` in
            Kafka; 0 if none had.
    """

    quota_type: ClientQuotaType
    tags: Mapping[str, str]
    limit: float | None
    rate: float
    throttle_ms: float
