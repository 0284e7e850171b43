"""What a program makes durable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def synced_paths() -> Iterator[set[Path]]:
    """The files and folders that are fsynced in the context, under the names that they have then."""
    synced: set[Path] = set()
    fsync = os.fsync

    def noted_fsync(descriptor: int) -> None:
        synced.add(Path(f"/proc/self/fd/{descriptor}").readlink())
        fsync(descriptor)

    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(os, "fsync", noted_fsync)
        yield synced
