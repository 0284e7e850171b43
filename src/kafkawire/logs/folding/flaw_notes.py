"""Flaws as they travel between processes."""

from __future__ import annotations

from typing import Self

import msgspec

from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.frames.flaws import Flaw


class NoteOfFlaw(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A flaw, with the path of its file. See ``Flaw``."""

    path: str
    code: str
    position: int
    size: int
    raw: bytes | None
    reason: str
    base_offset: int | None

    @classmethod
    def of(cls, flaw: Flaw) -> Self:
        """The note."""
        return cls(flaw.file.path, flaw.code, flaw.position, flaw.size, flaw.raw, flaw.reason, flaw.base_offset)

    def flaw(self, file: LogFile) -> Flaw:
        """The flaw, in the file with the path."""
        return Flaw(self.code, file, self.position, self.size, self.raw, self.reason, self.base_offset)
