"""The buckets of a quota: each has a limit, and a meter for the clients that share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final, Generic, Protocol, TypeVar

from kafkawire.broker.clock import Clock
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.quotas.default_callback import DefaultQuotaCallback
from kafkawire.broker.quotas.metrics import QuotaMetric
from kafkawire.broker.quotas.rate import METRIC_WINDOWS, Average, QuotaWindows
from kafkawire.broker.sessions import Session

UNUSED_MS: Final = 3_600_000
BETWEEN_SWEEPS_MS: Final = 30_000
_MOST_CLIENTS_REMEMBERED: Final = 10_000
_MOST_BUCKETS: Final = 100_000
"""Clients can send any number of client ids, and each bucket takes memory."""


class Meter(Protocol):
    """Measures the use of a bucket."""

    def measure(self, now_ms: int) -> float:
        """The use per second, in the unit of the quota's key."""


M = TypeVar("M", bound=Meter)


@dataclass(eq=False, slots=True)
class Bucket(Generic[M]):
    """A bucket, shared by the clients whose tags are equal.

    Attributes:
        tags: names and values, in the order of their names.
        limit: infinite if there is none.
        meter: measures the use.
        used_ms: when it was last used.
        throttled: the average of the throttle times; None before the first one.
    """

    tags: tuple[tuple[str, str], ...]
    limit: float
    meter: M
    used_ms: int
    throttled: Average | None = None


class Buckets(Generic[M]):
    """The buckets of one quota type on this broker (D3, D4, D9, D17).

    The limit of a bucket is read when it is first used, and again when quotas have changed.

    Args:
        quota_type: which quota.
        callback: decides the tags and limits of buckets.
        new_meter: makes the meter of a new bucket.
        windows: of the measurement.
        clock: the broker's.
    """

    def __init__(
        self,
        quota_type: ClientQuotaType,
        callback: ClientQuotaCallback,
        new_meter: Callable[[QuotaWindows], M],
        windows: QuotaWindows,
        clock: Clock,
    ) -> None:
        self.quota_type = quota_type
        self._new_meter = new_meter
        self._windows = windows
        self._clock = clock
        self.use(callback)

    def use(self, callback: ClientQuotaCallback) -> None:
        """Use another callback, and begin with no buckets."""
        self._callback = callback
        self._by_tags: dict[tuple[tuple[str, str], ...], Bucket[M]] = {}
        self._by_client: dict[tuple[str, str], Bucket[M]] = {}
        self._is_outdated = False
        self._swept_ms = self.now_ms()

    def now_ms(self) -> int:
        """The time for meters, in milliseconds."""
        return round(self._clock.seconds() * 1000)

    def outdate(self) -> None:
        """Read tags and limits again, because quotas have changed."""
        self._by_client.clear()
        self._is_outdated = True

    def of(self, session: Session, client_id: str) -> Bucket[M] | None:
        """The bucket of a client; None if the client is never throttled."""
        now_ms = self.now_ms()
        if now_ms - self._swept_ms >= BETWEEN_SWEEPS_MS:
            self._sweep(now_ms)
        client = (session.principal.name, client_id)
        bucket = self._by_client.get(client)
        if bucket is None:
            bucket = self._by_tags_of(session, client_id, now_ms)
            if bucket is not None and isinstance(self._callback, DefaultQuotaCallback):
                self._remember(client, bucket)
        if self._callback.quota_reset_required(self.quota_type):
            self._is_outdated = True
        if self._is_outdated:
            self._look_up_limits()
        if bucket is not None:
            bucket.used_ms = now_ms
        return bucket

    def note_throttle(self, bucket: Bucket[M], throttle_ms: int) -> None:
        """Record a throttle time of a client of a bucket."""
        if throttle_ms:
            if bucket.throttled is None:
                bucket.throttled = Average(METRIC_WINDOWS)
            bucket.throttled.record(throttle_ms, self.now_ms())

    def metrics(self) -> Sequence[QuotaMetric]:
        """The state of all buckets, by their tags."""
        now_ms = self.now_ms()
        if self._is_outdated:
            self._look_up_limits()
        return [
            QuotaMetric(
                self.quota_type,
                dict(tags),
                None if bucket.limit == inf else bucket.limit,
                bucket.meter.measure(now_ms),
                0.0 if bucket.throttled is None else bucket.throttled.measure(now_ms),
            )
            for tags, bucket in sorted(self._by_tags.items())
        ]

    def _by_tags_of(self, session: Session, client_id: str, now_ms: int) -> Bucket[M] | None:
        tags = self._callback.quota_metric_tags(self.quota_type, session.principal, client_id)
        if not tags:
            return None
        key = tuple(sorted(tags.items()))
        bucket = self._by_tags.get(key)
        if bucket is None:
            if len(self._by_tags) >= _MOST_BUCKETS:
                self._drop_half()
            bucket = self._by_tags[key] = Bucket(key, self._limit(key), self._new_meter(self._windows), now_ms)
        return bucket

    def _limit(self, tags: tuple[tuple[str, str], ...]) -> float:
        limit = self._callback.quota_limit(self.quota_type, dict(tags))
        return inf if limit is None else limit

    def _look_up_limits(self) -> None:
        for bucket in self._by_tags.values():
            bucket.limit = self._limit(bucket.tags)
        self._is_outdated = False

    def _remember(self, client: tuple[str, str], bucket: Bucket[M]) -> None:
        """Remember the bucket of a client for its next request; only Kafka's own callback never changes it."""
        if len(self._by_client) >= _MOST_CLIENTS_REMEMBERED:
            self._by_client.clear()
        self._by_client[client] = bucket

    def _drop_half(self) -> None:
        """Remove the half of the buckets that was not used for longest."""
        self._by_client.clear()
        by_use = sorted(self._by_tags.items(), key=lambda item: item[1].used_ms)
        self._by_tags = dict(by_use[len(by_use) // 2 :])

    def _sweep(self, now_ms: int) -> None:
        """Remove the buckets that were not used for an hour (D17)."""
        self._swept_ms = now_ms
        self._by_client.clear()
        for tags, bucket in tuple(self._by_tags.items()):
            if now_ms - bucket.used_ms > UNUSED_MS:
                del self._by_tags[tags]
