"""Feature levels of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from kafkawire.protocol import FeatureLevelRecord
from kafkawire.wire import Message

__all__ = ["FeaturesImage"]


class FeaturesImage:
    """All finalized features.

    Attributes:
        levels: feature to level; none is 0.
    """

    def __init__(self) -> None:
        self.levels: dict[str, int] = {}

    def apply(self, record: FeatureLevelRecord) -> None:
        """A feature has a new level."""
        if record.feature_level:
            self.levels[record.name] = record.feature_level
        else:
            self.levels.pop(record.name, None)

    def records(self) -> Iterator[Message]:
        """The records that set all levels again."""
        for name, level in self.levels.items():
            yield FeatureLevelRecord(name, level)
