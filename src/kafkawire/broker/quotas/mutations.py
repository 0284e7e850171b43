"""The quota on creating and deleting partitions (KIP-599)."""

from __future__ import annotations

from math import floor
from typing import Final, Protocol

from kafkawire.broker.clock import Clock
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaCallback, ClientQuotaType
from kafkawire.broker.quotas.buckets import Bucket, Buckets
from kafkawire.broker.quotas.rate import QuotaWindows
from kafkawire.broker.quotas.token_bucket import TokenBucket
from kafkawire.broker.requests import Call
from kafkawire.protocol.errors import ThrottlingQuotaExceededError

__all__ = ["UNBOUNDED", "MutationQuota", "Mutations"]


_UNLIMITED: Final = 2.0**63
"""So many tokens a second fill any bucket at once; infinitely many would make no number of no time at all."""


class MutationQuota(Protocol):
    """What one request may change; ask before each change, and tell the client ``throttle_time_ms`` in the end."""

    def take(self, partitions: int) -> None:
        """Take tokens, one for each partition that is created or deleted.

        Raises:
            ThrottlingQuotaExceededError: the quota is used up; what was asked for must not be done.
        """

    @property
    def throttle_time_ms(self) -> int:
        """How long the client is to wait, by now."""


class _Unbounded:
    @property
    def throttle_time_ms(self) -> int:
        return 0

    def take(self, partitions: int) -> None:
        pass


UNBOUNDED: Final[MutationQuota] = _Unbounded()
"""There is no quota."""


class _Bounded:
    """A quota with a bucket.

    Args:
        bucket: where tokens come from.
        buckets: tells the time.
        strict: whether what exceeds the quota is refused; else it is done, and the client waits afterwards.
    """

    def __init__(self, bucket: Bucket[TokenBucket], buckets: Buckets[TokenBucket], *, strict: bool) -> None:
        self._bucket = bucket
        self._buckets = buckets
        self._strict = strict
        self._throttle_ms = 0
        self._since_ms = 0

    def take(self, partitions: int) -> None:
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
        self._since_ms = now_ms

    @property
    def throttle_time_ms(self) -> int:
        return max(0, self._throttle_ms - (self._buckets.now_ms() - self._since_ms))


class Mutations:
    """What clients may change.

    Args:
        callback: decides about tags and limits.
        windows: how much may come at once: what is allowed in so much time.
        clock: measures.

    Attributes:
        enabled: whether there is any such quota.
    """

    def __init__(self, callback: ClientQuotaCallback, windows: QuotaWindows, clock: Clock) -> None:
        self.enabled = False
        self.buckets: Buckets[TokenBucket] = Buckets(
            ClientQuotaType.CONTROLLER_MUTATION, callback, lambda: TokenBucket(windows), clock
        )

    def quota_of(self, call: Call, *, strict_since: int) -> MutationQuota:
        """What a request may change.

        Args:
            call: the request.
            strict_since: the version of its API from which on what exceeds the quota is refused with
                THROTTLING_QUOTA_EXCEEDED: 6 of CreateTopics, 5 of DeleteTopics, 3 of CreatePartitions (B10).
        """
        bucket = self.buckets.of(call.session, call.client_id) if self.enabled else None
        if bucket is None:
            return UNBOUNDED
        return _Bounded(bucket, self.buckets, strict=call.version >= strict_since)
