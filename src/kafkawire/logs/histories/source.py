"""Where the batches of a fold come from, and what becomes of what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import FileRange, OpenedBatch
from kafkawire.logs.scanning.records import scan_records

__all__ = ["FoldSource"]


@dataclass(frozen=True)
class FoldSource:
    """Reads whole files: what is so depends on all that came before, so options that leave out records do not count.

    Attributes:
        options: how to read.
        accounts: what is counted there.
        store: where the files are.
    """

    options: ReadOptions
    accounts: Accounts
    store: FileStore
    _told: set[tuple[str, str, int]] = field(default_factory=set, init=False, repr=False, compare=False)
    """What is wrong with the records of the batch at hand: several histories may each find the same."""

    def batches(self, file: LogFile) -> Iterator[OpenedBatch | Flaw]:
        """The batches of a file.

        Raises:
            LogReadError: as ``scan_records``.
        """
        for found in scan_records(FileRange(file, 0, file.size), self._all_records(), self.accounts, self.store):
            if isinstance(found, OpenedBatch):
                self.accounts.records_read += len(found.records.offsets)
            self._told.clear()
            yield found

    def failed(self, code: str, reason: str, batch: OpenedBatch, offset: int) -> None:
        """Book what is wrong with a record, or with the way from one batch to the next; the same is booked once.

        Raises:
            LogReadError: in mode FAILFAST.
        """
        flaw = (code, batch.file.path, offset)
        if flaw in self._told:
            return
        self._told.add(flaw)
        self.accounts.failed(code)
        if self.options.mode is ReadMode.FAILFAST:
            raise LogReadError(code, batch.file.path, reason, position=batch.position, offset=offset)

    def _all_records(self) -> ReadOptions:
        return replace(
            self.options,
            record_types=None,
            columns=None,
            from_offset=None,
            until_offset=None,
            from_time=None,
            until_time=None,
            high_watermark=None,
        )
