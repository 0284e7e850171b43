"""Files with the state of a partition's producers at an offset (``.snapshot``), as Kafka writes them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kafkawire.broker.storage.files import replace_file
from kafkawire.protocol import ProducerSnapshot
from kafkawire.records.producer_snapshot import decode_producer_snapshot, encode_producer_snapshot
from kafkawire.wire import DecodeError

SNAPSHOT_SUFFIX: Final = ".snapshot"
_log = logging.getLogger(__name__)


def producer_snapshot_path(folder: Path, offset: int) -> Path:
    """The file with the state before the record with an offset."""
    return folder / f"{offset:020d}{SNAPSHOT_SUFFIX}"


def read_producer_snapshot(path: Path) -> ProducerSnapshot | None:
    """The content of a file; None if there is no file or if it is damaged, since the log has all of it too.

    Raises:
        OSError: it cannot be read.
    """
    try:
        return decode_producer_snapshot(path.read_bytes())
    except FileNotFoundError:
        return None
    except DecodeError as error:
        _log.warning("%s: %s; the records are read instead", path, error)
        return None


def write_producer_snapshot(path: Path, snapshot: ProducerSnapshot) -> None:
    """Write a file, in place of one that is there.

    Raises:
        OSError: it cannot be written.
    """
    replace_file(path, [encode_producer_snapshot(snapshot)])


def snapshots_after(folder: Path, offset: int) -> Iterator[Path]:
    """The files with the state after an offset.

    Raises:
        OSError: the folder cannot be read.
    """
    for path in folder.glob(f"*{SNAPSHOT_SUFFIX}"):
        if path.stem.isdecimal() and int(path.stem) > offset:
            yield path
