"""The folders of a node as ``kafka-storage format`` leaves them: formatted once for each configuration, then copied.

The command takes as much of a processor as half a start of a broker, and what it writes depends on few properties.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import tempfile
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from tests.apache_kafka.maven import CACHE

_META_PROPERTIES = "meta.properties"
_READ_BY_FORMAT = ("inter.broker.protocol.version", "node.id", "process.roles", "unstable.")
"""Beginnings of the properties that ``kafka-storage format`` goes by; of voters it asks only whether there are any."""


def format_once(
    release: str, properties: Mapping[str, str], arguments: Sequence[str], format_folders: Callable[[], object]
) -> None:
    """Make the folders of a node those of a new cluster: as they were made before, with new ids of directories.

    Args:
        release: of Apache Kafka.
        properties: the whole ``server.properties``.
        arguments: further arguments of ``kafka-storage format``.
        format_folders: has Kafka format the folders; called if none with such properties were kept.
    """
    folders = log_dirs(properties)
    kept = CACHE / f"storage-{release}-{_digest(properties, arguments)}"
    if kept.is_dir():
        copy_storage([kept / str(index) for index in range(len(folders))], folders, properties["node.id"])
        return
    format_folders()
    with tempfile.TemporaryDirectory(dir=CACHE) as work:
        made = Path(work) / "storage"
        for index, folder in enumerate(folders):
            shutil.copytree(folder, made / str(index))
        with suppress(OSError):  # another process was faster
            made.rename(kept)


def copy_storage(formatted: Sequence[Path], folders: Sequence[Path], node_id: str) -> None:
    """Do what ``kafka-storage format`` would do for a node of the cluster that formatted folders are of.

    Args:
        formatted: formatted folders.
        folders: those of the node, which do not exist yet; each gets an id of its own.
        node_id: of the node.
    """
    for source, target in zip(formatted, folders, strict=True):
        shutil.copytree(source, target)
        meta = target / _META_PROPERTIES
        text = re.sub(r"(?m)^node\.id=.*$", f"node.id={node_id}", meta.read_text("utf-8"))
        meta.write_text(re.sub(r"(?m)^directory\.id=.*$", f"directory.id={_directory_id()}", text), "utf-8")


def log_dirs(properties: Mapping[str, str]) -> list[Path]:
    """The folders that properties name for logs."""
    return [Path(folder) for folder in properties["log.dirs"].split(",")]


def _digest(properties: Mapping[str, str], arguments: Sequence[str]) -> str:
    """The same for nodes that are formatted in the same way."""
    read = sorted(item for item in properties.items() if item[0].startswith(_READ_BY_FORMAT))
    what = (read, "controller.quorum.voters" in properties, len(log_dirs(properties)), list(arguments))
    return hashlib.sha256(repr(what).encode()).hexdigest()[:12]


def _directory_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
