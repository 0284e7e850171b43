"""What FindCoordinator asks about: keys and their types."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import Final

from kafkawire.layout.uuid import Uuid

__all__ = ["CoordinatorType", "is_share_partition_key"]

_PARTITION: Final = re.compile(r"[+-]?[0-9]+", re.ASCII)
_COLONS: Final = 2
_LARGEST: Final = 2**31 - 1
_LONGEST: Final = 11
"""Characters of the longest number of 32 bits."""


class CoordinatorType(IntEnum):
    """What the key of a coordinator is."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


def is_share_partition_key(key: str) -> bool:
    """Whether a key is ``group:topic id:partition``, as Kafka reads it (KIP-932)."""
    if key.count(":") < _COLONS:
        return False
    group, topic_id, partition = key.rsplit(":", _COLONS)
    if not group.strip() or len(partition) > _LONGEST or not _PARTITION.fullmatch(partition):
        return False
    try:
        Uuid.from_text(topic_id)
    except ValueError:
        return False
    return -_LARGEST - 1 <= int(partition) <= _LARGEST
