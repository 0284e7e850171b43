"""Share sessions by themselves: their partitions and epochs."""

from __future__ import annotations

import pytest

from kafkawire.broker.shares.sessions import (
    FetchedPartition,
    SessionKey,
    ShareSession,
    ShareSessionError,
    ShareSessions,
)
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol.error_codes import ErrorCode

FIRST, SECOND = (FetchedPartition(Uuid(b"t" * 16), number) for number in range(2))


def session(epoch: int = 1) -> ShareSession:
    return ShareSession(SessionKey("g", "m"), epoch, {FIRST: "t"}, 7)


def test_a_partition_that_is_added_is_reported_once_and_keeps_its_name() -> None:
    found = session()
    found.change([(FIRST, "renamed"), (SECOND, None)], [])
    assert found.names == {FIRST: "t", SECOND: None}
    assert found.to_report == {SECOND}
    found.change([(SECOND, "late")], [FIRST])
    assert found.names == {SECOND: None}
    assert found.reports(SECOND, has_records=False, has_error=False)
    assert not found.reports(SECOND, has_records=False, has_error=False)


def test_a_partition_that_is_added_and_removed_is_not_reported() -> None:
    found = session()
    found.change([(SECOND, "t")], [SECOND])
    assert found.names == {FIRST: "t"}
    assert not found.reports(SECOND, has_records=False, has_error=False)


@pytest.mark.parametrize(("epoch", "following"), [(0, 1), (1, 2), (2**31 - 2, 2**31 - 1), (2**31 - 1, 1)])
def test_the_first_epoch_follows_the_last(epoch: int, following: int) -> None:
    found = session(epoch)
    found.advance()
    assert found.epoch == following


@pytest.mark.parametrize("has_records", [True, False])
@pytest.mark.parametrize("has_error", [True, False])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_partition_is_reported_with_records_errors_and_once_afterwards(
    *, has_records: bool, has_error: bool, is_new: bool
) -> None:
    """After an error once more, so that the member sees that it is over."""
    found = session()
    if is_new:
        found.to_report.add(FIRST)
    assert found.reports(FIRST, has_records=has_records, has_error=has_error) is (has_records or has_error or is_new)
    assert found.reports(FIRST, has_records=False, has_error=False) is has_error
    assert found.reports(FIRST, has_records=False, has_error=False) is False


@pytest.mark.parametrize("expected", [0, 1, 1000, 2**31 - 1])
def test_a_request_has_the_expected_epoch(expected: int) -> None:
    found = session(expected)
    found.check(int(str(expected)))
    for other in (expected - 1, expected + 1, -1):
        with pytest.raises(ShareSessionError) as refused:
            found.check(other)
        assert refused.value.code is ErrorCode.INVALID_SHARE_SESSION_EPOCH


def keys(count: int, group: str = "g") -> list[SessionKey]:
    return [SessionKey(group, f"m-{number}") for number in range(count)]


@pytest.mark.parametrize("most", [0, 1, 3])
def test_there_are_as_many_sessions_as_the_broker_allows(most: int) -> None:
    """``group.share.max.share.sessions``; a session that takes the place of an earlier one is no further one."""
    sessions = ShareSessions(most)
    *begun, further = keys(most + 1)
    for number, key in enumerate(begun):
        assert len(sessions) == number
        found = sessions.begin(key, [(FIRST, "t"), (SECOND, None)], 7)
        assert found == ShareSession(key, 1, {FIRST: "t", SECOND: None}, 7, set())
        assert sessions.of(key) is found
        assert sessions.begin(key, [(SECOND, None)], 7) is sessions.of(key) is not found
    with pytest.raises(ShareSessionError) as refused:
        sessions.begin(further, [], 7)
    assert refused.value.code is ErrorCode.SHARE_SESSION_LIMIT_REACHED
    with pytest.raises(ShareSessionError) as refused:
        sessions.of(further)
    assert refused.value.code is ErrorCode.SHARE_SESSION_NOT_FOUND
    assert len(sessions) == most
    if begun:
        assert sessions.end(begun[0]) == (SECOND,)
        assert sessions.end(begun[0]) == ()
        sessions.begin(further, [], 7)


def test_sessions_are_known_by_their_connection_and_their_group() -> None:
    """A connection is of the group whose session began last on it."""
    sessions = ShareSessions(10)
    one, two = keys(2)
    (other,) = keys(1, "h")
    for key, connection in ((one, 7), (two, 7), (other, 8), (other, 7)):
        sessions.begin(key, [], connection)
    assert set(sessions.of_connection(7)) == {one, two, other}
    assert sessions.of_connection(8) == sessions.of_connection(9) == ()
    assert [sessions.has_group(group) for group in "ghi"] == [True, True, False]
    sessions.end(one)
    assert sessions.has_group("g")
    assert set(sessions.of_connection(7)) == {two, other}
    sessions.end(two)
    sessions.end(two)
    assert [sessions.has_group(group) for group in "gh"] == [False, True]
    assert sessions.close_connection(7) == "h"
    assert sessions.close_connection(8) == "h"
    assert sessions.close_connection(7) is sessions.close_connection(9) is None
    sessions.end(other)
    assert (len(sessions), sessions.of_connection(7), sessions.has_group("h")) == (0, (), False)
