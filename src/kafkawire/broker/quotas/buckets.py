"""The buckets of one quota: who shares one, its limit, and what was taken from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final, Generic, TypeVar

from kafkawire.broker.clock import Clock
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.quotas.default_callback import DefaultQuotaCallback
from kafkawire.broker.sessions import Session

__all__ = ["BETWEEN_SWEEPS_MS", "UNUSED_MS", "Bucket", "Buckets"]

UNUSED_MS: Final = 3_600_000
BETWEEN_SWEEPS_MS: Final = 30_000
_MOST_CLIENTS_REMEMBERED: Final = 10_000
_MOST_BUCKETS: Final = 100_000
"""Client ids cost nothing to make up, and buckets cost memory."""

M = TypeVar("M")


@dataclass(eq=False, slots=True)
class Bucket(Generic[M]):
    """A bucket, shared by the clients whose tags are equal.

    Attributes:
        tags: names and values, in the order of their names.
        limit: infinite if there is none.
        meter: measures the use.
        used_ms: when it was last used.
    """

    tags: tuple[tuple[str, str], ...]
    limit: float
    meter: M
    used_ms: int


class Buckets(Generic[M]):
    """The buckets of one quota type on this broker (D3, D4, D9, D17).

    Limits are looked up when a bucket is first used, and again when quotas have changed.

    Args:
        quota_type: which quota.
        callback: decides about tags and limits.
        new_meter: makes the meter of a new bucket.
        clock: measures.
    """

    def __init__(
        self, quota_type: ClientQuotaType, callback: ClientQuotaCallback, new_meter: Callable[[], M], clock: Clock
    ) -> None:
        self.quota_type = quota_type
        self._new_meter = new_meter
        self._clock = clock
        self.use(callback)

    def use(self, callback: ClientQuotaCallback) -> None:
        """Have another callback decide, from empty buckets on."""
        self._callback = callback
        self._by_tags: dict[tuple[tuple[str, str], ...], Bucket[M]] = {}
        self._by_client: dict[tuple[str, str], Bucket[M]] = {}
        self._is_outdated = False
        self._swept_ms = self.now_ms()

    def now_ms(self) -> int:
        """The time by which meters go."""
        return round(self._clock.seconds() * 1000)

    def outdate(self) -> None:
        """Quotas have changed: tags and limits are looked up again."""
        self._by_client.clear()
        self._is_outdated = True

    def of(self, session: Session, client_id: str) -> Bucket[M] | None:
        """The bucket that a client takes from; None if it is not throttled whatever it does."""
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

    def _by_tags_of(self, session: Session, client_id: str, now_ms: int) -> Bucket[M] | None:
        tags = self._callback.quota_metric_tags(self.quota_type, session.principal, client_id)
        if not tags:
            return None
        key = tuple(sorted(tags.items()))
        bucket = self._by_tags.get(key)
        if bucket is None:
            if len(self._by_tags) >= _MOST_BUCKETS:
                self._drop_half()
            bucket = self._by_tags[key] = Bucket(key, self._limit(key), self._new_meter(), now_ms)
        return bucket

    def _limit(self, tags: tuple[tuple[str, str], ...]) -> float:
        limit = self._callback.quota_limit(self.quota_type, dict(tags))
        return inf if limit is None else limit

    def _look_up_limits(self) -> None:
        for bucket in self._by_tags.values():
            bucket.limit = self._limit(bucket.tags)
        self._is_outdated = False

    def _remember(self, client: tuple[str, str], bucket: Bucket[M]) -> None:
        """Spare the next request of a client the search; only Kafka's own order of precedence is known to stay."""
        if len(self._by_client) >= _MOST_CLIENTS_REMEMBERED:
            self._by_client.clear()
        self._by_client[client] = bucket

    def _drop_half(self) -> None:
        """Let go of the buckets that were used longest ago."""
        self._by_client.clear()
        by_use = sorted(self._by_tags.items(), key=lambda item: item[1].used_ms)
        self._by_tags = dict(by_use[len(by_use) // 2 :])

    def _sweep(self, now_ms: int) -> None:
        """Let go of buckets that nobody has used for an hour (D17)."""
        self._swept_ms = now_ms
        self._by_client.clear()
        for tags, bucket in tuple(self._by_tags.items()):
            if now_ms - bucket.used_ms > UNUSED_MS:
                del self._by_tags[tags]
