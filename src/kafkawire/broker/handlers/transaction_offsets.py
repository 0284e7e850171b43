"""AddOffsetsToTxn and TxnOffsetCommit: offsets that a group commits with a transaction."""

from __future__ import annotations

from itertools import starmap
from typing import Final

from msgspec import structs

from kafkawire.broker.handlers.commit_results import TopicResults, by_topic, metadata_error, usable_topics
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.handlers.transactions import error_of_version, may_write
from kafkawire.broker.internal_topics.entries import Change
from kafkawire.broker.partitions.verifications import TransactionalWrite
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.topic_names import OFFSETS_TOPIC
from kafkawire.broker.transactions.transaction import Partition
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    OffsetCommitKey,
    OffsetCommitValue,
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_FENCED_SINCE: Final = 2
_ABORTABLE_SINCE: Final = 4
_ADDS_SINCE: Final = 5
_IDS_SINCE: Final = 6

_CommittedTopic = TxnOffsetCommitResponse.TxnOffsetCommitResponseTopic
_CommittedPartition = TxnOffsetCommitResponse.TxnOffsetCommitResponsePartition
_Topic = TxnOffsetCommitRequest.TxnOffsetCommitRequestTopic
_Place = tuple[_Topic, TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition]


class TransactionOffsetHandlers:
    """Commit the offsets of groups with transactions (KIP-98, KIP-447)."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._transactions = context.transactions
        self._coordinator = context.coordinator
        self._groups = context.groups
        self._access = context.access
        self._clock = context.clock
        self.apis = (
            ServedApi(AddOffsetsToTxnRequest, self._add_offsets, 0, 4),
            ServedApi(TxnOffsetCommitRequest, self._commit, 0, 5, highest_later=6),
        )

    async def _add_offsets(self, request: AddOffsetsToTxnRequest, call: Call) -> AddOffsetsToTxnResponse:
        if refused := self._refused(request.transactional_id, request.group_id, call):
            return AddOffsetsToTxnResponse(error_code=refused)
        producer = Producer(request.producer_id, request.producer_epoch)
        error = await self._transactions.add_partitions(
            request.transactional_id, producer, [(OFFSETS_TOPIC, self._partition_of(request.group_id))]
        )
        return AddOffsetsToTxnResponse(error_code=error_of_version(error, call.version, _FENCED_SINCE))

    async def _commit(self, request: TxnOffsetCommitRequest, call: Call) -> TxnOffsetCommitResponse | Refused:
        if refused := self._refused(request.transactional_id, request.group_id, call):
            return Refused(refused)
        named = [self._named(each, by_id=call.version >= _IDS_SINCE) for each in request.topics]
        places = [(topic, each) for topic in named for each in topic.partitions]
        unusable = {_key(place): self._error(*_key(place), call) for place in places}
        errors_of = ([unusable[_key((topic, each))] for each in topic.partitions] for topic in named)
        usable = structs.replace(request, topics=usable_topics(zip(named, errors_of, strict=True)))
        errors = unusable | (await self._committed(usable, call) if usable.topics else {})
        results = [_results(*each, unusable, errors) for each in zip(request.topics, named, strict=True)]
        return TxnOffsetCommitResponse(topics=tuple(starmap(_CommittedTopic, by_topic(results))))

    def _named(self, asked: _Topic, *, by_id: bool) -> _Topic:
        """The topic of a request with its name, which is empty for an unknown id."""
        topic = self._topics.by_id.get(asked.topic_id) if by_id else None
        return asked if topic is None else structs.replace(asked, name=topic.name)

    async def _committed(self, request: TxnOffsetCommitRequest, call: Call) -> dict[Partition, ErrorCode]:
        """Commit the offsets of existing partitions; returns the errors for them."""
        places = [(topic, each) for topic in request.topics for each in topic.partitions]
        error = await self._group_error(request, call)
        if error:
            return {_key(place): error for place in places}
        errors = {_key(place): metadata_error(place[1].committed_metadata) for place in places}
        changes = [self._change(request.group_id, *place) for place in places if not errors[_key(place)]]
        producer = Producer(request.producer_id, request.producer_epoch)
        self._coordinator.commit(changes, producer)
        await self._coordinator.durable()
        return errors

    async def _group_error(self, request: TxnOffsetCommitRequest, call: Call) -> ErrorCode:
        """Why no offset is committed; after NONE, the log of the group is prepared."""
        if not request.group_id:
            return ErrorCode.INVALID_GROUP_ID
        place = (OFFSETS_TOPIC, self._partition_of(request.group_id))
        producer = Producer(request.producer_id, request.producer_epoch)
        write = TransactionalWrite(
            request.transactional_id, *producer, partitions=[place], adds=call.version >= _ADDS_SINCE
        )
        error = (await self._transactions.confirm(write)).get(place, ErrorCode.NONE)
        if not error:
            await self._coordinator.prepare([request.group_id])
            # The transaction may have timed out meanwhile.
            found = self._transactions.errors(request.transactional_id, producer, [place])
            error = found.get(place, ErrorCode.NONE)
        return _for_clients(error, call.version) or self._member_error(request)

    def _member_error(self, request: TxnOffsetCommitRequest) -> ErrorCode:
        if self._groups.share.group(request.group_id) is not None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        rules = self._groups.commit_rules(request.group_id)
        if rules is None:
            return self._groups.classic.transactional_commit_error(request)
        return rules.transactional_commit_error(request)

    def _change(
        self, group_id: str, topic: _Topic, asked: TxnOffsetCommitRequest.TxnOffsetCommitRequestPartition
    ) -> Change:
        value = OffsetCommitValue(
            offset=asked.committed_offset,
            leader_epoch=asked.committed_leader_epoch,
            metadata=asked.committed_metadata or "",
            commit_timestamp=self._clock.now_ms(),
            expire_timestamp=-1,
            topic_id=topic.topic_id,
        )
        return OffsetCommitKey(group_id, topic.name, asked.partition_index), value

    def _error(self, name: str, number: int, call: Call) -> ErrorCode:
        topic, by_id = self._topics.by_name.get(name), call.version >= _IDS_SINCE
        if refused := self._access.topic_error(call.session, AclOperation.READ, topic, name, by_id=by_id):
            return refused
        exists = topic is not None and number in topic.partitions
        return ErrorCode.NONE if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def _refused(self, transactional_id: str, group_id: str, call: Call) -> ErrorCode:
        if not may_write(self._access, call, transactional_id):
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, group_id):
            return ErrorCode.GROUP_AUTHORIZATION_FAILED
        return ErrorCode.NONE

    def _partition_of(self, group_id: str) -> int:
        return self._coordinator.partition_of(group_id)


def _key(place: _Place) -> Partition:
    return place[0].name, place[1].partition_index


def _for_clients(error: ErrorCode, version: int) -> ErrorCode:
    """The error of the transaction coordinator as clients of the group coordinator expect it."""
    if error is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.TRANSACTION_ABORTABLE and version < _ABORTABLE_SINCE:
        return ErrorCode.INVALID_TXN_STATE
    return error


def _results(
    asked: _Topic, topic: _Topic, unusable: dict[Partition, ErrorCode], errors: dict[Partition, ErrorCode]
) -> TopicResults[_CommittedPartition]:
    results: TopicResults[_CommittedPartition] = TopicResults(asked.name, asked.topic_id, [], [])
    for each in topic.partitions:
        key = _key((topic, each))
        (results.refused if unusable[key] else results.others).append(_CommittedPartition(key[1], errors[key]))
    return results
