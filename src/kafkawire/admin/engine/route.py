"""Where requests go (admin-routing)."""

from __future__ import annotations

from enum import IntEnum
from typing import TypeAlias

import msgspec

from kafkawire.model.partitions import TopicPartition


class CoordinatorType(IntEnum):
    """What a coordinator coordinates; the number is FindCoordinator's key type."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class AnyNode(msgspec.Struct, frozen=True):
    """Any node; the least loaded one is chosen."""


class Controller(msgspec.Struct, frozen=True):
    """The controller, as the brokers name it."""


class OnNode(msgspec.Struct, frozen=True):
    """A particular node."""

    node_id: int


class CoordinatorOf(msgspec.Struct, frozen=True):
    """The coordinator of a group, a transactional id or a share group."""

    type: CoordinatorType
    key: str


class LeaderOf(msgspec.Struct, frozen=True):
    """The leader of a partition."""

    partition: TopicPartition


Route: TypeAlias = AnyNode | Controller | OnNode | CoordinatorOf | LeaderOf
"""Where one item goes. Equal routes that end at one node share requests."""

ANY_NODE = AnyNode()
CONTROLLER = Controller()
