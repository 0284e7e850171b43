"""The data directory of a broker: locked while the broker runs, with an identity in ``meta.properties``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.storage.directory_lock import DirectoryLock
from kafkawire.broker.storage.errors import DataDirectoryError
from kafkawire.broker.storage.files import make_folder, replace_file, sync_folder
from kafkawire.layout.uuid import Uuid
from kafkawire.model.properties_file import parse_properties

METADATA_FOLDER: Final = "__cluster_metadata-0"
"""The folder of the metadata log in a data directory."""

_LOCK: Final = ".lock"
_META: Final = "meta.properties"
_META_VERSION: Final = "1"
_REQUIRED: Final = ("version", "cluster.id", "node.id")
_CLEAN_SHUTDOWN: Final = ".kafka_cleanshutdown"
_LOG_SUFFIXES: Final = frozenset({".log", ".checkpoint"})
_LOG_FILES: Final = frozenset({"partition.metadata", "leader-epoch-checkpoint", "quorum-state"})
_PARTITION_FOLDER: Final = re.compile(r".+-\d+", re.ASCII)


class DataDirectory:
    """A data directory, held until ``close``.

    Args:
        path: the directory; made if it does not exist.
        node_id: of the broker.
        registered: reads the directory id of each node from the metadata log; called for an error message with the
            lines to restore ``meta.properties``.

    Attributes:
        path: as given.
        cluster_id: 22 characters, random for a new directory.
        directory_id: of the directory itself (KIP-858).

    Raises:
        DataDirectoryError: another broker uses it, it belongs to another node, it is not a directory, or its
            ``meta.properties`` or its metadata log is missing or damaged.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, node_id: int, registered: Callable[[], Mapping[int, Uuid]] = dict) -> None:
        self.path = path
        self._node_id = node_id
        self._registered = registered
        try:
            if not (path / _META).exists():  # a crash may have left a folder without a durable name
                make_folder(path)
        except (FileExistsError, NotADirectoryError) as error:
            raise DataDirectoryError(f"{path}: it is not a directory; use another one") from error
        self._lock = DirectoryLock(path / _LOCK)
        try:
            meta = self._meta()
            self.cluster_id = meta["cluster.id"]
            self.directory_id = Uuid.from_text(meta["directory.id"])
            self._remove_clean_shutdown()
        except (ValueError, ConfigurationError) as error:
            self.close()
            raise DataDirectoryError(f"{path / _META}: {error}; {self._how_to_restore()}") from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the lock."""
        self._lock.close()

    def _meta(self) -> Mapping[str, str]:
        path, partitions = self.path / _META, self._partition_folders()
        if not path.exists() and partitions:
            held = ", ".join(partitions[:3]) + (", ..." if len(partitions) > 3 else "")
            raise ValueError(f"the file is missing, though the directory has logs ({held})")
        found = parse_properties(path.read_text("utf-8")) if path.exists() else {}
        if path.exists():
            _check(path, found, self._node_id)
        if partitions and METADATA_FOLDER not in partitions:
            raise DataDirectoryError(
                f"{self.path}: it has partitions ({partitions[0]}) but no metadata log ({METADATA_FOLDER}), which has "
                "their topics; put the folder back, or restore the directory from a backup"
            )
        meta = {**_new_identity(self._node_id), **found}
        if meta != found:
            _write(path, meta)
        return meta

    def _partition_folders(self) -> list[str]:
        return sorted(
            each.name for each in self.path.iterdir() if _PARTITION_FOLDER.fullmatch(each.name) and holds_log(each)
        )

    def _remove_clean_shutdown(self) -> None:
        """Remove Kafka's mark of a clean shutdown, so that Kafka recovers the logs that are written from now on."""
        mark = self.path / _CLEAN_SHUTDOWN
        if mark.exists():
            mark.unlink()
            sync_folder(self.path)

    def _how_to_restore(self) -> str:
        if not self._partition_folders():
            return "restore the file, or delete it to give the directory a new identity"
        registered = self._registered()
        node_id = self._node_id if self._node_id in registered or len(registered) != 1 else next(iter(registered))
        lines = _new_identity(node_id) | {"directory.id": str(registered.get(node_id, Uuid.random()))}
        written = ", ".join(f'"{name}={value}"' for name, value in lines.items())
        return (
            "restore the file from a backup. If there is none, write it again with these lines, and with the id of the "
            f"cluster if you have it: {written}"
        )


def write_identity(path: Path, node_id: int, cluster_id: str | None) -> None:
    """Write the identity of a new data directory.

    Args:
        path: the directory.
        node_id: of the broker.
        cluster_id: of the cluster; None for a new one.

    Raises:
        OSError: it cannot be written.
    """
    identity = _new_identity(node_id) | ({} if cluster_id is None else {"cluster.id": cluster_id})
    _write(path / _META, identity)


def cluster_id_of(path: Path) -> str | None:
    """The id of the cluster of a data directory, which is only read; None if it has none, or it cannot be read."""
    return _read(path).get("cluster.id") or None


def node_id_of(path: Path) -> int | None:
    """The id of the node of a data directory, which is only read; None if it has none, or it cannot be read."""
    text = _read(path).get("node.id", "")
    return int(text) if text.isdecimal() else None


def _read(path: Path) -> Mapping[str, str]:
    try:
        return parse_properties((path / _META).read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _write(path: Path, meta: Mapping[str, str]) -> None:
    replace_file(path, ["".join(f"{name}={value}\n" for name, value in meta.items()).encode()])


def holds_log(folder: Path) -> bool:
    """Whether a folder has files of a partition.

    Raises:
        OSError: it cannot be read.
    """
    return folder.is_dir() and any(each.suffix in _LOG_SUFFIXES or each.name in _LOG_FILES for each in folder.iterdir())


def _new_identity(node_id: int) -> dict[str, str]:
    return {
        "version": _META_VERSION,
        "cluster.id": str(Uuid.random()),
        "node.id": str(node_id),
        "directory.id": str(Uuid.random()),
    }


def _check(path: Path, found: Mapping[str, str], node_id: int) -> None:
    version = found.get("version", _META_VERSION)
    if version != _META_VERSION:
        raise DataDirectoryError(f"{path}: version {version}; only version {_META_VERSION} can be read")
    missing = [name for name in _REQUIRED if not found.get(name)]
    if missing:
        raise ValueError(f"it has no {' and no '.join(missing)}")
    owner = found["node.id"]
    if owner != str(node_id):
        raise DataDirectoryError(
            f"{path}: the directory belongs to node {owner}, this is node {node_id}; "
            "set node.id accordingly or use another directory"
        )
