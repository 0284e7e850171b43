"""Checkpoint files of a data directory, each with an offset for every partition, as Kafka writes them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import replace_file

RECOVERY_POINTS: Final = "recovery-point-offset-checkpoint"
"""All records below these offsets are durable, and Kafka does not read them again at its start."""

START_OFFSETS: Final = "log-start-offset-checkpoint"
"""Records below these offsets are deleted, though their segments may still be there."""

CLEANED_OFFSETS: Final = "cleaner-offset-checkpoint"
"""Compaction has seen all records below these offsets."""

_VERSION: Final = "0"


class PartitionName(NamedTuple):
    """A partition by the name of its topic."""

    topic: str
    partition: int


def read_offsets(path: Path) -> dict[PartitionName, int]:
    """The offsets by partition; none if there is no file, or an empty one, as Kafka makes it.

    Raises:
        StorageError: the file is damaged.
        OSError: it cannot be read.
    """
    try:
        lines = path.read_bytes().decode("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError:
        lines = []
    if not lines and not path.stat().st_size:
        return {}
    try:
        version, count, *entries = lines
        offsets = dict(map(_entry, entries))
        if version == _VERSION and int(count) == len(entries) == len(offsets):
            return offsets
    except ValueError:
        pass
    raise StorageError(
        f"{path}: expected version 0, a count, and lines of topic, partition and offset; restore the file, or delete "
        "it to start without it"
    )


def write_offsets(path: Path, offsets: Mapping[PartitionName, int]) -> None:
    """Write the offsets.

    Raises:
        OSError: they could not be written.
    """
    entries = (f"{name.topic} {name.partition} {offset}\n" for name, offset in sorted(offsets.items()))
    replace_file(path, [f"{_VERSION}\n{len(offsets)}\n".encode(), "".join(entries).encode()])


def _entry(line: str) -> tuple[PartitionName, int]:
    topic, partition, offset = line.split(" ")
    return PartitionName(topic, int(partition)), int(offset)
