"""The share partitions that members fetch from, with the ends of their locks on the broker's clock."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Final

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.wakes import Wakes
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.share_coordinator.coordinator import FENCED, UNWRITTEN, ShareCoordinator
from kafkawire.broker.share_coordinator.state import UNINITIALIZED, SharePartitionKey
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgementError, acknowledge
from kafkawire.broker.shares.sessions import SessionKey, ShareSessions
from kafkawire.broker.shares.settings import ShareRules, ShareSettings, duration_ms
from kafkawire.broker.shares.share_partition import SharePartition, ShareStateError
from kafkawire.broker.storage.errors import StorageError
from kafkawire.protocol import RemoveTopicRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

_log = logging.getLogger(__name__)
_EARLIEST: Final = "earliest"
_LATEST: Final = "latest"

_OF_STATE: Final = {
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
"""The errors of states as members see them; all others are UNKNOWN_SERVER_ERROR."""

_WORDS: Final = {ErrorCode.INVALID_REQUEST: UNWRITTEN, **FENCED}
"""The messages for them."""

_ENDS_PARTITION: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER})


class ShareError(Exception):
    """A share partition cannot be used.

    Attributes:
        code: why.
        message: for the response.
    """

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message or code.name)
        self.code = code
        self.message = message


class LiveShares:
    """The share partitions in use, and the sessions of members.

    Args:
        coordinator: has what is recorded.
        store: the records of all partitions.
        controller: has the topics.
        settings: of the groups.
        clock: the broker's.

    Attributes:
        sessions: of the members.
        coordinator: as given.
    """

    def __init__(
        self,
        coordinator: ShareCoordinator,
        store: RecordStore,
        controller: Controller,
        settings: ShareSettings,
        clock: Clock,
    ) -> None:
        self.sessions = ShareSessions(settings.most_sessions)
        self.coordinator = coordinator
        self._store = store
        self._topics = controller.image.topics
        self._settings = settings
        self._clock = clock
        self._partitions: dict[SharePartitionKey, SharePartition] = {}
        self._by_owner: dict[str, SharePartitionKey] = {}
        self._waiting: dict[SharePartitionKey, set[asyncio.Future[None]]] = {}
        self._wakes = Wakes(clock, self._end_due_locks)
        self._in_background: set[asyncio.Task[None]] = set()
        coordinator.on_cleared.append(self._drop_all)
        controller.subscribe_to_commits(self._committed)

    def rules(self, group_id: str) -> ShareRules:
        """The settings of a group."""
        return self._settings.of(group_id)

    def log(self, key: SharePartitionKey) -> PartitionLog:
        """The records of a partition that exists."""
        return self._store.log(key.topic_id, key.partition)

    async def opened(self, key: SharePartitionKey) -> SharePartition:
        """The share partition of a partition that exists, read from its recorded state if it is not in use.

        Raises:
            ShareError: there is no state, or no record to begin with.
            StorageError: a log has failed.
        """
        await self.coordinator.prepare((key.owner,))
        partition = self._partitions.get(key)
        if partition is not None:
            return partition
        leader_epoch = self._leader_epoch(key)
        state = self.coordinator.read_to_deliver(key, leader_epoch)
        if isinstance(state, ErrorCode):
            raise ShareError(_OF_STATE.get(state, ErrorCode.UNKNOWN_SERVER_ERROR))
        start = state.summary.start_offset
        try:
            partition = SharePartition(
                state,
                leader_epoch,
                self._first_offset(key) if start == UNINITIALIZED else start,
                rules=partial(self._settings.of, key.group_id),
                now=self._clock.seconds,
                write=partial(self.coordinator.write, key),
            )
        except ValueError as error:
            _log.error("The state of %s cannot be used: %s", key.owner, error)
            raise ShareError(ErrorCode.UNKNOWN_SERVER_ERROR) from error
        self._partitions[key] = partition
        self._by_owner[key.owner] = key
        return partition

    async def acknowledge(
        self, key: SharePartitionKey, member_id: str, acknowledgements: Sequence[Acknowledgement]
    ) -> None:
        """Apply acknowledgements of a member, all or none; they are durable when ``coordinator.durable`` returns.

        Raises:
            ShareError: they are refused.
            StorageError: a log has failed.
        """
        await self.coordinator.prepare((key.owner,))
        partition = self._partitions.get(key)
        if partition is None:
            words = "This server does not host this topic-partition."
            raise ShareError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, words)
        try:
            acknowledge(partition, member_id, acknowledgements)
        except AcknowledgementError as error:
            raise ShareError(error.code, error.message) from error
        except ShareStateError as error:
            raise self._failed(key, error) from error
        finally:
            self._changed(key)

    async def release(self, session: SessionKey) -> None:
        """End a session, and make the records of the member available again.

        Raises:
            StorageError: a log has failed.
        """
        for fetched in self.sessions.end(session):
            key = SharePartitionKey(session.group_id, fetched.topic_id, fetched.partition)
            if key not in self._partitions:
                continue
            await self.coordinator.prepare((key.owner,))
            partition = self._partitions.get(key)
            if partition is None:
                continue
            try:
                partition.release(session.member_id)
            except ShareStateError as error:
                _log.warning("The records of %s could not be released: %s", key.owner, error)
                self._failed(key, error)
            self._changed(key)

    def connection_closed(self, connection: int) -> None:
        """End the sessions that began on a connection that has ended, as Kafka does.

        If the group of the last of them has no session then, its share partitions are read again when one begins.
        """
        sessions, last_group = self.sessions.of_connection(connection), self.sessions.close_connection(connection)
        if last_group is not None:
            self._later(self._end(sessions, last_group))

    async def _end(self, sessions: Iterable[SessionKey], last_group: str) -> None:
        for session in sessions:
            try:
                await self.release(session)
            except (StorageError, OSError) as error:
                _log.error(
                    "The records of member %s of %s could not be released: %s",
                    session.member_id, session.group_id, error,
                )  # fmt: skip
        if not self.sessions.has_group(last_group):
            for key in [key for key in self._partitions if key.group_id == last_group]:
                self._drop(key)

    def _later(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._in_background.add(task)
        task.add_done_callback(self._in_background.discard)

    def uses(self, key: SharePartitionKey, partition: SharePartition) -> bool:
        """Whether a share partition is still the one in use."""
        return self._partitions.get(key) is partition

    def acquired(self, key: SharePartitionKey) -> None:
        """Note that records were acquired: their locks end later."""
        partition = self._partitions.get(key)
        if partition is not None:
            self._wakes.set(key.owner, partition.look_at)

    def wait(self, keys: Iterable[SharePartitionKey], waiter: asyncio.Future[None]) -> Callable[[], None]:
        """Complete a future when a share partition changes, or its log grows; returns what ends this."""
        logs, sets = [], []
        for key in keys:
            log, waiting = self.log(key), self._waiting.setdefault(key, set())
            log.wait(waiter)
            waiting.add(waiter)
            logs.append(log)
            sets.append((key, waiting))

        def forget() -> None:
            for log in logs:
                log.forget(waiter)
            for key, waiting in sets:
                waiting.discard(waiter)
                if not waiting and self._waiting.get(key) is waiting:
                    del self._waiting[key]

        return forget

    async def settled(self) -> None:
        """Wait until the locks whose time has come have ended, and this is durable.

        Raises:
            StorageError: a write failed.
        """
        await self._wakes.settled()
        await asyncio.gather(*self._in_background)
        await self.coordinator.durable()

    async def close(self) -> None:
        """End the work in the background."""
        await self._wakes.close()
        await asyncio.gather(*self._in_background, return_exceptions=True)

    async def _end_due_locks(self, owner: str) -> None:
        key = self._by_owner.get(owner)
        if key is None:
            return
        try:
            await self.coordinator.prepare((owner,))
            partition = self._partitions.get(key)
            if partition is not None:
                partition.end_due_locks()
                self._changed(key)
        except (StorageError, OSError) as error:
            _log.error("The locks of %s could not be ended: %s", owner, error)

    def _changed(self, key: SharePartitionKey) -> None:
        self.acquired(key)
        for waiter in self._waiting.get(key, ()):
            if not waiter.done():
                waiter.set_result(None)

    def _failed(self, key: SharePartitionKey, error: ShareStateError) -> ShareError:
        """The error for members; a share partition with an earlier state is not used any more."""
        code = _OF_STATE.get(error.code, ErrorCode.UNKNOWN_SERVER_ERROR)
        if code in _ENDS_PARTITION:
            self._drop(key)
        return ShareError(code, _WORDS.get(error.code))

    def _drop(self, key: SharePartitionKey) -> None:
        if self._partitions.pop(key, None) is not None:
            del self._by_owner[key.owner]

    def _drop_all(self) -> None:
        self._partitions.clear()
        self._by_owner.clear()

    def _leader_epoch(self, key: SharePartitionKey) -> int:
        return self._topics.by_id[key.topic_id].partitions[key.partition].leader_epoch

    def _first_offset(self, key: SharePartitionKey) -> int:
        """Where a group begins that has read nothing yet (``share.auto.offset.reset``).

        Raises:
            ShareError: there is no record since the time with which it begins.
        """
        log, reset = self.log(key), self._settings.of(key.group_id).reset
        if reset == _EARLIEST:
            return log.start_offset
        if reset == _LATEST:
            return log.high_watermark
        found = log.first_since(self._clock.now_ms() - duration_ms(reset))
        if found is None:
            raise ShareError(ErrorCode.OFFSET_NOT_AVAILABLE)
        return found.offset

    def _committed(self, records: Iterable[Message]) -> None:
        """Forget the share partitions of topics that are deleted."""
        removed = {record.topic_id for record in records if isinstance(record, RemoveTopicRecord)}
        if removed:
            for key in [key for key in self._partitions if key.topic_id in removed]:
                self._drop(key)
            owned = self.coordinator.of_topics(removed)
            if owned:
                self._later(self._forget(owned))

    async def _forget(self, keys: Sequence[SharePartitionKey]) -> None:
        try:
            await self.coordinator.prepare([key.owner for key in keys])
            for key in keys:
                self.coordinator.delete(*key)
        except (StorageError, OSError) as error:
            _log.error("The states of deleted topics could not be deleted: %s", error)
