"""Initialize-, Read-, Write- and DeleteShareGroupState, and ReadShareGroupStateSummary (KIP-932).

Brokers send them to share coordinators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.share_coordinator.state_batches import StateBatch
from kafkawire.broker.share_coordinator.states import NO_EPOCH, UNINITIALIZED, SharePartitionKey, StateUpdate
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_WORDS: Final = {
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "Cluster authorization failed.",
    ErrorCode.FENCED_LEADER_EPOCH: "The leader epoch in the request is older than the epoch on the broker.",
    ErrorCode.FENCED_STATE_EPOCH: "The share coordinator rejected the request because the share-group state epoch "
    "did not match.",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
}
_NEGATIVE: Final = "The partition id cannot be a negative number."
_UNREAD: Final = "Read operation on uninitialized share partition not allowed."
_UNWRITTEN: Final = "Write operation on uninitialized share partition not allowed."

_Request: TypeAlias = (
    DeleteShareGroupStateRequest
    | InitializeShareGroupStateRequest
    | ReadShareGroupStateRequest
    | ReadShareGroupStateSummaryRequest
    | WriteShareGroupStateRequest
)

R = TypeVar("R")

Initialized = InitializeShareGroupStateResponse.PartitionResult
Read = ReadShareGroupStateResponse.PartitionResult
Wrote = WriteShareGroupStateResponse.PartitionResult
Deleted = DeleteShareGroupStateResponse.PartitionResult
Summary = ReadShareGroupStateSummaryResponse.PartitionResult


class _Error(NamedTuple):
    """An error of a partition.

    Attributes:
        code: the error.
        message: its text.
    """

    code: ErrorCode
    message: str

    @classmethod
    def of(cls, code: ErrorCode) -> _Error:
        """An error with Kafka's usual text."""
        return cls(code, _WORDS[code])


