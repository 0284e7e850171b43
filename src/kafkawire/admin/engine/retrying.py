"""Which failures are retried (admin-retries)."""

from __future__ import annotations

from typing import Any

from kafkawire.admin.engine.operation import Operation
from kafkawire.admin.engine.route import AnyNode, Controller, CoordinatorOf, LeaderOf, OnNode, Route
from kafkawire.protocol.errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    FencedLeaderEpochError,
    KafkaStorageError,
    LeaderNotAvailableError,
    NetworkError,
    NotControllerError,
    NotCoordinatorError,
    NotLeaderOrFollowerError,
    ReplicaNotAvailableError,
    RequestTimedOutError,
    ThrottlingQuotaExceededError,
    UnknownLeaderEpochError,
)
from kafkawire.wire.kafka_errors import ApiError, KafkaError

_ANYWHERE = frozenset({RequestTimedOutError.code, NetworkError.code})
_BY_ROUTE: dict[type, frozenset[int]] = {
    AnyNode: _ANYWHERE | {NotControllerError.code},
    Controller: _ANYWHERE | {NotControllerError.code},
    OnNode: _ANYWHERE | {CoordinatorLoadInProgressError.code, CoordinatorNotAvailableError.code},
    CoordinatorOf: _ANYWHERE
    | {CoordinatorLoadInProgressError.code, CoordinatorNotAvailableError.code, NotCoordinatorError.code},
    LeaderOf: _ANYWHERE
    | {
        LeaderNotAvailableError.code,
        NotLeaderOrFollowerError.code,
        ReplicaNotAvailableError.code,
        FencedLeaderEpochError.code,
        UnknownLeaderEpochError.code,
        KafkaStorageError.code,
    },
}

OUTCOME_UNKNOWN = frozenset({RequestTimedOutError.code, NetworkError.code})
"""Answers that leave open whether a change was made (admin-unknown-outcome)."""


def is_retried(operation: Operation[Any, Any, Any], route: Route, error: KafkaError, *, throttled: bool) -> bool:
    """Whether an item is sent again after an error.

    Args:
        operation: of the item.
        route: its destination.
        error: its error.
        throttled: whether items that a quota refused are retried.
    """
    if not isinstance(error, ApiError):
        return error.retriable
    if error.code in operation.final_codes:
        return False
    if error.code == ThrottlingQuotaExceededError.code:
        return throttled
    return error.code in operation.retried_codes or error.code in _BY_ROUTE[type(route)]
