"""Which failures are retried (admin-retries)."""

from __future__ import annotations

from typing import Any

from kafkawire.admin.engine.operation import Operation
from kafkawire.admin.engine.route import AnyNode, Controller, CoordinatorOf, LeaderOf, OnNode, Route
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.kafka_errors import ApiError, KafkaError

_ANYWHERE = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NETWORK_EXCEPTION})
_BY_ROUTE: dict[type, frozenset[int]] = {
    AnyNode: _ANYWHERE | {ErrorCode.NOT_CONTROLLER},
    Controller: _ANYWHERE | {ErrorCode.NOT_CONTROLLER},
    OnNode: _ANYWHERE | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE},
    CoordinatorOf: _ANYWHERE
    | {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR},
    LeaderOf: _ANYWHERE
    | {
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
    },
}

OUTCOME_UNKNOWN = frozenset({ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NETWORK_EXCEPTION})
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
    if error.code == ErrorCode.THROTTLING_QUOTA_EXCEEDED:
        return throttled
    return error.code in operation.retried_codes or error.code in _BY_ROUTE[type(route)]
