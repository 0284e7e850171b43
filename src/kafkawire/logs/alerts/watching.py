"""A metadata log, watched by rules: the alerts of its files, and then of the records that follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final, cast

from kafkawire.logs.alerts.finding import Alert, AlertFinder
from kafkawire.logs.alerts.rules import ALERT_RULES, AlertRule
from kafkawire.logs.alerts.turns import WATCHED, HistoryTurn, turns_of_fold
from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.folding.journaled_ledger import JournaledLedger
from kafkawire.logs.folding.metadata_decoder import Needed
from kafkawire.logs.folding.metadata_fold import MARKER_IDS, Change, Loss, MetadataFold, StateReducer
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.folding.metadata_replay import replay
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import HISTORIES

_NOT_LOOKED_AT: Final = "PartitionRecord"
"""No rule is about the number of partitions, and these records are many."""


class WatchedLog:
    """Folds one metadata log, and applies rules to what turns. Memory holds what is open in the log.

    Args:
        files: segments and snapshots of the log.
        source: reads them.
        rules: which rules.
    """

    def __init__(
        self, files: Sequence[LogFile], source: FoldSource, rules: Iterable[AlertRule] = tuple(ALERT_RULES.values())
    ) -> None:
        self._files, self._source = files, source
        has_snapshots = any(file.kind is FileKind.SNAPSHOT and file.base_offset for file in files)
        self._folds = {
            name: MetadataFold[Any](partial(_journaled, name), source, has_snapshots=has_snapshots) for name in WATCHED
        }
        self._finder = AlertFinder(rules)

    @property
    def known_since(self) -> int | None:
        """As of ``MetadataFold``; it is the same for all histories."""
        return self._folds[WATCHED[0]].known_since

    def awaits_snapshot(self, offset: int) -> bool:
        """Whether state is unknown so far, and a snapshot of a later offset may have it."""
        is_known = all(fold.complete_since is not None for fold in self._folds.values())
        return not is_known and any(
            file.kind is FileKind.SNAPSHOT and file.base_offset > offset for file in self._files
        )

    def read(self) -> Iterator[Alert]:
        """The alerts of the files, in the order of the log.

        Raises:
            LogReadError: as ``FoldSource.groups``.
        """
        for _ in replay(self._files, list(self._folds.values()), self._source):
            yield from self._found()

    def follow(self, changes: Sequence[Change]) -> Iterator[Alert]:
        """The alerts of the next records, which need not be in the files.

        Args:
            changes: records with the fields of ``NEEDED``, in the order of the log; those of other types may be left
                out, but not those that begin or end a transaction.
        """
        for fold in self._folds.values():
            fold.apply_changes(changes)
        yield from self._found()

    def losses(self) -> list[Loss]:
        """What could not be read, so that alerts may be missing; each loss once, with the latest time of a history."""
        found: dict[tuple[str, int | None, int | None], Loss] = {}
        for loss in sorted((loss for fold in self._folds.values() for loss in fold.losses), key=_time):
            found[loss.code, loss.from_offset, loss.to_offset] = loss
        return list(found.values())

    def _found(self) -> Iterator[Alert]:
        turns = list[HistoryTurn]()
        for name, fold in self._folds.items():
            ledger = cast("JournaledLedger[Any]", fold.ledger)
            turns += turns_of_fold(name, ledger.journal)
            ledger.journal.clear()
            ledger.ended.clear()
        return self._finder.find(turns)


def _time(loss: Loss) -> int:
    return loss.time or 0


def _reducer(history: str) -> StateReducer[Any]:
    return cast("MetadataHistory[Any]", HISTORIES[history]).make_reducer(None)


def _journaled(history: str) -> StateReducer[Any]:
    reducer = _reducer(history)
    reducer.ledger = JournaledLedger.of(reducer.ledger)
    return reducer


def _needed() -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from ((name, ()) for name in MARKER_IDS)
    for history in WATCHED:
        yield from ((name, fields) for name, fields in _reducer(history).RECORDS.items() if name != _NOT_LOOKED_AT)


NEEDED: Final[Needed] = dict(_needed())
"""The records that rules need, by the name of the message, with their fields."""
