"""The id of the cluster that a log is from: Kafka writes it into ``meta.properties`` beside the log folders."""

from __future__ import annotations

from typing import Final

from kafkawire.logs.files.store import FileStore

__all__ = ["cluster_of"]

_NAME: Final = "meta.properties"
_KEY: Final = "cluster.id="
_LARGEST: Final = 64 * 1024


def cluster_of(folder: str, store: FileStore) -> str | None:
    """The id that ``meta.properties`` in the folder above a log's folder states, or in the folder itself."""
    for place in (folder.rpartition("/")[0], folder):
        path = f"{place}/{_NAME}" if place else _NAME
        try:
            with store.open(path) as file:
                text = file.read_at(0, _LARGEST).decode(errors="replace")
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith(_KEY):
                return line.removeprefix(_KEY).strip() or None
    return None
