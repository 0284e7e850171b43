"""The batches of a range of a file, one after the other, and what cannot be read as one."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.errors import LogReadError
from kafkawire.logs.files.store import LOCAL, FileStore
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadMode, ReadOptions
from kafkawire.logs.scanning.flaws import Flaw
from kafkawire.logs.scanning.found import FileRange, ScannedBatch
from kafkawire.logs.scanning.scan import Scan

__all__ = ["book_flaw", "scan_batches"]


def scan_batches(
    file_range: FileRange,
    options: ReadOptions = DEFAULT_OPTIONS,
    accounts: Accounts | None = None,
    store: FileStore = LOCAL,
) -> Iterator[ScannedBatch | Flaw]:
    """The batches of a range that the options ask for, and the flaws between them, as they come.

    Raises:
        LogReadError: mode FAILFAST: at the first flaw. Any mode, code ``unreadable``: the file cannot be read.
    """
    booked = Accounts() if accounts is None else accounts
    try:
        for found in Scan(file_range, options, booked, store).run():
            if isinstance(found, Flaw):
                book_flaw(found, options, booked)
            yield found
    except OSError as error:
        raise LogReadError("unreadable", file_range.file.path, str(error)) from None


def book_flaw(flaw: Flaw, options: ReadOptions, accounts: Accounts) -> None:
    """Count a flaw.

    Raises:
        LogReadError: mode FAILFAST.
    """
    if not flaw.is_expected:
        accounts.failed(flaw.code)
    if options.mode is ReadMode.FAILFAST:
        raise flaw.error()
