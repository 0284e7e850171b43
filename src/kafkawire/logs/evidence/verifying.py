"""Verifying a manifest: whether its inputs and its result are there, with the same bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from kafkawire.logs.errors import system_reason
from kafkawire.logs.evidence.digests import sha256_of
from kafkawire.logs.evidence.manifest import Manifest
from kafkawire.logs.files.arrow_store import store_for
from kafkawire.logs.files.store import FileStore


class FileState(StrEnum):
    """What a file of a manifest is now."""

    SAME = "same"
    """It has the same bytes."""

    GREW = "grew"
    """An input with the same bytes and more after them: a broker has appended to it."""

    DIFFERS = "differs"
    """It has other bytes, or fewer."""

    MISSING = "missing"
    """It is not there."""

    UNREADABLE = "unreadable"
    """It is there, but cannot be read."""

    @property
    def is_unchanged(self) -> bool:
        """Whether the bytes of the manifest are still there."""
        return self in {FileState.SAME, FileState.GREW}


@dataclass(frozen=True)
class VerifiedFile:
    """A file of a manifest, and what it is now.

    Attributes:
        path: where it should be.
        is_result: whether it belongs to the result; otherwise it is an input.
        state: what it is now.
        reason: what is wrong, in words; None if nothing is.
    """

    path: str
    is_result: bool
    state: FileState
    reason: str | None = None


def verify_manifest(
    manifest: Manifest, *, moved: Mapping[str, str] | None = None, store: FileStore | None = None
) -> Iterator[VerifiedFile]:
    """Each file of a manifest, and what it is now: first the inputs, then the files of the result.

    The state of a history is not checked: the next run replaces it.

    Args:
        manifest: from ``Manifest.decode``.
        moved: folders that have moved, or URIs: the beginnings of paths in the manifest, and what to put there.
        store: where all files are; by default that of each path.

    Example:
        ```python
        from pathlib import Path

        from kafkawire.logs import Manifest, verify_manifest

        manifest = Manifest.decode(Path("/evidence/acls.csv.manifest.json").read_bytes())
        for file in verify_manifest(manifest, moved={"/var/lib/kafka/data": "/evidence/broker-1"}):
            if not file.state.is_unchanged:
                print(file.path, file.state, file.reason)
        ```
    """
    stores = _Stores(store)
    places = {} if moved is None else moved
    for each in manifest.inputs:
        path = _place_now(each.path, places)
        state, reason = _state(stores.of(path), path, each.size, each.sha256, may_grow=True)
        yield VerifiedFile(path, False, state, reason)
    for file in manifest.result.files:
        path = _place_now(file.path, places)
        state, reason = _state(stores.of(path), path, file.size, file.sha256, may_grow=False)
        yield VerifiedFile(path, True, state, reason)


class _Stores:
    """One store for all paths of a kind: a store keeps its connections."""

    def __init__(self, store: FileStore | None) -> None:
        self._given = store
        self._made: dict[type[FileStore], FileStore] = {}

    def of(self, path: str) -> FileStore:
        if self._given is not None:
            return self._given
        made = store_for(path)
        return self._made.setdefault(type(made), made)


def _place_now(path: str, moved: Mapping[str, str]) -> str:
    """Where a file is now: the longest beginning counts, and ends at a slash."""
    for old in sorted(moved, key=len, reverse=True):
        begin = old.rstrip("/")
        if path == begin or path.startswith(f"{begin}/"):
            return moved[old].rstrip("/") + path[len(begin) :]
    return path


def _state(store: FileStore, path: str, size: int, sha256: str, *, may_grow: bool) -> tuple[FileState, str | None]:
    try:
        with store.open(path) as opened:
            size_now = opened.stamp().size
            digest = sha256_of(opened, size)
    except FileNotFoundError:
        return FileState.MISSING, "it is not there"
    except OSError as error:
        return FileState.UNREADABLE, system_reason(error)
    if digest is None:
        return FileState.DIFFERS, f"it has {size_now} bytes, and had {size}"
    if digest != sha256:
        return FileState.DIFFERS, f"the SHA-256 of its first {size} bytes is {digest}, and was {sha256}"
    if size_now == size:
        return FileState.SAME, None
    if not may_grow:
        return FileState.DIFFERS, f"it has {size_now} bytes, and had {size}"
    return FileState.GREW, None
