"""Committed offsets in a page: the commits of each, its deletion, and what had to be left out."""

from __future__ import annotations

from collections.abc import Sequence

from kafkawire.report.committed import CommitFold
from kafkawire.report.contents import Committed, LogEnd
from kafkawire.report.log_ends import Partition


def commit(partition: int, offset: int | None, time: int, **more: object) -> dict[str, object]:
    """A row of ``offset_commits``; without an offset a tombstone."""
    return {
        "cluster": "c1",
        "group_id": "g",
        "topic": "t",
        "partition": partition,
        "committed_offset": offset,
        "commit_time": time,
        "append_time": time,
        "valid_from": time,
        "txn_outcome": None,
        "tombstone": offset is None,
        **more,
    }


def folded(rows: Sequence[dict[str, object]], limit: int = 10) -> tuple[Sequence[Committed], int]:
    fold = CommitFold(limit)
    for row in rows:
        fold.add(row)
    commits = fold.commits({Partition("c1", "t", 0): LogEnd(100), Partition("c2", "t", 0): LogEnd(7)})
    return commits.latest, sum(of.rows - of.shown for of in commits.numbers.values())


def test_the_latest_offset_is_shown_with_the_earlier_ones_and_the_end_of_its_log() -> None:
    (found,), left_out = folded([commit(0, 5, 1000), commit(0, 9, 3000)])
    assert found == Committed(
        "c1", "g", "t", 0, 9, 3000, 1000, points=((1000, 5), (3000, 9)), has_all_points=True, end=LogEnd(100)
    )
    assert left_out == 0


def test_many_commits_are_thinned_out_and_the_page_says_so() -> None:
    (found,), _ = folded([commit(1, number, 1000 + number) for number in range(100)])
    assert (found.offset, found.time, found.has_all_points) == (99, 1099, False)
    assert len(found.points) <= 24
    assert found.end == LogEnd()


def test_more_offsets_have_fewer_points_so_that_the_page_stays_small() -> None:
    fold = CommitFold(limit=10, points=60)
    for number in range(12):
        for partition in range(10):
            fold.add(commit(partition, number, 1000 + number))
    found = fold.commits({}).latest
    assert {len(each.points) for each in found} == {6}
    assert {(each.points[0], each.points[-1]) for each in found} == {((1000, 0), (1011, 11))}
    assert {each.has_all_points for each in found} == {False}


def test_transaction_counts_from_its_end_and_not_at_all_if_it_is_aborted() -> None:
    committed = commit(0, 7, 1000, valid_from=2000, txn_outcome="committed")
    (found,), _ = folded([committed, commit(0, 9, 3000, txn_outcome="aborted"), commit(0, 9, 3000, txn_outcome="open")])
    assert (found.offset, found.time) == (7, 2000)


def test_a_deleted_offset_ends_with_its_deletion_and_a_new_commit_is_another_one() -> None:
    found, left_out = folded([commit(0, 5, 1000), commit(0, None, 2000), commit(0, None, 2500), commit(0, 1, 3000)])
    assert [(each.offset, each.time, each.deleted) for each in found] == [(1, 3000, None), (5, 1000, 2000)]
    assert left_out == 0


def test_all_current_offsets_are_kept_and_the_limit_keeps_the_last_deleted_ones() -> None:
    rows = [commit(partition, 5, 1000 + partition) for partition in range(6)]
    rows += [commit(partition, None, 5000 + partition) for partition in range(2, 6)]
    found, left_out = folded(rows, limit=3)
    assert [each.partition for each in found] == [1, 0, 5, 4, 3]
    assert left_out == 1


def test_each_cluster_has_a_limit_of_its_own_and_counts_all_that_it_has() -> None:
    fold = CommitFold(limit=2)
    for partition in range(3):
        fold.add(commit(partition, 5, 1000 + partition))
    for partition in range(5):
        fold.add(commit(partition, 5, 9000 + partition, cluster="c2", group_id=f"g{partition}"))
    for partition in (2, 3, 4):
        fold.add(commit(partition, None, 9500 + partition, cluster="c2", group_id=f"g{partition}"))
    commits = fold.commits({})
    assert [each.cluster for each in commits.latest] == ["c1"] * 3 + ["c2"] * 4
    first, second = commits.numbers["c1"], commits.numbers["c2"]
    assert (first.rows, first.shown, first.ended) == (3, 3, 0)
    assert first.holders.changes == [(1000, 1)]
    assert first.holding[""].changes == [(1000, 1), (1001, 1), (1002, 1)]
    assert (second.rows, second.shown, second.ended, second.complete_from) == (5, 4, 3, 9502)
    assert second.holders.changes == [
        (9000, 1),
        (9001, 1),
        (9002, 1),
        (9003, 1),
        (9004, 1),
        *((9500 + number, -1) for number in (2, 3, 4)),
    ]
    assert sum(count for _, _, count in commits.times["c2"]) == 5
