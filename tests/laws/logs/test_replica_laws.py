"""Laws of replicas: damage that leaves each batch sound in one of them is repaired.

A follower that is not truncated yet, one that lags, and one that is compacted more are no difference.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given, strategies as st

from kafkawire.logs import (
    FindingKind,
    Merged,
    compare_replicas,
    find_log_files,
    find_replicas,
    merge_replicas,
    read_table,
    table_named,
    table_names,
)
from kafkawire.logs.tables.table import reads
from kafkawire.wire.batches import Record, encode_batch, read_batches

LOGS = Path(__file__).parents[2] / "fixtures" / "kafka-4.3.1" / "logs"
NAMES = ("__cluster_metadata-0", "__consumer_offsets-1", "__transaction_state-1")
FILES = {"file", "log"}
"""The columns that name files and folders."""

OFFSET = range(8)
EPOCH = range(12, 16)
"""Base offset and leader epoch in a batch: no checksum covers them, and an epoch that fits can have any value."""


@dataclass(frozen=True)
class Hit:
    """Damage to a batch: bytes from a place on, in thousandths of the batch, are replaced."""

    batch: int
    place: int
    size: int
    octets: bytes


HITS = st.builds(Hit, st.integers(0, 200), st.integers(0, 999), st.integers(0, 300), st.binary(max_size=300))
HEADER_HITS = st.builds(Hit, st.integers(0, 200), st.just(0), st.integers(1, 12), st.binary(min_size=1, max_size=12))


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.log"))}


def damaged(content: bytes, owned: Sequence[bool], hits: Sequence[Hit]) -> bytes:
    """A segment with hits to the batches that this replica does not own."""
    parts = parts_of(content)
    for hit in hits:
        number = hit.batch % len(parts)
        if owned[number]:
            continue
        part = parts[number]
        place = hit.place * len(part) // 1000
        changed = part[:place] + hit.octets + part[place + hit.size :]
        if len(changed) == len(part):
            changed = changed[: EPOCH.start] + part[EPOCH.start : EPOCH.stop] + changed[EPOCH.stop :]
        parts[number] = changed
    return b"".join(parts)


def without(content: bytes, owned: Sequence[bool], lost: Iterable[int]) -> bytes:
    """A segment without some batches that this replica does not own, whose offsets the next ones have."""
    parts = parts_of(content)
    for number in sorted({each % len(parts) for each in lost}):
        if number + 1 < len(parts) and not owned[number] and not owned[number + 1]:
            parts[number], parts[number + 1] = b"", parts[number][: OFFSET.stop] + parts[number + 1][OFFSET.stop :]
    return b"".join(parts)


def parts_of(content: bytes) -> list[bytes]:
    return [content[each.position : each.position + each.size] for each in read_batches(content)]


def merged(folders: Sequence[Path], out: Path, *, compacted: bool | None) -> Merged:
    (log,), _ = find_replicas(folders)
    return merge_replicas(log, out, compacted=compacted)


OWNERS = st.lists(st.integers(0, 2), min_size=8, max_size=40)


@pytest.mark.parametrize("name", NAMES)
@given(
    owners=OWNERS,
    hits=st.lists(st.lists(st.one_of(HITS, HEADER_HITS), max_size=60), min_size=3, max_size=3),
    dropped=st.sets(st.tuples(st.integers(0, 2), st.integers(0, 2))),
)
def test_damage_that_leaves_each_batch_sound_somewhere_is_repaired(
    name: str, owners: list[int], hits: list[list[Hit]], dropped: set[tuple[int, int]]
) -> None:
    check_repaired(name, owners, lambda replica, content, owned: damaged(content, owned, hits[replica]), dropped)


@pytest.mark.parametrize("name", NAMES)
@given(owners=OWNERS, lost=st.sets(st.integers(0, 200), max_size=20))
def test_batches_that_are_gone_with_the_offset_of_the_next_ones_are_repaired(
    name: str, owners: list[int], lost: set[int]
) -> None:
    """All replicas but the owner agree on the wrong offset."""
    check_repaired(name, owners, lambda _, content, owned: without(content, owned, lost))


def check_repaired(
    name: str,
    owners: Sequence[int],
    damage: Callable[[int, bytes, Sequence[bool]], bytes],
    dropped: Container[tuple[int, int]] = (),
) -> None:
    """Check that the merge of three replicas of a log is the log.

    Args:
        name: of the log.
        owners: the replica that has a batch undamaged, by the number of the batch; repeated.
        damage: makes the segment of a replica of its number, the whole segment, and which batches it owns.
        dropped: replicas and segments that are not there, unless the replica owns a batch of the segment.
    """
    whole = content_of(LOGS / name)
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch, f"broker-{number}", name) for number in range(3)]
        for number, folder in enumerate(folders):
            folder.mkdir(parents=True)
            first = 0
            for file, (path, content) in enumerate(whole.items()):
                count = sum(1 for _ in read_batches(content))
                owned = [owners[(first + each) % len(owners)] == number for each in range(count)]
                if any(owned) or (number, file) not in dropped:
                    (folder / path).write_bytes(damage(number, content, owned))
                first += count
        assume(sum(any(folder.iterdir()) for folder in folders) > 1)
        result = merged(folders, Path(scratch, "merged"), compacted=False)
        assert content_of(Path(scratch, "merged", name)) == whole
        assert not result.lost
        assert result.dropped == 0


@given(
    lengths=st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=2, max_size=20),
    followers=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.integers(1, 3)), min_size=1, max_size=2),
    start=st.integers(0, 10),
)
def test_batches_of_a_follower_that_is_not_truncated_are_dropped(
    lengths: list[tuple[int, bool]], followers: list[tuple[int, int, int]], start: int
) -> None:
    """A leader of a later epoch did not have them (KIP-101)."""
    leader: list[bytes] = []
    ends, epochs = [0], [0]
    for length, elected in lengths:
        epochs.append(epochs[-1] + 2 * elected)
        leader.append(batch_of(ends[-1], length, epochs[-1], b"leader"))
        ends.append(ends[-1] + length)
    with tempfile.TemporaryDirectory() as scratch:
        write(Path(scratch, "leader"), leader)
        for number, (kept, stale, length) in enumerate(followers):
            common = min(kept, len(leader))
            batches, offset = list(leader[:common]), ends[common]
            # It led in an epoch between those of the others, and its batches were not replicated.
            epoch = epochs[common] + 1
            later = next((each for each in epochs[common + 1 :] if each > epoch), None)
            for _ in range(stale if common < len(leader) and later == epochs[common + 1] else 0):
                batches.append(batch_of(offset, length, epoch, f"stale {number}".encode()))
                offset += length
            write(Path(scratch, f"follower-{number}"), batches)
        folders = [Path(scratch, f"follower-{number}", "orders-0") for number in range(len(followers))]
        folders = [each for each in folders if each.exists()]
        folders.insert(start % (len(folders) + 1), Path(scratch, "leader", "orders-0"))
        if len(folders) == 1:
            return
        merged(folders, Path(scratch, "merged"), compacted=None)
        (segment,) = content_of(Path(scratch, "merged", "orders-0")).values()
        assert segment == b"".join(leader)


@given(
    records=st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=3, max_size=30),
    cleaned=st.lists(st.integers(0, 30), min_size=2, max_size=3),
    ends=st.lists(st.integers(1, 30), min_size=2, max_size=3),
)
def test_replicas_that_are_compacted_to_different_places_agree(
    records: list[tuple[int, bool]], cleaned: list[int], ends: list[int]
) -> None:
    batch_size = 3
    every = [
        Record(offset, 1000 + offset, b"key-%d" % key, b"value-%d" % offset if is_set else None)
        for offset, (key, is_set) in enumerate(records)
    ]
    with tempfile.TemporaryDirectory() as scratch:
        folders = []
        for number, (clean_to, end) in enumerate(zip(cleaned, ends, strict=False)):
            own = every[: max(end, batch_size)]
            kept = compacted(own, min(clean_to, len(own) - 1), removes_tombstones=end >= len(every))
            batches = [
                encode_batch(
                    [each for each in kept if base <= each.offset < base + batch_size],
                    base_offset=base,
                    partition_leader_epoch=0,
                    last_offset=min(base + batch_size, len(own)) - 1,
                )
                for base in range(0, len(own), batch_size)
                if any(base <= each.offset < base + batch_size for each in kept)
            ]
            write(Path(scratch, str(number)), batches)
            folders.append(Path(scratch, str(number), "orders-0"))
        (log,), _ = find_replicas(folders)
        findings = list(compare_replicas(log, compacted=True))
        assert not [each for each in findings if each.kind.is_difference or each.kind.is_damage]
        assert [each.kind for each in findings].count(FindingKind.ENDS) == len(folders)


def compacted(records: Sequence[Record], clean_to: int, *, removes_tombstones: bool) -> list[Record]:
    """As Kafka's cleaner: of each key the last record before the active segment, and all from there on."""
    last = {each.key: each.offset for each in records[:clean_to]}
    return [
        each
        for each in records
        if each.offset >= clean_to
        or (last[each.key] == each.offset and not (removes_tombstones and each.value is None))
    ]


