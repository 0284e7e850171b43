"""The batches that a history reads, and the errors that it finds in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.frames.batches import FileRange, ScannedBatch, scan_batches
from kafkawire.logs.frames.continuing import Reached, ranges_from
from kafkawire.logs.frames.flaws import Flaw
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.records.batch_records import RecordGroup
from kafkawire.logs.records.scanning import scan_groups


@dataclass(frozen=True)
class FoldSource:
    """Reads all records: a state depends on all earlier records, so options that exclude records do not apply.

    Attributes:
        options: how to read.
        accounts: gets the counts.
        store: where the files are.
    """

    options: ReadOptions
    accounts: Accounts
    store: FileStore
    _counted: set[tuple[str, str, int, int]] = field(default_factory=set, init=False, repr=False, compare=False)
    """Errors in the current batches: several histories may find the same one, which counts once."""

    def groups(self, file_range: FileRange) -> Iterator[RecordGroup | Flaw]:
        """The batches of a range with their records, which are not counted.

        Raises:
            LogReadError: as ``scan_groups``.
        """
        for found in scan_groups(file_range, self._all_records(), self.accounts, self.store):
            self.go_on()
            yield found

    def ranges_from(
        self, segments: Sequence[LogFile], reached: Reached | None, *, is_compacted: bool
    ) -> Iterator[FileRange]:
        """See ``kafkawire.logs.frames.continuing``."""
        return ranges_from(segments, reached, self.options, self.store, is_compacted=is_compacted)

    def batches(self, file_range: FileRange) -> Iterator[ScannedBatch | Flaw]:
        """The batches of a range, without their records.

        Raises:
            LogReadError: as ``scan_batches``.
        """
        return scan_batches(file_range, self._all_records(), self.accounts, self.store)

    def go_on(self) -> None:
        """Note that the histories go on to other batches, in which the same error counts again."""
        self._counted.clear()

    def failed(self, code: str, reason: str, file: LogFile, position: int, offset: int) -> None:
        """Count an error in a record, or between two batches, once.

        Args:
            code: of the error.
            reason: the error in words.
            file: where it is.
            position: of the batch in the file.
            offset: of the record.

        Raises:
            LogReadError: in mode FAILFAST.
        """
        flaw = (code, file.path, position, offset)
        if flaw in self._counted:
            return
        self._counted.add(flaw)
        self.accounts.failed(code)
        if self.options.mode is ReadMode.FAILFAST:
            raise LogReadError(code, file.path, reason, position=position, offset=offset)

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
