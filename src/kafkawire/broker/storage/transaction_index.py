"""Files with the transactions that were aborted in a segment (``.txnindex``), as Kafka writes them (KIP-98)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import replace_file
from kafkawire.wire.message import Struct

TRANSACTION_INDEX_SUFFIX: Final = ".txnindex"
_ENTRY: Final = struct.Struct(">hqqqq")
_VERSION: Final = 0


class AbortedTransaction(Struct, frozen=True, gc=False):
    """A transaction that was aborted.

    Attributes:
        producer_id: of its producer.
        first_offset: of its first record in the partition.
        last_offset: of the marker that aborted it.
        last_stable_offset: of the partition, once the marker was there.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


def read_aborted(path: Path) -> Sequence[AbortedTransaction]:
    """The transactions in a file, in the order of their markers; none if there is no file.

    Raises:
        StorageError: the file is damaged.
        OSError: it cannot be read.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return ()
    if len(content) % _ENTRY.size:
        raise _damaged(path, f"its size is no multiple of {_ENTRY.size}")
    return [*_entries(path, content)]


def write_aborted(path: Path, aborted: Iterable[AbortedTransaction]) -> None:
    """Write the transactions; without any there is no file, as in Kafka.

    Raises:
        OSError: the file cannot be written or deleted.
    """
    content = b"".join(
        _ENTRY.pack(_VERSION, each.producer_id, each.first_offset, each.last_offset, each.last_stable_offset)
        for each in aborted
    )
    if not content:
        path.unlink(missing_ok=True)
    elif not path.exists() or path.read_bytes() != content:
        replace_file(path, [content])


def _entries(path: Path, content: bytes) -> Iterator[AbortedTransaction]:
    before = -1
    for version, *numbers in _ENTRY.iter_unpack(content):
        aborted = AbortedTransaction(*numbers)
        if version != _VERSION:
            raise _damaged(path, f"an entry has version {version}; {_VERSION} is known")
        if not 0 <= aborted.first_offset <= aborted.last_offset or aborted.last_offset <= before:
            raise _damaged(path, f"an entry has the offsets {aborted.first_offset} to {aborted.last_offset}")
        before = aborted.last_offset
        yield aborted


def _damaged(path: Path, reason: str) -> StorageError:
    return StorageError(f"{path}: {reason}; delete the file, then the broker makes it again when it starts")
