"""The members of a classic group: who joined, who leads, and which protocol they select."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from kafkawire.model.java_order import in_java_order
from kafkawire.protocol.error_codes import ErrorCode

Protocols: TypeAlias = tuple[tuple[str, bytes], ...]
"""Name and metadata of each protocol that a member supports, the preferred first."""

Ticket: TypeAlias = int
"""The number of a request that waits for its answer."""


@dataclass(slots=True, eq=False)
class Member:
    """A member of a group.

    Attributes:
        member_id: assigned by the coordinator.
        instance_id: ``group.instance.id`` of a static member; None for others.
        client_id, client_host: of its client, the host as Kafka records it (``/127.0.0.1``).
        rebalance_timeout_ms, session_timeout_ms: as the client has them.
        protocols: what it supports.
        assignment: what the leader assigned to it.
        join: its JoinGroup request that waits; None if none does.
        sync: its SyncGroup request that waits; None if none does.
        is_new: whether it has had no answer yet, so that it can send no heartbeat.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocols: Protocols
    assignment: bytes = b""
    join: Ticket | None = None
    sync: Ticket | None = None
    is_new: bool = False

    @property
    def is_waiting(self) -> bool:
        """Whether the coordinator owes it an answer, so that it cannot send heartbeats."""
        return self.join is not None or self.sync is not None

    def metadata(self, protocol: str | None) -> bytes:
        """The metadata for a protocol that it supports; empty for others."""
        return next((metadata for name, metadata in self.protocols if name == protocol), b"")

    @property
    def size(self) -> int:
        """About how many bytes of memory its client determines."""
        names = len(self.member_id) + len(self.client_id) + len(self.instance_id or "")
        return names + sum(len(name) + len(metadata) for name, metadata in self.protocols)


@dataclass(slots=True, eq=False)
class Roster:
    """The members of a group.

    Attributes:
        members: member id to member, in the order in which they joined.
        static_ids: ``group.instance.id`` to member id (KIP-345).
        pending: ids that clients got and must join with (KIP-394).
        not_synced: members that have not sent SyncGroup in this generation.
        leader: member id of the leader; None if there are no members.
        size: about how many bytes of memory the clients determine.
    """

    members: dict[str, Member] = field(default_factory=dict)
    static_ids: dict[str, str] = field(default_factory=dict)
    pending: dict[str, None] = field(default_factory=dict)
    not_synced: set[str] = field(default_factory=set)
    leader: str | None = None
    size: int = 0
    _supported: Counter[str] = field(default_factory=Counter)
    _joined: int = 0

    @property
    def joined(self) -> int:
        """How many members have a JoinGroup request that waits."""
        return self._joined

    @property
    def all_joined(self) -> bool:
        """Whether every member has joined, and no client is expected to join with the id that it got."""
        return self._joined == len(self.members) and not self.pending

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of the members; 0 without members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def not_joined(self) -> Iterator[Member]:
        """The members without a JoinGroup request that waits."""
        return (member for member in self.members.values() if member.join is None)

    def error(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Why a request does not come from a member; NONE if it does."""
        if instance_id is not None:
            known = self.static_ids.get(instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def supports(self, protocols: Iterable[str]) -> bool:
        """Whether all members support one of these protocols."""
        return any(self._supported[name] == len(self.members) for name in protocols)

    def expect(self, member_id: str) -> None:
        """Expect a client to join with an id that it gets."""
        self.pending[member_id] = None
        self.size += len(member_id)

    def forget(self, member_id: str) -> None:
        """Expect a client no more, if it was expected."""
        if member_id in self.pending:
            del self.pending[member_id]
            self.size -= len(member_id)

    def add(self, member: Member) -> None:
        """Add a member, which leads if it is the first."""
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        if self.leader is None:
            self.leader = member.member_id
        self.members[member.member_id] = member
        self._count(member, 1)
        self.forget(member.member_id)

    def remove(self, member_id: str) -> Member | None:
        """Remove a member that waits for no answer, or an id that a client got; another member leads then."""
        member = self.members.pop(member_id, None)
        if member is not None:
            self._count(member, -1)
            if member.instance_id is not None:
                self.static_ids.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.forget(member_id)
        self.not_synced.discard(member_id)
        return member

    def replace(self, member: Member, member_id: str) -> None:
        """Give a static member another member id."""
        if self.leader == member.member_id:
            self.leader = member_id
        self._count(member, -1)
        del self.members[member.member_id]
        if member.member_id in self.not_synced:
            self.not_synced.remove(member.member_id)
            self.not_synced.add(member_id)
        member.member_id = member_id
        self.members[member_id] = member
        self._count(member, 1)
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member_id

    def update(self, member: Member, protocols: Protocols, rebalance_timeout_ms: int, session_timeout_ms: int) -> None:
        """Change what a member supports, and its timeouts."""
        self._count(member, -1)
        member.protocols = protocols
        self._count(member, 1)
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def await_join(self, member: Member, ticket: Ticket | None) -> Ticket | None:
        """Let a JoinGroup request of a member wait, or none any more; returns the one that waited before."""
        before, member.join = member.join, ticket
        self._joined += (ticket is not None) - (before is not None)
        return before

    def elect_joined_leader(self) -> bool:
        """Let a member lead that has joined; returns whether one has."""
        leader = self.members.get(self.leader or "")
        if leader is not None and leader.join is not None:
            return True
        joined = next((member for member in self.members.values() if member.join is not None), None)
        if joined is not None:
            self.leader = joined.member_id
        return joined is not None

    def selected_protocol(self) -> str | None:
        """The protocol with the most votes of those that all members support; each votes for its first."""
        candidates = {name for name, count in self._supported.items() if count == len(self.members)}
        votes: Counter[str] = Counter()
        for member in self.members.values():
            votes.update([name for name, _ in member.protocols if name in candidates][:1])
        return max(in_java_order(votes), key=votes.__getitem__, default=None)

    def _count(self, member: Member, by: int) -> None:
        self.size += by * member.size
        for name, _ in member.protocols:
            self._supported[name] += by
            if not self._supported[name]:
                del self._supported[name]
