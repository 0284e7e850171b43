"""The ACLs of a cluster from its own metadata log, each with the time during which it existed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, cast

from kafkawire.logs.accounts import Accounts
from kafkawire.logs.catalogue import table_named
from kafkawire.logs.files.log_files import FileKind
from kafkawire.logs.folding.intervals import Interval
from kafkawire.logs.folding.metadata_fold import MetadataFold
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.folding.metadata_replay import replay
from kafkawire.logs.folding.selection import Selection
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.histories.acl import binding_of
from kafkawire.logs.history_tables import HISTORIES
from kafkawire.logs.options import ReadMode, ReadOptions
from kafkawire.logs.planning import FoundLogs, find_logs
from kafkawire.logs.times import datetime_of
from kafkawire.model.acls.past_rights import PastAcl

_TABLE: Final = "acl_history"


def read_past_acls(path: str | os.PathLike[str], since: datetime | None = None) -> list[PastAcl]:
    """All ACLs that a metadata log has or had: segments and snapshots, of a broker or of a controller.

    Args:
        path: the folder of the log, ``__cluster_metadata-0``, a folder with it, or a URI that Arrow knows.
        since: from which time on all of them must be known; a time without a zone is in UTC. None for whatever the log
            knows.

    Raises:
        NoLogsError: there is no metadata log, or more than one.
        LogReadError: the log is damaged or cannot be read.
        BeforeKnowledgeError: the log does not reach back so far.

    Example:
        ```python
        from datetime import UTC, datetime

        from kafkawire.logs import read_past_acls

        history = read_past_acls("/var/lib/kafka/data/__cluster_metadata-0", datetime(2026, 11, 21, 12, tzinfo=UTC))
        print(sum(each.valid_to is not None for each in history), "ACLs were deleted")
        ```
    """
    options = ReadOptions(mode=ReadMode.FAILFAST, as_of=since)
    logs = find_logs([path]).needed_by(table_named(_TABLE, options)).one_metadata_log()
    return [
        PastAcl(binding_of(cast("bytes", each.values)), _time(each.valid_from), _time(each.valid_to))
        for each in _intervals(logs, options)
        if each.values is not None
    ]


def _intervals(logs: FoundLogs, options: ReadOptions) -> Iterator[Interval[Any]]:
    """The intervals of all times.

    Raises:
        LogReadError, BeforeKnowledgeError: as `read_past_acls`.
    """
    history = cast("MetadataHistory[Any]", HISTORIES[_TABLE])
    source = FoldSource(options, Accounts(), logs.store)
    has_snapshots = any(file.kind is FileKind.SNAPSHOT and file.base_offset for file in logs.files)
    fold = MetadataFold(lambda: history.make_reducer(None), source, has_snapshots=has_snapshots)
    for _ in replay(logs.files, [fold], source):
        yield from fold.ledger.take_ended()
    Selection.of(options).refuse_unknown(logs.files[0].shown_folder, fold.known_since)
    yield from fold.ledger.still_open()


def _time(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime_of(milliseconds)
