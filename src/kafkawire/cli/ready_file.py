"""The file that has the address of a running broker, and is there only while it runs."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from types import TracebackType


class ReadyFile:
    """A context: the file of an earlier broker that crashed is removed at its start, and its own file at its end.

    Args:
        path: the file.

    Raises:
        OSError: its folder does not exist or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: str | None = None

    def __enter__(self) -> ReadyFile:
        self._path.unlink(missing_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A file that another broker has written meanwhile stays: two brokers never have the same address.
        with suppress(FileNotFoundError):
            if self._path.read_text("utf-8") == self._written:
                self._path.unlink()

    def write(self, address: str) -> None:
        """Write the address; a reader never sees a part of it."""
        part = self._path.with_name(f"{self._path.name}.part")
        self._written = f"{address}\n"
        part.write_text(self._written, "utf-8")
        part.replace(self._path)
