"""The folders of partitions in a data directory."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from uuid import uuid4

from kafkawire.broker.storage.files import sync_folder
from kafkawire.broker.storage.offset_checkpoints import PartitionName

_log = logging.getLogger(__name__)
_FOLDER: Final = re.compile(r"([a-zA-Z0-9._-]{1,249})-(0|[1-9]\d{0,9})", re.ASCII)


def partition_folders(data_dir: Path) -> Iterator[tuple[PartitionName, Path]]:
    """The partitions that have a folder, by name.

    Raises:
        OSError: the directory cannot be read.
    """
    for path in sorted(data_dir.iterdir()):
        named = _FOLDER.fullmatch(path.name)
        if named is not None and path.is_dir():
            yield PartitionName(named[1], int(named[2])), path


def set_aside(folder: Path) -> None:
    """Rename the folder of a partition that the metadata log does not have.

    Raises:
        OSError: it cannot be renamed.
    """
    stray = folder.with_name(f"{_beginning(folder)}.{uuid4().hex}-stray")
    folder.rename(stray)
    sync_folder(stray.parent)
    _log.warning(
        "%s: renamed to %s, as Apache Kafka does: the metadata log has no topic with this partition",
        folder, stray.name,
    )  # fmt: skip


def delete_folder(folder: Path) -> None:
    """Delete the folder of a deleted partition, if it exists; a crash leaves no part of it that Kafka would read."""
    if not folder.exists():
        return
    deleted = folder.with_name(f"{_beginning(folder)}.{uuid4().hex}-delete")
    try:
        folder.rename(deleted)
        sync_folder(deleted.parent)
        shutil.rmtree(deleted)
    except OSError as error:
        _log.warning("%s: the log of a deleted topic could not be deleted: %s", folder, error)


def _beginning(folder: Path) -> str:
    """As much of a name as leaves room for an ending."""
    return folder.name[:200]