class ShareStateHandlers:
    """Read and change the recorded states of share partitions."""

    def __init__(self, context: HandlerContext) -> None:
        self._states = context.shares.states
        self._topics = context.controller.image.topics
        self._access = context.access
        self.apis = (
            ServedApi(InitializeShareGroupStateRequest, self._initialize, 0, 0),
            ServedApi(ReadShareGroupStateRequest, self._read, 0, 0),
            ServedApi(WriteShareGroupStateRequest, self._write, 0, 1),
            ServedApi(DeleteShareGroupStateRequest, self._delete, 0, 0),
            ServedApi(ReadShareGroupStateSummaryRequest, self._summarize, 0, 1),
        )

    async def _initialize(
        self, request: InitializeShareGroupStateRequest, call: Call
    ) -> InitializeShareGroupStateResponse:
        response = InitializeShareGroupStateResponse
        refused, results = self._refused(call), dict[Uuid, list[Initialized]]()
        if not request.group_id and not refused:
            return response()
        async for topic_id, asked in in_slices(
            [(topic.topic_id, each) for topic in request.topics for each in topic.partitions]
        ):
            key = SharePartitionKey(request.group_id, topic_id, asked.partition)
            error = refused or self._error(key) or self._fenced(key, state_epoch=asked.state_epoch)
            error = error or self._topic_error(key)
            if error is None:
                await self._states.prepare((key.owner,))
                self._states.initialize(*key, asked.state_epoch, asked.start_offset)
            results.setdefault(topic_id, []).append(Initialized(asked.partition, *error or ()))
        await self._states.durable()
        return response(tuple(response.InitializeStateResult(*each) for each in _in_tuples(results)))

    async def _read(self, request: ReadShareGroupStateRequest, call: Call) -> ReadShareGroupStateResponse:
        response, batch = ReadShareGroupStateResponse, ReadShareGroupStateResponse.StateBatch
        refused, results = self._refused(call), dict[Uuid, list[Read]]()
        if self._is_empty(request) and not refused:
            return response()
        async for topic_id, asked in in_slices(
            [(topic.topic_id, each) for topic in request.topics for each in topic.partitions]
        ):
            key = SharePartitionKey(request.group_id, topic_id, asked.partition)
            result, error = None, refused or self._error(key)
            if error is None and self._states.summary(*key) is None:
                error = _Error(ErrorCode.INVALID_REQUEST, _UNREAD)
            error = error or self._fenced(key, asked.leader_epoch) or self._topic_error(key)
            if error is None:
                await self._states.prepare((key.owner,))
                state = self._states.read_to_deliver(key, asked.leader_epoch)
                if isinstance(state, ErrorCode):
                    error = _Error(state, _WORDS.get(state, _UNREAD))
                else:
                    batches = tuple(
                        batch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
                        for each in state.batches
                    )
                    summary = state.summary
                    result = Read(
                        asked.partition,
                        state_epoch=summary.state_epoch,
                        start_offset=summary.start_offset,
                        state_batches=batches,
                    )
            results.setdefault(topic_id, []).append(result or Read(asked.partition, *error or ()))
        await self._states.durable()
        return response(tuple(response.ReadStateResult(*each) for each in _in_tuples(results)))

    async def _write(self, request: WriteShareGroupStateRequest, call: Call) -> WriteShareGroupStateResponse:
        response = WriteShareGroupStateResponse
        refused, results = self._refused(call), dict[Uuid, list[Wrote]]()
        if self._is_empty(request) and not refused:
            return response()
        async for topic_id, asked in in_slices(
            [(topic.topic_id, each) for topic in request.topics for each in topic.partitions]
        ):
            key = SharePartitionKey(request.group_id, topic_id, asked.partition)
            error = refused or self._error(key)
            if error is None and self._states.summary(*key) is None:
                error = _Error(ErrorCode.INVALID_REQUEST, _UNWRITTEN)
            error = error or self._fenced(key, asked.leader_epoch, asked.state_epoch) or self._topic_error(key)
            if error is None:
                await self._states.prepare((key.owner,))
                code = self._states.write(key, _update(asked))
                error = _Error(code, _WORDS.get(code, _UNWRITTEN)) if code else None
            results.setdefault(topic_id, []).append(Wrote(asked.partition, *error or ()))
        await self._states.durable()
        return response(tuple(response.WriteStateResult(*each) for each in _in_tuples(results)))

    async def _delete(self, request: DeleteShareGroupStateRequest, call: Call) -> DeleteShareGroupStateResponse:
        response = DeleteShareGroupStateResponse
        refused, results = self._refused(call), dict[Uuid, list[Deleted]]()
        if self._is_empty(request) and not refused:
            return response()
        async for topic_id, asked in in_slices(
            [(topic.topic_id, each) for topic in request.topics for each in topic.partitions]
        ):
            key = SharePartitionKey(request.group_id, topic_id, asked.partition)
            error = refused or self._error(key) or self._topic_error(key)
            if error is None:
                await self._states.prepare((key.owner,))
                self._states.delete(*key)
            results.setdefault(topic_id, []).append(Deleted(asked.partition, *error or ()))
        await self._states.durable()
        return response(tuple(response.DeleteStateResult(*each) for each in _in_tuples(results)))

    async def _summarize(
        self, request: ReadShareGroupStateSummaryRequest, call: Call
    ) -> ReadShareGroupStateSummaryResponse:
        response = ReadShareGroupStateSummaryResponse
        refused, results = self._refused(call), dict[Uuid, list[Summary]]()
        if self._is_empty(request) and not refused:
            return response()
        async for topic_id, asked in in_slices(
            [(topic.topic_id, each) for topic in request.topics for each in topic.partitions]
        ):
            key = SharePartitionKey(request.group_id, topic_id, asked.partition)
            error = refused or self._error(key) or self._topic_error(key)
            summary = self._states.summary(*key)
            if error is not None:
                result = Summary(asked.partition, *error)
            elif summary is None:
                result = Summary(asked.partition, start_offset=UNINITIALIZED, delivery_complete_count=UNINITIALIZED)
            else:
                result = Summary(
                    asked.partition,
                    state_epoch=summary.state_epoch,
                    leader_epoch=summary.leader_epoch,
                    start_offset=summary.start_offset,
                    delivery_complete_count=summary.delivery_complete_count,
                )
            results.setdefault(topic_id, []).append(result)
        await self._states.durable()
        return response(tuple(response.ReadStateSummaryResult(*each) for each in _in_tuples(results)))

    def _refused(self, call: Call) -> _Error | None:
        is_allowed = self._access.allows_on_cluster(call.session, AclOperation.CLUSTER_ACTION)
        return None if is_allowed else _Error.of(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    def _is_empty(self, request: _Request) -> bool:
        """Whether the response has nothing, as for a request that lacks its group or the partitions of a topic."""
        return not request.group_id or not all(topic.partitions for topic in request.topics)

    def _error(self, key: SharePartitionKey) -> _Error | None:
        return _Error(ErrorCode.INVALID_REQUEST, _NEGATIVE) if key.partition < 0 else None

    def _fenced(
        self, key: SharePartitionKey, leader_epoch: int = NO_EPOCH, state_epoch: int = NO_EPOCH
    ) -> _Error | None:
        code = self._states.fenced(key, leader_epoch, state_epoch)
        return _Error.of(code) if code else None

    def _topic_error(self, key: SharePartitionKey) -> _Error | None:
        topic = self._topics.by_id.get(key.topic_id)
        has_it = topic is not None and key.partition in topic.partitions
        return None if has_it else _Error.of(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _update(asked: WriteShareGroupStateRequest.PartitionData) -> StateUpdate:
    batches = tuple(
        StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in asked.state_batches
    )
    return StateUpdate(
        asked.state_epoch, asked.leader_epoch, asked.start_offset, asked.delivery_complete_count, batches
    )


def _in_tuples(results: dict[Uuid, list[R]]) -> Iterator[tuple[Uuid, Sequence[R]]]:
    return ((topic_id, tuple(partitions)) for topic_id, partitions in results.items())
