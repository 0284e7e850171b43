"""A metadata log, watched by rules: the alerts of its files, or of what was appended since an earlier reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

import msgspec

from kafkawire.logs.alert_rules.changes import KnownState
from kafkawire.logs.alert_rules.rules import ALERT_RULES, AlertRule
from kafkawire.logs.alerts.finding import Alert, AlertFinder
from kafkawire.logs.alerts.turns import WATCHED, HistoryTurn, turns_of_fold
from kafkawire.logs.files.log_files import FileKind, LogFile
from kafkawire.logs.folding.journaled_ledger import JournaledLedger
from kafkawire.logs.folding.metadata_fold import Loss, MetadataFold, StateReducer
from kafkawire.logs.folding.metadata_history import MetadataHistory
from kafkawire.logs.folding.metadata_replay import replay
from kafkawire.logs.folding.saved_state import SavedLog, SavedStateError, decode_saved
from kafkawire.logs.folding.source import FoldSource
from kafkawire.logs.history_tables import HISTORIES


class _Saved(msgspec.Struct, frozen=True, array_like=True):
    """What a reading leaves: the states of the folds by the names of their histories, and what rules know."""

    folds: dict[str, bytes]
    known: KnownState


class WatchedLog:
    """Folds one metadata log, and applies rules to what turns. Memory holds what is open in the log.

    Args:
        files: segments and snapshots of the log.
        source: reads them.
        rules: which rules.
        since: what an earlier reading left; None for all of the log.

    Attributes:
        folds: the histories that the rules look at, by name. They have all their intervals, so that others can use them
            too, and take what has ended before ``found``.

    Raises:
        SavedStateError: ``since`` cannot be used.
    """

    def __init__(
        self,
        files: Sequence[LogFile],
        source: FoldSource,
        rules: Iterable[AlertRule] = tuple(ALERT_RULES.values()),
        since: SavedLog | None = None,
    ) -> None:
        self._files, self._source = files, source
        has_snapshots = any(file.kind is FileKind.SNAPSHOT and file.base_offset for file in files)
        self.folds: Mapping[str, MetadataFold[Any]] = {
            name: MetadataFold[Any](partial(_journaled, name), source, has_snapshots=has_snapshots) for name in WATCHED
        }
        self._finder = AlertFinder(rules)
        self._reached = None if since is None else since.reached
        if since is not None:
            self._resume(since.fold)

    @property
    def known_since(self) -> int | None:
        """As of ``MetadataFold``; it is the same for all histories."""
        return self.folds[WATCHED[0]].known_since

    def read(self) -> Iterator[Alert]:
        """The alerts that the earlier reading did not find, in the order of the log.

        Raises:
            LogReadError: as ``FoldSource.groups``.
        """
        for reached in replay(self._files, list(self.folds.values()), self._source, self._reached):
            self._reached = reached
            yield from self.found()

    def found(self) -> Iterator[Alert]:
        """The alerts of what the folds have read since the last call."""
        turns = list[HistoryTurn]()
        for name, fold in self.folds.items():
            ledger = cast("JournaledLedger[Any]", fold.ledger)
            turns += turns_of_fold(name, ledger.journal)
            ledger.journal.clear()
            ledger.forget_ended()
        return self._finder.find(turns)

    def saved(self) -> SavedLog:
        """What another reading continues from, after ``read``. It does not depend on the rules."""
        saved = _Saved({name: fold.save() for name, fold in self.folds.items()}, self._finder.known)
        return SavedLog(self._reached, msgspec.msgpack.encode(saved))

    def losses(self) -> list[Loss]:
        """What could not be read, so that alerts may be missing; each loss once, with the latest time of a history."""
        found: dict[tuple[str, int | None, int | None], Loss] = {}
        for loss in sorted((loss for fold in self.folds.values() for loss in fold.losses), key=_time):
            found[loss.code, loss.from_offset, loss.to_offset] = loss
        return list(found.values())

    def _resume(self, octets: bytes) -> None:
        saved = decode_saved(octets, _Saved)
        if saved.folds.keys() != self.folds.keys():
            raise SavedStateError(f"it has {', '.join(saved.folds)}, and alerts need {', '.join(self.folds)}")
        for name, fold in self.folds.items():
            fold.resume(saved.folds[name])
        self._finder.known = saved.known


def _time(loss: Loss) -> int:
    return loss.time or 0


def _reducer(history: str) -> StateReducer[Any]:
    return cast("MetadataHistory[Any]", HISTORIES[history]).make_reducer(None)


def _journaled(history: str) -> StateReducer[Any]:
    reducer = _reducer(history)
    reducer.ledger = JournaledLedger(reducer.ledger.rules)
    return reducer
