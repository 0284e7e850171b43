"""Clients that try again until a request is acknowledged, as applications do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self, TypeVar

from tests.embedded.connection import BrokerConnection, connected_to

from kafkawire.broker import EmbeddedBroker
from kafkawire.protocol import (
    FetchRequest,
    FetchResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    ProduceRequest,
    ProduceResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message
from kafkawire.wire.batches import Record, decode_records, encode_batch, read_batches

R = TypeVar("R", bound=Message)

_MOST_ATTEMPTS: Final = 200
_RETRIABLE: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REQUEST_TIMED_OUT,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
_NEW_MEMBER: Final = frozenset(
    {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.MEMBER_ID_REQUIRED}
)
_AGAIN: Final = ErrorCode.REBALANCE_IN_PROGRESS


class StubbornClient:
    """Sends each request until it is answered without an error that clients retry.

    Args:
        broker: in the same event loop.
        client_id: of all requests.
    """

    def __init__(self, broker: EmbeddedBroker, client_id: str) -> None:
        self._broker = broker
        self._client_id = client_id
        self._open = AsyncExitStack()
        self._connection: BrokerConnection | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def ask(self, request: Message, version: int, response: type[R], error_of: Callable[[R], int]) -> R:
        """The first answer that says more than to try again.

        Args:
            request, version, response: as of `BrokerConnection.ask`.
            error_of: the error in an answer.
        """
        for _ in range(_MOST_ATTEMPTS):
            try:
                answer = await (await self._connected()).ask(request, version, response)
            except (asyncio.IncompleteReadError, OSError):
                self._connection = None
                await asyncio.sleep(0.001)
                continue
            if error_of(answer) not in _RETRIABLE:
                return answer
        raise AssertionError(f"{request.NAME} was not answered in {_MOST_ATTEMPTS} attempts")

    async def _connected(self) -> BrokerConnection:
        if self._connection is None:
            self._connection = await self._open.enter_async_context(connected_to(self._broker, self._client_id))
        return self._connection


class IdempotentProducer(StubbornClient):
    """Produces each batch until it is acknowledged, with the sequence that it had first."""

    _producer: InitProducerIdResponse | None = None
    _sequence = 0

    async def produce(self, topic: str, values: Sequence[bytes]) -> None:
        """Append records to partition 0, exactly once."""
        if self._producer is None:
            request = InitProducerIdRequest(None, 60_000)
            self._producer = await self.ask(request, 4, InitProducerIdResponse, lambda answer: answer.error_code)
        batch = encode_batch(
            [Record(timestamp=1_767_225_600_000, key=None, value=value) for value in values],
            producer_id=self._producer.producer_id,
            producer_epoch=self._producer.producer_epoch,
            base_sequence=self._sequence,
        )
        partition = (ProduceRequest.PartitionProduceData(0, batch),)
        request_of_batch = ProduceRequest(
            acks=-1, timeout_ms=1000, topic_data=(ProduceRequest.TopicProduceData(topic, partition_data=partition),)
        )
        answer = await self.ask(request_of_batch, 9, ProduceResponse, _produce_error)
        assert _produce_error(answer) in {0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER}, answer
        self._sequence += len(values)


class GroupMember(StubbornClient):
    """The only member of a group: joins until it is in, and commits as a member."""

    member_id = ""
    generation = -1

    async def commit(self, group: str, topic: str, offset: int) -> None:
        """Commit an offset of partition 0."""
        for _ in range(_MOST_ATTEMPTS):
            if self.generation < 0:
                await self._join(group)
            partition = (OffsetCommitRequest.OffsetCommitRequestPartition(0, offset),)
            topics = (OffsetCommitRequest.OffsetCommitRequestTopic(topic, partitions=partition),)
            request = OffsetCommitRequest(group, self.generation, self.member_id, topics=topics)
            answer = await self.ask(request, 7, OffsetCommitResponse, _commit_error)
            error = _commit_error(answer)
            if error == 0:
                return
            assert error in {*_NEW_MEMBER, _AGAIN}, answer
            self._forget(error)
        raise AssertionError("no commit was accepted")

    async def committed(self, group: str, topic: str) -> int:
        """The offset of partition 0 that the group has."""
        topics = (OffsetFetchRequest.OffsetFetchRequestTopic(topic, (0,)),)
        request = OffsetFetchRequest(group, topics)
        answer = await self.ask(request, 7, OffsetFetchResponse, lambda answer: answer.error_code)
        return answer.topics[0].partitions[0].committed_offset

    async def _join(self, group: str) -> None:
        while self.generation < 0:
            protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range"),)
            join = JoinGroupRequest(group, 10_000, 60_000, self.member_id, None, "consumer", protocols)
            joined = await self.ask(join, 4, JoinGroupResponse, lambda answer: answer.error_code)
            if joined.error_code:
                assert joined.error_code in {*_NEW_MEMBER, _AGAIN}, joined
                self.member_id = joined.member_id if joined.error_code == ErrorCode.MEMBER_ID_REQUIRED else ""
                continue
            assigned = (SyncGroupRequest.SyncGroupRequestAssignment(joined.member_id, b"a"),)
            sync = SyncGroupRequest(group, joined.generation_id, joined.member_id, assignments=assigned)
            synced = await self.ask(sync, 3, SyncGroupResponse, lambda answer: answer.error_code)
            self.member_id = joined.member_id
            if synced.error_code == 0:
                self.generation = joined.generation_id
            else:
                self._forget(synced.error_code)

    def _forget(self, error: int) -> None:
        self.generation = -1
        if error == ErrorCode.UNKNOWN_MEMBER_ID:
            self.member_id = ""


async def every_value(client: StubbornClient, topic: str) -> list[bytes]:
    """The values of all records in partition 0."""
    values: list[bytes] = []
    offset = 0
    while True:
        partition = (FetchRequest.FetchPartition(0, fetch_offset=offset, partition_max_bytes=1 << 20),)
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, topics=(FetchRequest.FetchTopic(topic, partitions=partition),)
        )
        answer = await client.ask(request, 12, FetchResponse, lambda a: a.responses[0].partitions[0].error_code)
        records = bytes(answer.responses[0].partitions[0].records or b"")
        if not records:
            return values
        for batch in read_batches(records):
            values += [record.value or b"" for record in decode_records(batch)]
            offset = batch.base_offset + batch.last_offset_delta + 1


def _produce_error(answer: ProduceResponse) -> int:
    return answer.responses[0].partition_responses[0].error_code


def _commit_error(answer: OffsetCommitResponse) -> int:
    return answer.topics[0].partitions[0].error_code
