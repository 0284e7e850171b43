"""Share sessions by themselves: their partitions and epochs."""

from __future__ import annotations

import pytest

from kafkawire.broker.shares.sessions import FetchedPartition, SessionKey, ShareSession
from kafkawire.layout.uuid import Uuid

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
