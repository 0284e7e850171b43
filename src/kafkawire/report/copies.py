"""One copy of each log: brokers of a cluster have copies of the same partitions, which must count once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from kafkawire.logs import FileStore, LogFile
from kafkawire.logs.files.log_files import segments_of
from kafkawire.logs.frames.segment_ends import end_of_segment
from kafkawire.logs.planning import FoundLogs
from kafkawire.logs.registry import BUILT_IN

_READ: Final = BUILT_IN.topics
"""The topics whose logs a report reads."""


@dataclass(frozen=True)
class ChosenLogs:
    """The logs that a report is made of.

    Attributes:
        files: of one copy of each log.
        copies: the folders of the other copies.
        unnamed: logs that were found more than once without the id of a cluster: copies, or logs of several clusters.
    """

    files: tuple[LogFile, ...]
    copies: Sequence[str]
    unnamed: Sequence[str]


def one_of_each(logs: FoundLogs) -> ChosenLogs:
    """Choose the copy with the highest end offset in each cluster; of several such, the one that begins first."""
    folders = defaultdict[tuple[str | None, str], dict[str, list[LogFile]]](lambda: defaultdict(list))
    for file in logs.files:
        if file.log.rpartition("-")[0] in _READ:
            folders[file.cluster, file.log][file.folder].append(file)
    copies, unnamed = set[str](), list[str]()
    for (cluster, log), found in folders.items():
        if len(found) > 1 and cluster is None:
            unnamed.append(log)
        elif len(found) > 1:
            copies |= found.keys() - {max(found, key=lambda folder: _reach(found[folder], logs.store))}
    return ChosenLogs(tuple(file for file in logs.files if file.folder not in copies), sorted(copies), unnamed)


def _reach(files: Sequence[LogFile], store: FileStore) -> tuple[int, int]:
    """The end offset of a copy, and its first offset, negated. For unreadable files, the offset in the name counts."""
    segments = segments_of(files)
    end = max(file.base_offset for file in files)
    if segments:
        with suppress(OSError):
            end = max(end, end_of_segment(segments[-1], store).offset)
    return end, -min(file.base_offset for file in files)
