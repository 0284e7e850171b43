"""A batch whose offset is wrong, but fits: another replica has it at the right one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from kafkawire.logs import find_replicas, merge_replicas
from kafkawire.wire.batches import Record, encode_batch


def _batch(offset: int, length: int = 1, epoch: int = 0, value: bytes = b"") -> bytes:
    records = [Record(offset + each, 1000, None, value or b"value-%d" % offset) for each in range(length)]
    return encode_batch(records, base_offset=offset, partition_leader_epoch=epoch)


def _at(offset: int, batch: bytes) -> bytes:
    """No checksum covers the offset."""
    return offset.to_bytes(8, "big") + batch[8:]


ZERO, ONE, TWO, THREE = (_batch(offset) for offset in range(4))
LONG, AFTER_LONG, LAST = _batch(1, 3), _batch(4), _batch(5)
LONG_TWO, AFTER_TWO = _batch(2, 4), _batch(6)
LATER_EPOCH, LATEST = _batch(2, epoch=3), _batch(3, epoch=3)


@pytest.mark.parametrize(
    ("whole", "wrong"),
    [
        pytest.param([ZERO, ONE, TWO, THREE], [ZERO, _at(1, TWO), THREE], id="one batch is lost"),
        pytest.param([ZERO, ONE, TWO, THREE], [_at(0, ONE), TWO, THREE], id="the first batch is lost"),
        pytest.param([ZERO, ONE, LATER_EPOCH, LATEST], [ZERO, _at(1, LATER_EPOCH), LATEST], id="with a later epoch"),
        pytest.param([ZERO, LONG, AFTER_LONG, LAST], [ZERO, _at(2, AFTER_LONG), LAST], id="amid a longer batch"),
        pytest.param([ZERO, ONE, LONG_TWO, AFTER_TWO], [ZERO, _at(1, LONG_TWO), AFTER_TWO], id="over the right place"),
    ],
)
@pytest.mark.parametrize("place", range(3))
def test_two_replicas_with_the_same_wrong_offset_do_not_outvote_the_right_one(
    tmp_path: Path, whole: Sequence[bytes], wrong: Sequence[bytes], place: int
) -> None:
    replicas = [wrong, wrong]
    replicas.insert(place, whole)
    assert _merged(tmp_path, replicas) == b"".join(whole)


def test_a_record_that_was_sent_twice_with_the_same_time_is_kept_twice(tmp_path: Path) -> None:
    whole = [_batch(offset, value=b"same") for offset in range(5)]
    assert _merged(tmp_path, [whole[:3], whole, whole[:4]]) == b"".join(whole)


def _merged(folder: Path, replicas: Sequence[Sequence[bytes]]) -> bytes:
    folders = [folder / str(number) / "orders-0" for number in range(len(replicas))]
    for path, batches in zip(folders, replicas, strict=True):
        path.mkdir(parents=True)
        (path / f"{0:020}.log").write_bytes(b"".join(batches))
    (log,), _ = find_replicas(folders)
    result = merge_replicas(log, folder / "merged", compacted=False)
    assert (result.lost, result.dropped) == ((), 0)
    (segment,) = Path(result.path).glob("*.log")
    return segment.read_bytes()