def batch_of(offset: int, length: int, epoch: int, value: bytes) -> bytes:
    records = [Record(offset + each, 1000, None, value) for each in range(length)]
    return encode_batch(records, base_offset=offset, partition_leader_epoch=epoch)


def write(broker: Path, batches: Sequence[bytes]) -> None:
    folder = broker / "orders-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(b"".join(batches))


@pytest.mark.parametrize("name", NAMES)
def test_all_tables_of_a_merged_log_are_those_of_the_log(tmp_path: Path, name: str) -> None:
    whole = content_of(LOGS / name)
    folders = [tmp_path / f"broker-{number}" / name for number in range(2)]
    for number, folder in enumerate(folders):
        folder.mkdir(parents=True)
        for segment, content in whole.items():
            sizes = [(each.position, each.size) for each in read_batches(content)]
            broken = bytearray(content)
            for position, size in sizes[number::2]:
                broken[position + size - 1] ^= 0xFF
            (folder / segment).write_bytes(broken)
        for path in (LOGS / name).glob("*.checkpoint"):
            octets = bytearray(path.read_bytes())
            octets[100] ^= 1 - number  # that of the first is broken
            (folder / path.name).write_bytes(octets)
    merged(folders, tmp_path / "merged", compacted=None)
    files = find_log_files([LOGS / name])
    tables = [each for each in table_names() if any(reads(table_named(each), file) for file in files)]
    assert len(tables) > 2
    for table in tables:
        assert rows_of(table, LOGS / name) == rows_of(table, tmp_path / "merged" / name), table


