"""Replicas compared: what each kind of finding looks like, for logs of batches and for compacted ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkawire.logs import Finding, FindingKind, NoLogsError, compare_replicas, find_replicas
from kafkawire.wire.batches import Record, encode_batch

FIVE = [(0, 2), (2, 1), (3, 3), (6, 1), (7, 2)]
"""Base offsets and numbers of records of batches."""


def batch(offset: int, count: int, *, epoch: int = 0, value: bytes = b"value") -> bytes:
    records = [Record(offset + each, 1000, b"key-%d" % (offset + each), value) for each in range(count)]
    return encode_batch(records, base_offset=offset, partition_leader_epoch=epoch)


def replica(broker: Path, batches: Sequence[bytes], *, base_offset: int = 0, log: str = "orders-0") -> Path:
    folder = broker / log
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{base_offset:020}.log").write_bytes(b"".join(batches))
    return folder


def findings(folders: Sequence[Path], *, compacted: bool | None = None) -> list[Finding]:
    (log,), _ = find_replicas(folders)
    return list(compare_replicas(log, compacted=compacted))


def shown(found: Sequence[Finding]) -> list[tuple[str, int | None, int | None, int]]:
    return [
        (each.kind.value, each.first_offset, each.last_offset, len(each.replicas))
        for each in found
        if each.kind is not FindingKind.ENDS
    ]


def batches(*, epoch: int = 0) -> list[bytes]:
    return [batch(offset, count, epoch=epoch) for offset, count in FIVE]


def test_equal_replicas_are_the_same(tmp_path: Path) -> None:
    found = findings([replica(tmp_path / name, batches()) for name in "abc"])
    assert shown(found) == [("same", 0, 8, 3)]
    assert [(each.first_offset, each.last_offset, each.batches) for each in found[1:]] == [(0, 8, 5)] * 3
    assert found[1].reason == "last leader epoch 0"


def test_a_replica_that_lags_and_one_that_begins_later_do_not_differ(tmp_path: Path) -> None:
    whole = replica(tmp_path / "a", batches())
    late = replica(tmp_path / "b", batches()[2:], base_offset=3)
    lagging = replica(tmp_path / "c", batches()[:4])
    found = findings([whole, late, lagging])
    assert shown(found) == [("some", 0, 2, 2), ("same", 3, 6, 3), ("some", 7, 8, 2)]
    assert [each.reason for each in found[:3]] == [f"{late} begins later", None, f"{lagging} ends before"]


def test_an_incomplete_batch_at_the_end_is_a_lag(tmp_path: Path) -> None:
    whole = replica(tmp_path / "a", batches())
    torn = replica(tmp_path / "b", [*batches()[:4], batches()[4][:-7]])
    assert shown(findings([whole, torn])) == [("same", 0, 6, 2), ("some", 7, 8, 1)]


def test_damage_is_found_with_its_place(tmp_path: Path) -> None:
    broken = batches()
    broken[1] = broken[1][:-1] + b"\xff"
    place = len(broken[0])
    sound, damaged = replica(tmp_path / "a", batches()), replica(tmp_path / "b", broken)
    found = findings([sound, damaged])
    assert shown(found) == [("same", 0, 1, 2), ("damaged", 2, 2, 1), ("same", 3, 8, 2)]
    assert f"{damaged} is damaged there: bad_crc at byte {place} of " in (found[1].reason or "")
    assert found[-1].reason == f"last leader epoch 0, {len(broken[1])} bytes are damaged"


def test_a_wrong_length_hides_no_batch_after_it(tmp_path: Path) -> None:
    broken = batches()
    broken[1] = broken[1][:8] + b"\x7f" + broken[1][9:]
    found = findings([replica(tmp_path / "a", batches()), replica(tmp_path / "b", broken)])
    assert shown(found) == [("same", 0, 1, 2), ("damaged", 2, 2, 1), ("same", 3, 8, 2)]


def test_a_wrong_offset_is_damage_though_no_checksum_covers_it(tmp_path: Path) -> None:
    broken = batches()
    broken[1] = b"\0" * 7 + b"\xf0" + broken[1][8:]
    found = findings([replica(tmp_path / "a", batches()), replica(tmp_path / "b", broken)])
    assert shown(found) == [("same", 0, 1, 2), ("damaged", 2, 2, 1), ("same", 3, 8, 2)]
    assert "bad_offset" in (found[1].reason or "")


def test_damage_in_all_replicas_is_lost(tmp_path: Path) -> None:
    broken = batches()
    broken[2] = broken[2][:-1] + b"\xff"
    last = [*broken[:4], broken[4][:-1] + b"\xff"]
    assert shown(findings([replica(tmp_path / name, broken) for name in "ab"])) == [
        ("same", 0, 2, 2),
        ("lost", 3, 5, 0),
        ("same", 6, 8, 2),
    ]
    assert shown(findings([replica(tmp_path / name, last) for name in "cd"]))[-1] == ("lost", 7, None, 0)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (batch(3, 3, epoch=1), "leader epoch 0 and 1"),
        (batch(3, 3, value=b"other"), "CRC "),
        (batch(3, 2), "last offset 5 and 4"),
        (batch(3, 3, value=b"longer value"), "size "),
    ],
)
def test_the_first_difference_is_named(tmp_path: Path, other: bytes, reason: str) -> None:
    one, two = replica(tmp_path / "a", batches()[:3]), replica(tmp_path / "b", [*batches()[:2], other])
    found = findings([one, two])
    assert shown(found) == [("same", 0, 2, 2), ("differs", 3, 5, 2)]
    assert f"{one} and {two}: {reason}" in (found[1].reason or "")


def test_a_segment_that_is_gone_between_others_is_missing(tmp_path: Path) -> None:
    whole = replica(tmp_path / "a", batches())
    holey = replica(tmp_path / "b", batches()[:2])
    replica(tmp_path / "b", batches()[3:], base_offset=6)
    found = findings([whole, holey])
    assert shown(found) == [("same", 0, 2, 2), ("missing", 3, 5, 1), ("same", 6, 8, 2)]


def compacted(kept: Sequence[int], *, keys: Sequence[int], without_value: Sequence[int] = ()) -> list[bytes]:
    """Batches of five records as compaction leaves them."""
    records = {
        offset: Record(offset, 1000, b"key-%d" % key, None if offset in without_value else b"value-%d" % offset)
        for offset, key in enumerate(keys)
        if offset in kept
    }
    return [
        encode_batch(
            [records[offset] for offset in range(begin, begin + 5) if offset in records],
            base_offset=begin,
            partition_leader_epoch=0,
            last_offset=begin + 4,
        )
        for begin in range(0, len(keys), 5)
    ]


KEYS = [0, 1, 0, 2, 3, 1, 4, 2, 0, 5]


def test_records_that_one_broker_has_compacted_are_no_difference(tmp_path: Path) -> None:
    less = replica(tmp_path / "a", compacted(range(10), keys=KEYS))
    more = replica(tmp_path / "b", compacted([4, 5, 6, 7, 8, 9], keys=KEYS))
    found = findings([less, more])
    assert {(each.kind, each.batches) for each in found} >= {(FindingKind.SAME, 6), (FindingKind.SOME, 4)}
    assert not any(each.kind.is_difference for each in found)


def test_a_removed_record_without_a_later_one_of_its_key_is_missing(tmp_path: Path) -> None:
    whole = replica(tmp_path / "a", compacted([4, 5, 6, 7, 8, 9], keys=KEYS))
    lacking = replica(tmp_path / "b", compacted([5, 6, 7, 8, 9], keys=KEYS))
    (missing,) = (each for each in findings([whole, lacking]) if each.kind.is_difference)
    assert (missing.kind, missing.first_offset, missing.replicas) == (FindingKind.MISSING, 4, (str(whole),))


def test_a_deletion_that_one_broker_has_removed_is_no_difference(tmp_path: Path) -> None:
    kept = replica(tmp_path / "a", compacted([4, 5, 6, 7, 8, 9], keys=KEYS, without_value=[4]))
    removed = replica(tmp_path / "b", compacted([5, 6, 7, 8, 9], keys=KEYS, without_value=[4]))
    assert not any(each.kind.is_difference for each in findings([kept, removed]))


def test_another_value_of_a_compacted_record_is_a_difference(tmp_path: Path) -> None:
    one = replica(tmp_path / "a", compacted([4, 5, 6, 7, 8, 9], keys=KEYS))
    other = replica(tmp_path / "b", compacted([4, 5, 6, 7, 8, 9], keys=KEYS, without_value=[7]))
    (difference,) = (each for each in findings([one, other]) if each.kind.is_difference)
    assert (difference.kind, difference.first_offset) == (FindingKind.DIFFERS, 7)
    assert (difference.reason or "").endswith("another value")


def test_replicas_of_one_name_belong_together_and_single_ones_are_named(tmp_path: Path) -> None:
    for name in "ab":
        replica(tmp_path / name, batches())
    replica(tmp_path / "a", batches(), log="payments-3")
    logs, alone = find_replicas([tmp_path / "a", tmp_path / "b"])
    assert [log.name for log in logs] == ["orders-0"]
    assert alone == ("payments-3",)


def test_folders_of_any_names_can_be_given_as_replicas(tmp_path: Path) -> None:
    folders = [replica(tmp_path, batches(), log=name) for name in ("copy-of-one", "copy-of-two")]
    assert shown(findings(folders)) == [("same", 0, 8, 2)]


def test_logs_of_two_clusters_are_no_replicas(tmp_path: Path) -> None:
    for name in "ab":
        replica(tmp_path / name, batches())
        (tmp_path / name / "meta.properties").write_text(f"cluster.id={name}\n", "utf-8")
    with pytest.raises(NoLogsError, match="several clusters, a and b"):
        find_replicas([tmp_path / "a", tmp_path / "b"])


def test_one_log_alone_has_no_replicas(tmp_path: Path) -> None:
    replica(tmp_path / "a", batches())
    replica(tmp_path / "b", batches(), log="payments-0")
    with pytest.raises(NoLogsError, match="no log has two replicas"):
        find_replicas([tmp_path / "a", tmp_path / "b"])
