"""The directory that is a broker's memory: locked as long as it runs, with an identity in ``meta.properties``."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kafkawire.broker.configuration.broker_configuration import ConfigurationError
from kafkawire.broker.configuration.properties_file import parse_properties
from kafkawire.broker.storage.errors import DataDirectoryError
from kafkawire.broker.storage.files import replace_file
from kafkawire.layout.uuid import Uuid

__all__ = ["DataDirectory"]

_LOCK: Final = ".lock"
_META: Final = "meta.properties"
_META_VERSION: Final = "1"


class DataDirectory:
    """A data directory, held until ``close``.

    Args:
        path: the directory; made if it is not there.
        node_id: of the broker that wants it.

    Attributes:
        path: as given.
        cluster_id: 22 characters, made up for a new directory.
        directory_id: of the directory itself (KIP-858).

    Raises:
        DataDirectoryError: another broker has it, it is another node's or no directory, or what it says of itself
            makes no sense.
        OSError: it cannot be read or written.
    """

    def __init__(self, path: Path, node_id: int) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise DataDirectoryError(f"{path}: it is not a directory; use another one") from error
        self._lock = _locked(path / _LOCK)
        try:
            meta = self._meta(node_id)
            self.cluster_id = meta["cluster.id"]
            self.directory_id = Uuid.from_text(meta["directory.id"])
        except (KeyError, ValueError, ConfigurationError) as error:
            self.close()
            raise DataDirectoryError(
                f"{path / _META}: {error}; restore the file, or delete it to give the directory a new identity"
            ) from error
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let other brokers have it."""
        os.close(self._lock)

    def _meta(self, node_id: int) -> Mapping[str, str]:
        path = self.path / _META
        own = {
            "version": _META_VERSION,
            "cluster.id": str(Uuid.random()),
            "node.id": str(node_id),
            "directory.id": str(Uuid.random()),
        }
        found = parse_properties(path.read_text("utf-8")) if path.exists() else {}
        _check(path, found, node_id)
        meta = {**own, **found}
        if meta != found:
            replace_file(path, ["".join(f"{name}={value}\n" for name, value in meta.items()).encode()])
        return meta


def _check(path: Path, found: Mapping[str, str], node_id: int) -> None:
    version = found.get("version", _META_VERSION)
    if version != _META_VERSION:
        raise DataDirectoryError(f"{path}: version {version}; only version {_META_VERSION} can be read")
    owner = found.get("node.id", str(node_id))
    if owner != str(node_id):
        raise DataDirectoryError(
            f"{path}: the directory belongs to node {owner}, this is node {node_id}; "
            "set node.id accordingly or use another directory"
        )


def _locked(path: Path) -> int:
    """A descriptor that holds the lock.

    A lock of the file as opened keeps out other brokers in this process too, and Kafka's own, which lock the process.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        raise DataDirectoryError(
            f"{path.parent}: another broker uses the directory ({path.name} is locked); stop it, or use another one"
        ) from error
    return descriptor


def _lock(descriptor: int) -> None:
    if sys.platform == "linux":
        whole_file = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, whole_file)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
