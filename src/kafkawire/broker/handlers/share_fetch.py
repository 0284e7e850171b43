"""ShareFetch (KIP-932)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.share_acknowledgements import RENEWS_SINCE, Results, ShareAcknowledgements
from kafkawire.broker.handlers.share_reading import Found, Reading, ShareReader
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.share_coordinator.state import SharePartitionKey
from kafkawire.broker.shares.acquiring import Wanted
from kafkawire.broker.shares.live_shares import ShareError
from kafkawire.broker.shares.sessions import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    FetchedPartition,
    SessionKey,
    ShareSession,
    ShareSessionError,
)
from kafkawire.broker.shares.share_partition import SharePartition
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import ShareFetchRequest, ShareFetchResponse
from kafkawire.protocol.error_codes import ErrorCode

_MOST_BYTES: Final = 55 * 1024 * 1024  # fetch.max.bytes
_LONGEST_WAIT: Final = 600.0
_STRICT: Final = 1

Data = ShareFetchResponse.PartitionData


class ShareFetchHandlers:
    """Let members of share groups acquire records, and acknowledge earlier ones."""

    def __init__(self, context: HandlerContext) -> None:
        self._shares = context.shares
        self._clock = context.clock
        self._rates = context.quotas.fetch
        self._acknowledgements = ShareAcknowledgements(context)
        self._reader = ShareReader(context.shares)
        self.apis = (ServedApi(ShareFetchRequest, self._fetch, 1, 2),)

    async def _fetch(self, request: ShareFetchRequest, call: Call) -> ShareFetchResponse:
        refused = self._acknowledgements.refused(request.group_id, request.member_id, call)
        if refused or request.group_id is None or request.member_id is None:
            return ShareFetchResponse(error_code=refused)
        renews = call.version >= RENEWS_SINCE and request.is_renew_ack
        if renews and (request.max_bytes or request.min_bytes or request.max_records or request.max_wait_ms):
            return ShareFetchResponse(error_code=ErrorCode.INVALID_REQUEST)
        key = SessionKey(request.group_id, request.member_id)
        acknowledges = any(each.acknowledgement_batches for topic in request.topics for each in topic.partitions)
        try:
            session = self._session(request, key, call, acknowledges=acknowledges)
        except ShareSessionError as error:
            if error.code is ErrorCode.SHARE_SESSION_LIMIT_REACHED:
                await self._clock.sleep(min(request.max_wait_ms / 1000, _LONGEST_WAIT))
            return ShareFetchResponse(error_code=error.code)
        results: Results = {}
        if acknowledges:
            results = await self._acknowledgements.applied(request.topics, key, call, renews=request.is_renew_ack)
        found: dict[FetchedPartition, Data] = {}
        if session is not None and not renews:
            found = await self._fetched(request, session, call)
        response = self._response(request, session, found, call)
        if request.share_session_epoch == FINAL_EPOCH:
            await self._shares.release(key)
            await self._shares.coordinator.durable()
        return response if response.error_code else _with_results(response, results)

    def _session(
        self, request: ShareFetchRequest, key: SessionKey, call: Call, *, acknowledges: bool
    ) -> ShareSession | None:
        """The session as the request changes it; None for the last request of one.

        Raises:
            ShareSessionError: the request does not fit.
        """
        sessions, epoch = self._shares.sessions, request.share_session_epoch
        asked = {
            FetchedPartition(topic.topic_id, each.partition_index): self._acknowledgements.name_of(topic.topic_id)
            for topic in request.topics
            for each in topic.partitions
        }
        if epoch == FINAL_EPOCH:
            sessions.of(key)
            return None
        if epoch == INITIAL_EPOCH:
            if acknowledges:
                raise ShareSessionError(ErrorCode.INVALID_REQUEST)
            return sessions.begin(key, asked.items(), call.session.connection)
        session = sessions.of(key)
        session.check(epoch)
        forgotten = (
            FetchedPartition(topic.topic_id, number)
            for topic in request.forgotten_topics_data
            for number in topic.partitions
        )
        session.change(asked.items(), forgotten)
        session.advance()
        return session

    async def _fetched(
        self, request: ShareFetchRequest, session: ShareSession, call: Call
    ) -> dict[FetchedPartition, Data]:
        """What is found in the partitions of a session, by then or when the client waits no longer."""
        results: dict[FetchedPartition, Data] = {}
        partitions: dict[SharePartitionKey, SharePartition] = {}
        room = int(min(request.max_bytes, _MOST_BYTES, self._rates.most(call.session, call.client_id)))
        for fetched, name in _rotated([*session.names.items()], request.share_session_epoch):
            error = self._acknowledgements.partition_error(fetched, name, call)
            if error:
                results[fetched] = Data(fetched.partition, error, records=b"")
            elif request.max_records and room:
                key = SharePartitionKey(session.key.group_id, fetched.topic_id, fetched.partition)
                try:
                    partitions[key] = await self._shares.opened(key)
                except ShareError as refused:
                    results[fetched] = Data(fetched.partition, refused.code, records=b"")
        if partitions:
            deadline = self._clock.seconds() + min(request.max_wait_ms / 1000, _LONGEST_WAIT)
            is_strict = call.version >= RENEWS_SINCE and request.share_acquire_mode == _STRICT
            wanted = Wanted(session.key.member_id, request.max_records, request.batch_size, is_strict)
            reading = Reading(session.key.group_id, partitions, room, min(request.min_bytes, room))
            for key, found in (await self._read(reading, wanted, deadline)).items():
                results[FetchedPartition(key.topic_id, key.partition)] = _data(key.partition, found)
        return results

    async def _read(self, reading: Reading, wanted: Wanted, deadline: float) -> Mapping[SharePartitionKey, Found]:
        """Acquire records, once there are enough or the deadline has come."""
        while not self._reader.has_enough(reading):
            if not await self._more(reading.partitions, deadline):
                break
        return self._reader.acquired(reading, wanted)

    async def _more(self, keys: Iterable[SharePartitionKey], deadline: float) -> bool:
        """Wait until a partition changes, or a deadline; returns whether one has."""
        seconds = deadline - self._clock.seconds()
        if seconds <= 0:
            return False
        changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        forget = self._shares.wait(keys, changed)
        try:
            await asyncio.wait((changed, timer), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            forget()
        return changed.done()

    def _response(
        self,
        request: ShareFetchRequest,
        session: ShareSession | None,
        found: Mapping[FetchedPartition, Data],
        call: Call,
    ) -> ShareFetchResponse:
        """The response without acknowledgements; an empty one for a client that exceeds its quota (D14)."""
        lock_ms = self._shares.rules(request.group_id or "").lock_ms
        whole = ShareFetchResponse(acquisition_lock_timeout_ms=lock_ms, responses=_topics(found))
        size = len(whole.encode(call.version)) + 4 if self._rates.enabled else 0
        for_bytes = self._rates.record(call.session, call.client_id, size)
        throttle_time_ms = max(for_bytes, call.time.throttle_time_ms())
        if throttle_time_ms:
            self._rates.unrecord(call.session, call.client_id, size)
            return ShareFetchResponse(throttle_time_ms, acquisition_lock_timeout_ms=lock_ms)
        if session is None or request.share_session_epoch == INITIAL_EPOCH:
            return self._checked(whole)
        if session.epoch != _after(request.share_session_epoch):  # another request has come meanwhile
            code = ErrorCode.INVALID_SHARE_SESSION_EPOCH
            return ShareFetchResponse(error_code=code, acquisition_lock_timeout_ms=lock_ms)
        reported = {
            fetched: data
            for fetched, data in found.items()
            if session.reports(fetched, has_records=bool(data.records), has_error=bool(data.error_code))
        }
        return self._checked(replace(whole, responses=_topics(reported)))

    def _checked(self, response: ShareFetchResponse) -> ShareFetchResponse:
        """The response; as in Kafka, a topic that does not exist is an error of the whole request."""
        names = map(self._acknowledgements.name_of, (topic.topic_id for topic in response.responses))
        return ShareFetchResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR) if None in names else response


def _after(epoch: int) -> int:
    return 1 if epoch == (1 << 31) - 1 else epoch + 1


def _rotated(
    partitions: Sequence[tuple[FetchedPartition, str | None]], epoch: int
) -> Sequence[tuple[FetchedPartition, str | None]]:
    """The partitions, beginning with another one in each request, so that none waits for the others for ever."""
    at = epoch % len(partitions) if len(partitions) > 1 and epoch > 0 else 0
    return (*partitions[at:], *partitions[:at])


def _data(index: int, found: Found) -> Data:
    acquired = tuple(ShareFetchResponse.AcquiredRecords(each.first, each.last, each.count) for each in found.acquired)
    return Data(index, found.code, records=found.records, acquired_records=acquired)


def _topics(found: Mapping[FetchedPartition, Data]) -> Sequence[ShareFetchResponse.ShareFetchableTopicResponse]:
    by_topic: dict[Uuid, list[Data]] = {}
    for fetched, data in found.items():
        by_topic.setdefault(fetched.topic_id, []).append(data)
    return tuple(
        ShareFetchResponse.ShareFetchableTopicResponse(topic_id, tuple(partitions))
        for topic_id, partitions in by_topic.items()
    )


def _with_results(response: ShareFetchResponse, results: Results) -> ShareFetchResponse:
    """A response with the results of acknowledgements."""
    found = {
        FetchedPartition(topic.topic_id, data.partition_index): data
        for topic in response.responses
        for data in topic.partitions
    }
    for fetched, result in results.items():
        data = found.get(fetched, Data(fetched.partition, records=b""))
        found[fetched] = replace(data, acknowledge_error_code=result.code, acknowledge_error_message=result.message)
    return replace(response, responses=_topics(found))
