"""What consumer groups, share groups and streams groups have in common: they write records, and begin epochs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Generic, Protocol, TypeVar

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.timers import Now, Timers
from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

NO_ROOM: Final = "The members of all groups have no room for more."
"""Why a member is refused that would take too much memory."""

K = TypeVar("K", bound=Message)
K_contra = TypeVar("K_contra", bound=Message, contravariant=True)


class MeasuredMember(Protocol):
    """A member of a group of any of these kinds."""

    @property
    def size(self) -> int:
        """About how many bytes of memory its client determines."""


class FoldedRecords(Protocol[K_contra]):
    """The state of a group as a fold of its records."""

    group_id: str
    epoch: int
    metadata_hash: int
    assignment_epoch: int
    assigned_at_ms: int

    @property
    def members(self) -> Mapping[str, MeasuredMember]:
        """The members by id."""

    @property
    def subscribed(self) -> Collection[str]:
        """The topics to which members subscribe."""

    def apply(self, key: K_contra, value: Message | None) -> None:
        """Apply a record."""


class AssignedGroup(Generic[K]):
    """A group to whose members the coordinator assigns partitions.

    Each method takes an event and its time, and ``changes`` returns the records to write. Nothing here waits or writes.

    Args:
        folded: its state.
        topics: of the cluster.
        kind: of the group, in words.
        most_members: that it may have.

    Attributes:
        timers: the timers that are set.
        size: about how many bytes its members determine.
    """

    def __init__(self, folded: FoldedRecords[K], topics: KnownTopics, kind: str, most_members: int) -> None:
        self.timers = Timers()
        self.size = sum(member.size for member in folded.members.values())
        self._folded = folded
        self._topics = topics
        self._kind = kind
        self._most_members = most_members
        self._seen: int | None = None
        self._changes: list[tuple[K, Message | None]] = []

    @property
    def group_id(self) -> str:
        """Its id."""
        return self._folded.group_id

    @property
    def is_empty(self) -> bool:
        """Whether it has no members."""
        return not self._folded.members

    def changes(self) -> Sequence[tuple[K, Message | None]]:
        """The records to write since the last call, in their order."""
        changes, self._changes = self._changes, []
        return changes

    def _check_room(self, member_id: str) -> None:
        if len(self._folded.members) >= self._most_members and member_id not in self._folded.members:
            reason = f"The {self._kind} group has reached its maximum capacity of {self._most_members} members."
            raise GroupError(ErrorCode.GROUP_MAX_SIZE_REACHED, reason)

    def _unknown(self, member_id: str) -> GroupError:
        reason = f"Member {member_id} is not a member of group {self.group_id}."
        return GroupError(ErrorCode.UNKNOWN_MEMBER_ID, reason)

    def _hash_of_new_epoch(self, *, must_bump: bool) -> int | None:
        """The hash of the topics for an epoch that begins since it must or topics have changed; None for none."""
        folded = self._folded
        if not must_bump and self._seen == self._topics.changes:
            return None
        self._seen = self._topics.changes
        metadata_hash = self._topics.hash_of(folded.subscribed)
        return metadata_hash if must_bump or metadata_hash != folded.metadata_hash else None

    def _may_assign(self, now: Now, interval_ms: int) -> bool:
        """Whether an epoch has no target assignment yet, and the last one is old enough."""
        folded = self._folded
        is_too_early = bool(folded.assigned_at_ms and interval_ms) and now.ms < folded.assigned_at_ms + interval_ms
        return folded.assignment_epoch < folded.epoch and not is_too_early

    def _write(self, key: K, value: Message | None) -> None:
        self._changes.append((key, value))
        members = self._folded.members
        member_id = getattr(key, "member_id", None)
        before = members.get(member_id) if member_id is not None else None
        self._folded.apply(key, value)
        after = members.get(member_id) if member_id is not None else None
        self.size += (0 if after is None else after.size) - (0 if before is None else before.size)
