"""How far a stream has come, as the JSON that Spark keeps in the checkpoint of a query."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafkawire.spark.streaming.gaps import PassedGap

__all__ = ["LogPosition", "StreamPosition"]


class LogPosition(msgspec.Struct, frozen=True):
    """How far a log was read.

    The offset is what counts. File and position say where it is found as long as Kafka does not clean or delete the
    segment.

    Attributes:
        offset: the next to be read: all records below it were.
        file: name of the segment.
        position: in the segment, where the next batch will begin.
        snapshots: names of the snapshots that were read and are still there.
        following: first offset of the batch at that position, if there was one: in a cleaned segment offsets have
            gaps, and it tells soon whether the place is the same still.
        gaps: offsets that no segment had when reading went past them, the latest ones only: a segment with them that
            comes later was never read.
        unread: whether the bytes before that position could not be read: then the offset after them is not known.
    """

    offset: int
    file: str
    position: int
    snapshots: tuple[str, ...] = ()
    following: int | None = None
    gaps: tuple[PassedGap, ...] = ()
    unread: bool = False


class StreamPosition(msgspec.Struct, frozen=True):
    """How far each log was read.

    Attributes:
        logs: by the path of its folder.
    """

    logs: dict[str, LogPosition] = {}

    def to_json(self) -> dict[str, object]:
        """What Spark keeps."""
        builtins: dict[str, object] = msgspec.to_builtins(self)
        return builtins

    @classmethod
    def from_json(cls, kept: Mapping[str, object]) -> StreamPosition:
        """What Spark kept.

        Raises:
            msgspec.ValidationError: it is from something else.
        """
        return msgspec.convert(kept, cls)
