from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.offset_checkpoints import PartitionName, read_offsets, write_offsets

OFFSETS = {PartitionName("orders", 0): 7, PartitionName("orders", 10): 0, PartitionName("a.b_c", 2): 1 << 40}
WRITTEN = b"0\n3\na.b_c 2 1099511627776\norders 0 7\norders 10 0\n"


def test_offsets_are_written_as_kafka_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    write_offsets(path, OFFSETS)
    assert path.read_bytes() == WRITTEN
    assert read_offsets(path) == OFFSETS


def test_no_file_and_an_empty_one_have_no_offsets(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint"
    assert read_offsets(path) == {}
    path.write_bytes(b"")
    assert read_offsets(path) == {}


@pytest.mark.parametrize(
    "content", [b"\n", b"0\n", b"1\n0\n", b"0\n2\na 0 1\n", b"0\n1\na 0\n", b"0\n1\na 0 x\n", b"0\n1\n\xff 0 1\n"]
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "checkpoint"
    path.write_bytes(content)
    with pytest.raises(StorageError, match="expected version 0"):
        read_offsets(path)
