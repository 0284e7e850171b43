"""Long work of streams groups: it is done once for the same arguments, and its errors are those of the heartbeat."""

from __future__ import annotations

import pytest

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.long_work import DeferredWork, LongWorkError
from kafkawire.protocol.error_codes import ErrorCode


def doubled(number: int) -> int:
    if number < 0:
        raise GroupError(ErrorCode.INVALID_REQUEST, "too small")
    return 2 * number


def test_a_result_is_there_after_the_work_for_the_same_arguments_only() -> None:
    work = DeferredWork()
    assert work.result(doubled, 1, is_long=False) == 2
    with pytest.raises(LongWorkError) as deferred:
        work.result(doubled, 1, is_long=True)
    deferred.value.work()
    assert work.result(doubled, 1, is_long=True) == 2
    with pytest.raises(LongWorkError):
        work.result(doubled, 2, is_long=True)


def test_an_error_of_the_work_is_that_of_the_heartbeat() -> None:
    work = DeferredWork()
    with pytest.raises(LongWorkError) as deferred:
        work.result(doubled, -1, is_long=True)
    deferred.value.work()
    with pytest.raises(GroupError, match="too small"):
        work.result(doubled, -1, is_long=True)


def test_a_result_is_that_of_its_arguments_however_they_compare() -> None:
    for first, second in ((1, 2), (2, 1)):
        work = DeferredWork()
        with pytest.raises(LongWorkError) as deferred:
            work.result(doubled, first, is_long=True)
        deferred.value.work()
        with pytest.raises(LongWorkError):
            work.result(doubled, second, is_long=True)
