"""Where requests go (section 1.1 of the admin reference)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

import msgspec


class TopicPartition(msgspec.Struct, frozen=True, order=True):
    """A partition of a topic.

    Attributes:
        topic: its name.
        partition: its number, from 0.
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class CoordinatorType(IntEnum):
    """What a coordinator coordinates; the number is FindCoordinator's key type."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


@dataclass(frozen=True, slots=True)
class AnyNode:
    """Any node will do; the least loaded one is taken."""


@dataclass(frozen=True, slots=True)
class Controller:
    """The controller, as the brokers know it."""


@dataclass(frozen=True, slots=True)
class OnNode:
    """A particular node."""

    node_id: int


@dataclass(frozen=True, slots=True)
class CoordinatorOf:
    """The coordinator of a group, a transactional id or a share group."""

    type: CoordinatorType
    key: str


@dataclass(frozen=True, slots=True)
class LeaderOf:
    """The leader of a partition."""

    partition: TopicPartition


Route: TypeAlias = AnyNode | Controller | OnNode | CoordinatorOf | LeaderOf
"""Where one item goes. Equal routes that end at one node share requests."""

ANY_NODE = AnyNode()
CONTROLLER = Controller()
