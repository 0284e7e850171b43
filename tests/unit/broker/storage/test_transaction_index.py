"""Lists of aborted transactions in Kafka's files."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.transaction_index import AbortedTransaction, read_aborted, write_aborted

FIRST = AbortedTransaction(7, 1, 4, 2)
SECOND = AbortedTransaction(8, 0, 5, 6)


def entry(version: int, *numbers: int) -> bytes:
    return struct.pack(">hqqqq", version, *numbers)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "0.txnindex"
    write_aborted(path, [FIRST, SECOND])
    assert path.read_bytes() == entry(0, 7, 1, 4, 2) + entry(0, 8, 0, 5, 6)
    assert read_aborted(path) == [FIRST, SECOND]


def test_there_is_no_file_without_transactions(tmp_path: Path) -> None:
    path = tmp_path / "0.txnindex"
    assert not read_aborted(path)
    write_aborted(path, [FIRST])
    write_aborted(path, [])
    assert not path.exists()


@pytest.mark.parametrize(
    "content",
    [
        entry(0, 7, 1, 4, 2)[:-1],
        entry(1, 7, 1, 4, 2),
        entry(0, 7, 5, 4, 2),
        entry(0, 7, -1, 4, 2),
        entry(0, 7, 1, 4, 2) * 2,
    ],
    ids=["truncated", "version", "backwards", "negative", "twice"],
)
def test_a_damaged_file_is_an_error_that_says_what_to_do(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "0.txnindex"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"0\.txnindex: .*; delete the file, then the broker makes it again"):
        read_aborted(path)
