"""What the states of consumer groups and of share groups have in common: epochs, members, and target assignments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final, Generic, Protocol, TypeVar

from kafkawire.broker.groups.assignors.assignment import NOTHING, Assignment

_FIRST_EPOCH: Final = 1


class Subscriber(Protocol):
    """A member of such a group."""

    @property
    def member_id(self) -> str:
        """Made by its client."""

    @property
    def instance_id(self) -> str | None:
        """Of a static member; None for others."""

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics to which it subscribes by name, in the order of Kafka's set."""


M = TypeVar("M", bound=Subscriber)


class AssignedState(Generic[M]):
    """A group to whose members the coordinator assigns partitions, as of its last record.

    Args:
        group_id: its id.

    Attributes:
        epoch: rises with each change of members, subscriptions and topics.
        metadata_hash: of the topics to which the members subscribe.
        assignment_epoch: the epoch for which the target assignment was computed.
        assigned_at_ms: when; 0 if it is not known.
        members: by id, in the order in which they came.
        targets: member id to target assignment.
    """

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.epoch = _FIRST_EPOCH
        self.metadata_hash = 0
        self.assignment_epoch = _FIRST_EPOCH
        self.assigned_at_ms = 0
        self.members: dict[str, M] = {}
        self.targets: dict[str, Assignment] = {}
        self._names: Counter[str] = Counter()

    def target(self, member_id: str) -> Assignment:
        """The target assignment of a member."""
        return self.targets.get(member_id, NOTHING)

    def names_of(self, member: M) -> tuple[str, ...]:
        """The topics to which a member subscribes."""
        return member.topics

    @property
    def subscribed(self) -> Collection[str]:
        """The topics to which members subscribe."""
        return self._names.keys()

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members subscribe to the same topics."""
        count = len(self.members)
        return all(members == count for members in self._names.values())

    def _count(self, member: M | None, by: int) -> None:
        """Count the subscriptions of a member that comes (1) or goes (-1)."""
        count_names(self._names, () if member is None else member.topics, by)


def count_names(counter: Counter[str], names: Collection[str], by: int) -> None:
    """Count names; one without a subscriber is forgotten."""
    for name in names:
        counter[name] += by
        if not counter[name]:
            del counter[name]
