"""One copy of each log: brokers of a cluster have copies of the same partitions, and each would count again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafkawire.cli.report.log_ends import offset_after
from kafkawire.logs import FileKind, LogFile
from kafkawire.logs.histories.coordinator_fold import CONSUMER_OFFSETS
from kafkawire.logs.registry import METADATA_TOPIC

__all__ = ["ChosenLogs", "one_of_each"]

_READ: Final = (METADATA_TOPIC, CONSUMER_OFFSETS)


@dataclass(frozen=True)
class ChosenLogs:
    """The logs that a report is made of.

    Attributes:
        files: of one copy of each log.
        copies: the folders of the other copies.
        unnamed: logs that come more than once without the id of a cluster: copies, or logs of several clusters.
    """

    files: tuple[LogFile, ...]
    copies: Sequence[str]
    unnamed: Sequence[str]


def one_of_each(files: Sequence[LogFile]) -> ChosenLogs:
    """Of copies in a cluster the one that goes furthest; of those that go as far the one that begins first."""
    folders = defaultdict[tuple[str | None, str], dict[str, list[LogFile]]](lambda: defaultdict(list))
    for file in files:
        if file.log.rpartition("-")[0] in _READ:
            folders[file.cluster, file.log][file.folder].append(file)
    copies, unnamed = set[str](), list[str]()
    for (cluster, log), found in folders.items():
        if len(found) > 1 and cluster is None:
            unnamed.append(log)
        elif len(found) > 1:
            copies |= found.keys() - {max(found, key=lambda folder: _reach(found[folder]))}
    return ChosenLogs(tuple(file for file in files if file.folder not in copies), sorted(copies), unnamed)


def _reach(files: Sequence[LogFile]) -> tuple[int, int]:
    """How far a copy goes, and from how early on; files that are not of this machine go as far as their names say."""
    segments = sorted(
        (file for file in files if file.kind is FileKind.SEGMENT), key=lambda segment: segment.base_offset
    )
    end = max(file.base_offset for file in files)
    if segments:
        try:
            end = max(end, offset_after(Path(segments[-1].path), segments[-1].base_offset))
        except OSError:
            end = max(end, segments[-1].base_offset)
    return end, -min(file.base_offset for file in files)
