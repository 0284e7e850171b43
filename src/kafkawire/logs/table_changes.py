"""A table in several readings: each returns the rows that are new or changed since the one before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike, fspath
from typing import Final, cast

import pyarrow as pa

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.catalogue import table_named
from kafkawire.logs.errors import LogReadError, system_reason
from kafkawire.logs.files.log_files import LogFile
from kafkawire.logs.files.state_file import read_file, replace_file
from kafkawire.logs.files.store import FileStore
from kafkawire.logs.folding.continued import ContinuedTable
from kafkawire.logs.folding.history import INTERVAL_ID
from kafkawire.logs.folding.saved_state import FORM, SavedLog, SavedStateError, SavedTable
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.logs.option_records import OptionError
from kafkawire.logs.options import DEFAULT_OPTIONS, ReadOptions
from kafkawire.logs.planning import find_logs, plan
from kafkawire.logs.typed_batches import RecordBatch

_LIMITS: Final = ("as_of", "from_offset", "until_offset", "from_time", "until_time")
"""Options that exclude rows: a row that one reading leaves out would be missing for ever."""


class TableChanges:
    """The rows of a table that are new or changed since the last reading; see ``read_changes``.

    Iterate over it once, keep the rows, then call ``commit``. Without that call the next reading returns them again.

    Attributes:
        table: the table; a history has the column ``interval_id`` at its end.
        started_over: why all rows are returned and not only changes, in words; None if the state was there.
    """

    def __init__(self, table: ContinuedTable, logs: Sequence[Sequence[LogFile]], path: str, source: FoldSource) -> None:
        self.table = table
        self.started_over: str | None = None
        self._logs = logs
        self._path = path
        self._source = source
        self._saved = self._read_state()
        self._is_read = False

    @property
    def files(self) -> tuple[LogFile, ...]:
        """All files of the logs, also those that an earlier reading has read."""
        return tuple(file for files in self._logs for file in files)

    @property
    def store(self) -> FileStore:
        """Where the files are."""
        return self._source.store

    @property
    def bytes(self) -> int:
        """The size of the logs, of which a later reading reads only the end."""
        return sum(file.size for file in self.files)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return self.table.schema

    def __iter__(self) -> Iterator[RecordBatch]:
        """The rows, log after log, in batches of no more than 8192 rows.

        Raises:
            LogReadError: a log cannot be read, or it ends before the place up to which it was read; in mode FAILFAST,
                damage.
        """
        read = dict[str, SavedLog]()
        for files in self._logs:
            folder = files[0].shown_folder
            try:
                changes = self.table.changes(files, self._source, self._saved.logs.get(folder))
            except SavedStateError as error:
                raise LogReadError("unreadable", self._path, str(error)) from None
            yield from cast("Iterator[RecordBatch]", changes.rows())
            read[folder] = changes.saved()
        self._saved = SavedTable(FORM, self.table.name, {**self._saved.logs, **read})
        self._is_read = True

    def commit(self) -> None:
        """Replace the state, after the rows were kept: the next reading continues here.

        Raises:
            ValueError: not all rows were read.
            LogReadError: code ``unreadable``: the file cannot be written; the old state is unchanged.
        """
        if not self._is_read:
            raise ValueError("not all rows were read: iterate to the end before commit()")
        try:
            replace_file(self._path, self._saved.encode())
        except OSError as error:
            raise LogReadError("unreadable", self._path, system_reason(error)) from None

    def _read_state(self) -> SavedTable:
        try:
            octets = read_file(self._path)
        except OSError as error:
            raise LogReadError("unreadable", self._path, system_reason(error)) from None
        nothing = SavedTable(FORM, self.table.name, {})
        if octets is None:
            self.started_over = f"there is no state at {self._path} yet"
            return nothing
        try:
            saved = SavedTable.decode(octets)
        except SavedStateError as error:
            self.started_over = f"the state at {self._path} cannot be used: {error}"
            return nothing
        if saved is None:
            raise OptionError(f"{self._path} is not the state of a table: give another file, which may not exist yet")
        if saved.table != self.table.name:
            raise OptionError(f"{self._path} is the state of {saved.table}: give another file for {self.table.name}")
        return saved


def read_changes(
    name: str,
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    state: str | PathLike[str],
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    accounts: Accounts | None = None,
    store: FileStore | None = None,
) -> TableChanges:
    """The rows of a history that began, changed or ended since the last reading with the same state, or new alerts.

    The first reading returns all rows. A row of a history has an ``interval_id``: a later row with the same id takes
    the place of the earlier one. A table that is kept so has the rows that ``read_table`` returns for the whole log.
    An alert comes again only if a reading was not committed: with the same log, offset, rule and message.

    Args:
        name: of a history of one log, such as ``acl_history``, or ``alerts``.
        paths: as in ``read_table``. Give them in the same form each time: a log is known by the path of its folder.
        state: file with the state after the last reading: a path or a URI that Arrow writes to. If it is missing or
            cannot be used, all rows are returned.
        options: how to read; ``as_of`` and the limits of offsets and times cannot be used.
        accounts: gets the counts.
        store: as in ``read_table``.

    Raises:
        UnknownTableError, UnknownColumnError: there is no such table or column.
        OptionError: the table has no changes, an option excludes rows, or ``state`` is another file.
        LogReadError: a path or the state cannot be read.

    Example:
        ```python
        from kafkawire.logs import read_changes

        log = "/var/lib/kafka/data/__cluster_metadata-0"
        changes = read_changes("acl_history", log, "/var/lib/kafkawire/acl_history.state")
        for batch in changes:
            for row in batch.to_pylist():
                print(row["interval_id"], row["principal"], row["valid_from"], row["valid_to"])
        changes.commit()
        ```
    """
    table = continued_table(name, options)
    found = find_logs([paths] if isinstance(paths, str | PathLike) else paths, store=store).needed_by(table)
    parts = plan(table, found.files, store=found.store, options=options)
    logs = [[each.file for each in part.files] for part in parts]
    source = FoldSource(options, Accounts() if accounts is None else accounts, found.store)
    return TableChanges(table, logs, fspath(state), source)


def continued_table(name: str, options: ReadOptions) -> ContinuedTable:
    """A table that continues from a state; a history has the column ``interval_id``.

    Raises:
        UnknownTableError, UnknownColumnError: there is no such table or column.
        OptionError: the table has no changes, or an option excludes rows.
    """
    if name.lower() in HISTORIES:
        columns = options.columns and tuple(dict.fromkeys((*options.columns, INTERVAL_ID.name)))
        options = replace(options, columns=columns, interval_ids=True)
    table = table_named(name, options)
    if not isinstance(table, ContinuedTable):
        raise OptionError(f"table {table.name!r} has no changes: only alerts and histories of one log have them")
    for limit in _LIMITS:
        if getattr(options, limit) is not None:
            raise OptionError("changes have all rows: read the table itself for some of them", limit)
    return table
