"""Feature levels of the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafkawire.protocol import FeatureLevelRecord
from kafkawire.wire import Message

__all__ = ["METADATA_VERSION_FEATURE", "FeaturesImage"]

METADATA_VERSION_FEATURE: Final = "metadata.version"
"""The feature that says which records there may be."""


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
        """The records that set all levels again, ``metadata.version`` before all that depend on it."""
        for name in sorted(self.levels, key=lambda name: (name != METADATA_VERSION_FEATURE, name)):
            yield FeatureLevelRecord(name, self.levels[name])