def rows_of(table: str, folder: Path) -> list[dict[str, object]]:
    return [
        {column: cell for column, cell in row.items() if column not in FILES}
        for batch in read_table(table, folder)
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize("is_compacted", [True, False, None])
@given(hits=st.lists(st.lists(st.one_of(HITS, HEADER_HITS), max_size=40), min_size=2, max_size=2), noise=st.binary())
def test_any_bytes_are_compared_and_merged(is_compacted: bool | None, hits: list[list[Hit]], noise: bytes) -> None:
    """All batches may be damaged: what is left is the same, repairable or lost."""
    (content,) = content_of(LOGS / NAMES[2]).values()
    owns_none = [False] * sum(1 for _ in read_batches(content))
    with tempfile.TemporaryDirectory() as scratch:
        for number, own in enumerate(hits):
            write(Path(scratch, str(number)), [damaged(content, owns_none, own), noise])
        (log,), _ = find_replicas([Path(scratch, str(number), "orders-0") for number in range(2)])
        findings = list(compare_replicas(log, compacted=is_compacted))
        result = merge_replicas(log, Path(scratch, "merged"), compacted=is_compacted)
        batches = [each for part in content_of(Path(result.path)).values() for each in read_batches(part)]
    assert len(findings) >= 2
    assert len(batches) == result.batches
    offsets = [(each.base_offset, each.last_offset) for each in batches]
    assert all(one[1] < other[0] for one, other in pairwise(offsets))
