"""A log as it was earlier: its batches and snapshots up to an offset."""

from __future__ import annotations

from pathlib import Path

from kafkawire.wire.batches import read_batches


def batch_ends(log: Path) -> list[int]:
    """The offsets at which a batch of a log ends, in order: the offset after its last record."""
    segments = sorted(log.glob("*.log"))
    return [batch.last_offset + 1 for segment in segments for batch in read_batches(segment.read_bytes())]


def write_log_until(log: Path, end: int, target: Path) -> None:
    """Write a log as it was when it ended at an offset; files that are there are replaced.

    Args:
        log: the folder of the log.
        end: one of `batch_ends`.
        target: the folder to write.
    """
    target.mkdir(parents=True, exist_ok=True)
    for segment in sorted(log.glob("*.log")):
        content = segment.read_bytes()
        size = sum(batch.size for batch in read_batches(content) if batch.last_offset < end)
        if size or int(segment.stem) == 0:
            (target / segment.name).write_bytes(content[:size])
    for snapshot in log.glob("*.checkpoint"):
        if int(snapshot.stem.partition("-")[0]) <= end:
            (target / snapshot.name).write_bytes(snapshot.read_bytes())
