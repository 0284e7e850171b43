"""Initialize-, Read-, Write- and DeleteShareGroupState, and ReadShareGroupStateSummary (KIP-932).

Brokers send them to share coordinators.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.share_coordinator.coordinator import FENCED, UNWRITTEN
from kafkawire.broker.share_coordinator.state import NO_EPOCH, UNINITIALIZED, SharePartitionKey, ShareState, StateUpdate
from kafkawire.broker.share_coordinator.state_batches import StateBatch
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
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
    **FENCED,
}
_NEGATIVE: Final = "The partition id cannot be a negative number."
_UNREAD: Final = "Read operation on uninitialized share partition not allowed."

P = TypeVar("P", bound="_AskedPartition")
P_co = TypeVar("P_co", bound="_AskedPartition", covariant=True)
R = TypeVar("R")


class _AskedPartition(Protocol):
    """A partition in a request."""

    @property
    def partition(self) -> int: ...


class _AskedTopic(Protocol[P_co]):
    """A topic in a request."""

    @property
    def topic_id(self) -> Uuid: ...
    @property
    def partitions(self) -> Sequence[P_co]: ...


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
        self._coordinator = context.shares.coordinator
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
        async def initialized(
            key: SharePartitionKey, asked: InitializeShareGroupStateRequest.PartitionData, error: _Error | None
        ) -> Initialized:
            error = error or self._fenced(key, state_epoch=asked.state_epoch) or self._topic_error(key)
            if error is None:
                await self._coordinator.prepare((key.owner,))
                self._coordinator.initialize(*key, asked.state_epoch, asked.start_offset)
            return Initialized(asked.partition, *error or ())

        results = await self._of_each(request.group_id, request.topics, call, initialized, may_lack_partitions=True)
        return InitializeShareGroupStateResponse(
            tuple(InitializeShareGroupStateResponse.InitializeStateResult(*each) for each in results)
        )

    async def _read(self, request: ReadShareGroupStateRequest, call: Call) -> ReadShareGroupStateResponse:
        async def read(
            key: SharePartitionKey, asked: ReadShareGroupStateRequest.PartitionData, error: _Error | None
        ) -> Read:
            if error is None and self._coordinator.summary(*key) is None:
                error = _Error(ErrorCode.INVALID_REQUEST, _UNREAD)
            error = error or self._fenced(key, asked.leader_epoch) or self._topic_error(key)
            if error is not None:
                return Read(asked.partition, *error)
            await self._coordinator.prepare((key.owner,))
            state = self._coordinator.read_to_deliver(key, asked.leader_epoch)
            if isinstance(state, ErrorCode):
                return Read(asked.partition, state, _WORDS.get(state, _UNREAD))
            return _recorded(asked.partition, state)

        results = await self._of_each(request.group_id, request.topics, call, read)
        return ReadShareGroupStateResponse(
            tuple(ReadShareGroupStateResponse.ReadStateResult(*each) for each in results)
        )

    async def _write(self, request: WriteShareGroupStateRequest, call: Call) -> WriteShareGroupStateResponse:
        async def written(
            key: SharePartitionKey, asked: WriteShareGroupStateRequest.PartitionData, error: _Error | None
        ) -> Wrote:
            if error is None and self._coordinator.summary(*key) is None:
                error = _Error(ErrorCode.INVALID_REQUEST, UNWRITTEN)
            error = error or self._fenced(key, asked.leader_epoch, asked.state_epoch) or self._topic_error(key)
            if error is None:
                await self._coordinator.prepare((key.owner,))
                code = self._coordinator.write(key, _update(asked))
                error = _Error(code, _WORDS.get(code, UNWRITTEN)) if code else None
            return Wrote(asked.partition, *error or ())

        results = await self._of_each(request.group_id, request.topics, call, written)
        return WriteShareGroupStateResponse(
            tuple(WriteShareGroupStateResponse.WriteStateResult(*each) for each in results)
        )

    async def _delete(self, request: DeleteShareGroupStateRequest, call: Call) -> DeleteShareGroupStateResponse:
        async def deleted(
            key: SharePartitionKey, asked: DeleteShareGroupStateRequest.PartitionData, error: _Error | None
        ) -> Deleted:
            error = error or self._topic_error(key)
            if error is None:
                await self._coordinator.prepare((key.owner,))
                self._coordinator.delete(*key)
            return Deleted(asked.partition, *error or ())

        results = await self._of_each(request.group_id, request.topics, call, deleted)
        return DeleteShareGroupStateResponse(
            tuple(DeleteShareGroupStateResponse.DeleteStateResult(*each) for each in results)
        )

    async def _summarize(
        self, request: ReadShareGroupStateSummaryRequest, call: Call
    ) -> ReadShareGroupStateSummaryResponse:
        async def summarized(
            key: SharePartitionKey, asked: ReadShareGroupStateSummaryRequest.PartitionData, error: _Error | None
        ) -> Summary:
            error, summary = error or self._topic_error(key), self._coordinator.summary(*key)
            if error is not None:
                return Summary(asked.partition, *error)
            if summary is None:
                return Summary(asked.partition, start_offset=UNINITIALIZED, delivery_complete_count=UNINITIALIZED)
            return Summary(
                asked.partition,
                state_epoch=summary.state_epoch,
                leader_epoch=summary.leader_epoch,
                start_offset=summary.start_offset,
                delivery_complete_count=summary.delivery_complete_count,
            )

        results = await self._of_each(request.group_id, request.topics, call, summarized)
        return ReadShareGroupStateSummaryResponse(
            tuple(ReadShareGroupStateSummaryResponse.ReadStateSummaryResult(*each) for each in results)
        )

    async def _of_each(
        self,
        group_id: str,
        topics: Sequence[_AskedTopic[P]],
        call: Call,
        result: Callable[[SharePartitionKey, P, _Error | None], Awaitable[R]],
        *,
        may_lack_partitions: bool = False,
    ) -> Sequence[tuple[Uuid, Sequence[R]]]:
        """The results of all partitions by topic, once they are durable.

        Args:
            group_id, topics: of the request. Without a group the answer is empty; so it is if a topic has no
                partitions, unless ``may_lack_partitions``.
            call: whose rights count.
            result: makes the result of a partition, with the error that is known already.
        """
        refused, results = self._refused(call), dict[Uuid, list[R]]()
        is_whole = group_id and (may_lack_partitions or all(topic.partitions for topic in topics))
        if not is_whole and not refused:
            return ()
        async for topic_id, asked in in_slices(
            [(topic.topic_id, each) for topic in topics for each in topic.partitions]
        ):
            key = SharePartitionKey(group_id, topic_id, asked.partition)
            results.setdefault(topic_id, []).append(await result(key, asked, refused or self._error(key)))
        await self._coordinator.durable()
        return [(topic_id, tuple(found)) for topic_id, found in results.items()]

    def _refused(self, call: Call) -> _Error | None:
        is_allowed = self._access.allows_on_cluster(call.session, AclOperation.CLUSTER_ACTION)
        return None if is_allowed else _Error.of(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)

    def _error(self, key: SharePartitionKey) -> _Error | None:
        return _Error(ErrorCode.INVALID_REQUEST, _NEGATIVE) if key.partition < 0 else None

    def _fenced(
        self, key: SharePartitionKey, leader_epoch: int = NO_EPOCH, state_epoch: int = NO_EPOCH
    ) -> _Error | None:
        code = self._coordinator.fenced(key, leader_epoch, state_epoch)
        return _Error.of(code) if code else None

    def _topic_error(self, key: SharePartitionKey) -> _Error | None:
        topic = self._topics.by_id.get(key.topic_id)
        has_it = topic is not None and key.partition in topic.partitions
        return None if has_it else _Error.of(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _recorded(partition: int, state: ShareState) -> Read:
    batch = ReadShareGroupStateResponse.StateBatch
    return Read(
        partition,
        state_epoch=state.summary.state_epoch,
        start_offset=state.summary.start_offset,
        state_batches=tuple(
            batch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
            for each in state.batches
        ),
    )


def _update(asked: WriteShareGroupStateRequest.PartitionData) -> StateUpdate:
    batches = tuple(
        StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
        for each in asked.state_batches
    )
    return StateUpdate(
        asked.state_epoch, asked.leader_epoch, asked.start_offset, asked.delivery_complete_count, batches
    )
