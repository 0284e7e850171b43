"""The quota on creating and deleting partitions (KIP-599)."""

from __future__ import annotations

from math import floor, inf
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.quotas.buckets import Bucket, Buckets
from kafkawire.broker.quotas.rate import METRIC_WINDOWS, QuotaWindows, Rate
from kafkawire.broker.requests import Call
from kafkawire.protocol.errors import ThrottlingQuotaExceededError

_UNLIMITED: Final = 2.0**63
"""A limit at which any bucket is full at once; an infinite limit times no time would not be a number."""


class TokenBucket:
    """Kafka's token bucket (D15): it gains ``limit`` tokens a second, up to what all windows together would give.

    It is full at first, and may be overdrawn once. The limit is an argument of every call, since it may change.
    """

    __slots__ = ("_burst_seconds", "_last_ms", "_rate", "_tokens")

    def __init__(self, windows: QuotaWindows) -> None:
        self._burst_seconds = windows.samples * windows.window_ms / 1000
        self._tokens = inf
        self._last_ms = 0
        self._rate = Rate(METRIC_WINDOWS)

    def measure(self, now_ms: int) -> float:
        """Tokens taken per second."""
        return self._rate.measure(now_ms)

    def tokens(self, limit: float, now_ms: int) -> float:
        """How many tokens there are; below zero if the bucket is overdrawn."""
        self._tokens = min(limit * self._burst_seconds, self._tokens + limit * (now_ms - self._last_ms) / 1000)
        self._last_ms = now_ms
        return self._tokens

    def take(self, count: float, limit: float, now_ms: int) -> float:
        """Take tokens, even more than there are; returns how many are left.

        A negative count gives back, up to what the bucket holds.
        """
        self._rate.record(count, now_ms)
        self._tokens = min(limit * self._burst_seconds, self.tokens(limit, now_ms) - count)
        return self._tokens


class MutationQuota:
    """How much one request may change; this one is unlimited.

    Take tokens before each change, and send ``throttle_time_ms`` in the response.
    """

    @property
    def throttle_time_ms(self) -> int:
        """For how long the client is throttled, as of now."""
        return 0

    def take(self, partitions: int) -> None:
        """Take a token for each partition that is created or deleted.

        Raises:
            ThrottlingQuotaExceededError: the quota is exceeded; do not make the change.
        """


class _LimitedQuota(MutationQuota):
    """A quota with a bucket.

    Args:
        bucket: has the tokens.
        buckets: has the clock.
        strict: whether a change that exceeds the quota is refused; else it is made, and the client is throttled.
    """

    def __init__(self, bucket: Bucket[TokenBucket], buckets: Buckets[TokenBucket], *, strict: bool) -> None:
        self._bucket = bucket
        self._buckets = buckets
        self._strict = strict
        self._throttle_ms = 0
        self._since_ms = 0

    def take(self, partitions: int) -> None:
        """Take tokens, and compute the throttle time if there are too few."""
        now_ms, limit = self._buckets.now_ms(), min(self._bucket.limit, _UNLIMITED)
        tokens = self._bucket.meter
        if self._strict and (left := tokens.tokens(limit, now_ms)) < 0:
            self._exceeded(left, limit, now_ms)
            raise ThrottlingQuotaExceededError(throttle_ms=self._throttle_ms)
        left = tokens.take(partitions, limit, now_ms)
        if left < 0 and not self._strict:
            self._exceeded(left, limit, now_ms)

    def _exceeded(self, left: float, limit: float, now_ms: int) -> None:
        self._throttle_ms = floor(-left / limit * 1000 + 0.5)
        self._buckets.note_throttle(self._bucket, self._throttle_ms)
        self._since_ms = now_ms

    @property
    def throttle_time_ms(self) -> int:
        """What is left of the throttle time."""
        return max(0, self._throttle_ms - (self._buckets.now_ms() - self._since_ms))


class Mutations:
    """The quotas on changes.

    Args:
        callback: decides the tags and limits of buckets.
        windows: a full bucket has the tokens of all windows together.
        clock: the broker's.

    Attributes:
        enabled: whether there is any quota of this type.
    """

    def __init__(self, callback: ClientQuotaCallback, windows: QuotaWindows, clock: Clock) -> None:
        self.enabled = False
        self.buckets: Buckets[TokenBucket] = Buckets(
            ClientQuotaType.CONTROLLER_MUTATION, callback, TokenBucket, windows, clock
        )

    def quota_of(self, call: Call, *, strict_since: int) -> MutationQuota:
        """The quota of the client of a request.

        Args:
            call: the request.
            strict_since: the first version of its API that refuses changes beyond the quota with
                THROTTLING_QUOTA_EXCEEDED: 6 of CreateTopics, 5 of DeleteTopics, 3 of CreatePartitions (B10).
        """
        bucket = self.buckets.of(call.session, call.client_id) if self.enabled else None
        if bucket is None:
            return MutationQuota()
        return _LimitedQuota(bucket, self.buckets, strict=call.version >= strict_since)
