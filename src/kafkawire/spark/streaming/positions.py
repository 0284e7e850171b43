"""The position of a stream, as the JSON that Spark stores in the checkpoint of a query."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafkawire.spark.streaming.gaps import PassedGap


class LogPosition(msgspec.Struct, frozen=True):
    """How far a log was read.

    The offset decides. File and position say where it is, until Kafka compacts or deletes the segment.

    Attributes:
        offset: the next to be read.
        file: name of the segment.
        position: in the segment, the start of the next batch.
        snapshots: names of the snapshots that were read and still exist.
        following: first offset of the batch at that position, if there was one. Offsets in a compacted segment have
            gaps; with this offset, an unchanged place is recognised quickly.
        gaps: the latest ranges of offsets that were in no segment when reading passed them. A segment with them that
            arrives later was not read.
        unread: whether the bytes before that position could not be decoded, so that the offset after them is unknown.
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
        """The JSON that Spark stores."""
        builtins: dict[str, object] = msgspec.to_builtins(self)
        return builtins

    @classmethod
    def from_json(cls, kept: Mapping[str, object]) -> StreamPosition:
        """A position from the JSON that Spark stored.

        Raises:
            msgspec.ValidationError: the JSON is not a position.
        """
        return msgspec.convert(kept, cls)
