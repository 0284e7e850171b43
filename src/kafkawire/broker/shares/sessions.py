"""Share sessions: which partitions a member of a share group fetches, from one request to the next (KIP-932)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol.error_codes import ErrorCode

INITIAL_EPOCH: Final = 0
"""Begins a session."""

FINAL_EPOCH: Final = -1
"""Ends a session."""

_LAST_EPOCH: Final = (1 << 31) - 1


class SessionKey(NamedTuple):
    """Whose session it is.

    Attributes:
        group_id: of the group.
        member_id: of the member.
    """

    group_id: str
    member_id: str


class FetchedPartition(NamedTuple):
    """A partition in a session.

    Attributes:
        topic_id: of the topic.
        partition: its number.
    """

    topic_id: Uuid
    partition: int


class ShareSessionError(Exception):
    """A request does not fit to a session.

    Attributes:
        code: why.
    """

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(code.name)
        self.code = code


@dataclass(slots=True)
class ShareSession:
    """The session of a member.

    Attributes:
        key: whose it is.
        epoch: of the next request.
        names: the partitions, each with the name that its topic had when it was added; None if there was no topic.
        connection: the number of the connection on which it began, with which it ends.
        to_report: the partitions that a response has even without records: new ones, and those with errors.
    """

    key: SessionKey
    epoch: int
    names: dict[FetchedPartition, str | None]
    connection: int
    to_report: set[FetchedPartition] = field(default_factory=set)

    def check(self, epoch: int) -> None:
        """Raise if a request has not the expected epoch.

        Raises:
            ShareSessionError: it has another one.
        """
        if epoch != self.epoch:
            raise ShareSessionError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)

    def advance(self) -> None:
        """Expect the next epoch."""
        self.epoch = 1 if self.epoch == _LAST_EPOCH else self.epoch + 1

    def change(self, added: Iterable[tuple[FetchedPartition, str | None]], removed: Iterable[FetchedPartition]) -> None:
        """Add partitions, then remove others."""
        for partition, name in added:
            if partition not in self.names:
                self.names[partition] = name
                self.to_report.add(partition)
        for partition in removed:
            self.names.pop(partition, None)
            self.to_report.discard(partition)

    def reports(self, partition: FetchedPartition, *, has_records: bool, has_error: bool) -> bool:
        """Whether a response has a partition; call it for each response, since what was reported is not repeated."""
        is_due = partition in self.to_report
        self.to_report.discard(partition)
        if has_error:
            self.to_report.add(partition)
        return has_records or has_error or is_due


class ShareSessions:
    """The sessions of all members.

    Args:
        most: how many there are at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sessions: dict[SessionKey, ShareSession] = {}
        self._by_connection: dict[int, set[SessionKey]] = {}
        self._last_group: dict[int, str] = {}
        self._of_group: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._sessions)

    def of(self, key: SessionKey) -> ShareSession:
        """The session of a member.

        Raises:
            ShareSessionError: it has none.
        """
        session = self._sessions.get(key)
        if session is None:
            raise ShareSessionError(ErrorCode.SHARE_SESSION_NOT_FOUND)
        return session

    def of_connection(self, connection: int) -> Sequence[SessionKey]:
        """Whose sessions began on a connection."""
        return tuple(self._by_connection.get(connection, ()))

    def has_group(self, group_id: str) -> bool:
        """Whether a member of a group has a session."""
        return group_id in self._of_group

    def close_connection(self, connection: int) -> str | None:
        """Forget a connection that has ended; returns the group of the last session that began on it, if one did."""
        return self._last_group.pop(connection, None)

    def begin(
        self, key: SessionKey, partitions: Iterable[tuple[FetchedPartition, str | None]], connection: int
    ) -> ShareSession:
        """Begin a session, instead of one that the member has; its first request has been received.

        Raises:
            ShareSessionError: there are too many.
        """
        self._forget(key)
        if len(self._sessions) >= self._most:
            raise ShareSessionError(ErrorCode.SHARE_SESSION_LIMIT_REACHED)
        session = self._sessions[key] = ShareSession(key, INITIAL_EPOCH + 1, dict(partitions), connection)
        self._by_connection.setdefault(connection, set()).add(key)
        self._last_group[connection] = key.group_id
        self._of_group[key.group_id] += 1
        return session

    def end(self, key: SessionKey) -> Sequence[FetchedPartition]:
        """End a session, if there is one; returns its partitions."""
        session = self._forget(key)
        return () if session is None else tuple(session.names)

    def _forget(self, key: SessionKey) -> ShareSession | None:
        session = self._sessions.pop(key, None)
        if session is not None:
            of_connection = self._by_connection[session.connection]
            of_connection.discard(key)
            if not of_connection:
                del self._by_connection[session.connection]
            self._of_group[key.group_id] -= 1
            if not self._of_group[key.group_id]:
                del self._of_group[key.group_id]
        return session
