"""The small files that Kafka keeps beside the segments of every partition."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kafkawire.broker.storage.errors import StorageError
from kafkawire.broker.storage.files import replace_file
from kafkawire.layout.uuid import Uuid

_LEADER_EPOCHS: Final = "leader-epoch-checkpoint"
_PARTITION_METADATA: Final = "partition.metadata"
_TOPIC_ID: Final = re.compile(r"version: 0\ntopic_id: (\S+)\n?", re.ASCII)


def read_leader_epochs(folder: Path) -> dict[int, int]:
    """Leader epoch to its first offset; empty if there is no file.

    Raises:
        StorageError: the file is damaged.
    """
    path = folder / _LEADER_EPOCHS
    if not path.exists():
        return {}
    try:
        _version, _count, *lines = path.read_text("utf-8").splitlines()
        pairs = (line.split(" ", 1) for line in lines)
        return {int(epoch): int(offset) for epoch, offset in pairs}
    except ValueError as error:
        raise StorageError(f"{path}: {error}; restore it, or delete it") from error


def write_leader_epochs(folder: Path, epochs: Mapping[int, int]) -> None:
    """Write the leader epochs.

    Raises:
        OSError: it could not be written.
    """
    lines = [0, len(epochs), *(f"{epoch} {offset}" for epoch, offset in epochs.items())]
    replace_file(folder / _LEADER_EPOCHS, ["".join(f"{line}\n" for line in lines).encode()])


def read_topic_id(folder: Path) -> Uuid | None:
    """The topic id of the partition; None if there is no file.

    Raises:
        StorageError: the file is damaged.
    """
    path = folder / _PARTITION_METADATA
    if not path.exists():
        return None
    said = _TOPIC_ID.fullmatch(path.read_bytes().decode("utf-8", "replace"))
    try:
        return Uuid.from_text(said[1] if said is not None else "")
    except ValueError as error:
        raise StorageError(f"{path}: it has no topic id of version 0; restore it, or delete it") from error


def write_topic_id(folder: Path, topic_id: Uuid) -> None:
    """Write the topic id of the partition, unless there is a file already.

    Raises:
        OSError: it could not be written.
    """
    path = folder / _PARTITION_METADATA
    if not path.exists():
        replace_file(path, [f"version: 0\ntopic_id: {topic_id}".encode()])
