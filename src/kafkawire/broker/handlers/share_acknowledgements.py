"""ShareAcknowledge, and the acknowledgements that come with ShareFetch (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.features import SHARE_FEATURE
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.share_coordinator.state import SharePartitionKey
from kafkawire.broker.shares.acknowledging import Acknowledgement, AcknowledgeType
from kafkawire.broker.shares.live_shares import ShareError
from kafkawire.broker.shares.sessions import FINAL_EPOCH, INITIAL_EPOCH, FetchedPartition, SessionKey, ShareSessionError
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import ShareAcknowledgeRequest, ShareAcknowledgeResponse, ShareFetchRequest
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire.message import Struct

RENEWS_SINCE: Final = 2
"""The first version of ShareFetch and ShareAcknowledge with renewals."""

_LONGEST_MEMBER_ID: Final = 36

AskedTopics: TypeAlias = Sequence[ShareFetchRequest.FetchTopic] | Sequence[ShareAcknowledgeRequest.AcknowledgeTopic]


class Result(Struct, frozen=True, gc=False):
    """The result of the acknowledgements of a partition.

    Attributes:
        code: the error.
        message: its text, if it has one.
    """

    code: ErrorCode = ErrorCode.NONE
    message: str | None = None


Results: TypeAlias = dict[FetchedPartition, Result]


class ShareAcknowledgements:
    """Applies the acknowledgements of requests."""

    def __init__(self, context: HandlerContext) -> None:
        self._shares = context.shares
        self._topics = context.controller.image.topics
        self._features = context.controller.image.features
        self._access = context.access

    def refused(self, group_id: str | None, member_id: str | None, call: Call) -> ErrorCode:
        """The error for a request as a whole, where share groups are not served (``share.version``), or if it names no
        group or member, or one that the client may not use.
        """
        if not self._features.levels.get(SHARE_FEATURE):
            return ErrorCode.UNSUPPORTED_VERSION
        if group_id is None:
            return ErrorCode.INVALID_REQUEST
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.GROUP, group_id):
            return ErrorCode.GROUP_AUTHORIZATION_FAILED
        return ErrorCode.NONE if member_id and len(member_id) <= _LONGEST_MEMBER_ID else ErrorCode.INVALID_REQUEST

    def partition_error(self, fetched: FetchedPartition, name: str | None, call: Call) -> ErrorCode:
        """The error for a partition.

        Args:
            fetched: the partition.
            name: the name that its topic had when the client named it; None if there was none.
            call: the request.
        """
        if name is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if not self._access.allows(call.session, AclOperation.READ, ResourceType.TOPIC, name):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        topic = self._topics.by_id.get(fetched.topic_id)
        has_it = topic is not None and fetched.partition in topic.partitions
        return ErrorCode.NONE if has_it else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def name_of(self, topic_id: Uuid) -> str | None:
        """The name of a topic; None if there is none."""
        topic = self._topics.by_id.get(topic_id)
        return None if topic is None else topic.name

    async def applied(self, topics: AskedTopics, session: SessionKey, call: Call, *, renews: bool) -> Results:
        """Apply what a member says of records; it is durable on return.

        Args:
            topics: of the request.
            session: whose they are.
            call: the request.
            renews: whether the request may renew locks (``IsRenewAck``).

        Raises:
            StorageError: a log has failed.
        """
        results: Results = {}
        asked: dict[FetchedPartition, Sequence[Acknowledgement]] = {}
        for fetched, acknowledgements in _each_partition(topics):
            name = self.name_of(fetched.topic_id)
            if name is None:
                results[fetched] = Result(ErrorCode.UNKNOWN_TOPIC_ID)
            elif not _are_valid(acknowledgements, call.version, renews=renews):
                results[fetched] = Result(ErrorCode.INVALID_REQUEST)
            elif error := self.partition_error(fetched, name, call):
                results[fetched] = Result(error)
            else:
                asked[fetched] = acknowledgements
        if any(asked.values()):
            async for fetched, acknowledgements in in_slices(asked.items()):
                results[fetched] = await self._apply(fetched, session, acknowledgements)
            await self._shares.coordinator.durable()
        return results

    async def _apply(
        self, fetched: FetchedPartition, session: SessionKey, acknowledgements: Sequence[Acknowledgement]
    ) -> Result:
        if not acknowledgements:
            return Result()
        try:
            key = SharePartitionKey(session.group_id, fetched.topic_id, fetched.partition)
            await self._shares.acknowledge(key, session.member_id, acknowledgements)
        except ShareError as error:
            return Result(error.code, error.message)
        return Result()


class ShareAcknowledgeHandlers:
    """Let members acknowledge records without fetching more."""

    def __init__(self, context: HandlerContext) -> None:
        self._shares = context.shares
        self._acknowledgements = ShareAcknowledgements(context)
        self.apis = (ServedApi(ShareAcknowledgeRequest, self._acknowledge, 1, 2),)

    async def _acknowledge(self, request: ShareAcknowledgeRequest, call: Call) -> ShareAcknowledgeResponse:
        refused = self._acknowledgements.refused(request.group_id, request.member_id, call)
        if refused or request.group_id is None or request.member_id is None:
            return ShareAcknowledgeResponse(error_code=refused)
        key = SessionKey(request.group_id, request.member_id)
        try:
            self._advance(key, request.share_session_epoch)
        except ShareSessionError as error:
            return ShareAcknowledgeResponse(error_code=error.code)
        results = await self._acknowledgements.applied(request.topics, key, call, renews=request.is_renew_ack)
        if request.share_session_epoch == FINAL_EPOCH:
            await self._shares.release(key)
            await self._shares.coordinator.durable()
        return ShareAcknowledgeResponse(
            acquisition_lock_timeout_ms=self._shares.rules(key.group_id).lock_ms, responses=_topics(results)
        )

    def _advance(self, key: SessionKey, epoch: int) -> None:
        if epoch == INITIAL_EPOCH:
            raise ShareSessionError(ErrorCode.INVALID_SHARE_SESSION_EPOCH)
        session = self._shares.sessions.of(key)
        if epoch != FINAL_EPOCH:
            session.check(epoch)
            session.advance()


def _each_partition(topics: AskedTopics) -> Iterator[tuple[FetchedPartition, Sequence[Acknowledgement]]]:
    for topic in topics:
        for partition in topic.partitions:
            yield (
                FetchedPartition(topic.topic_id, partition.partition_index),
                [
                    Acknowledgement(batch.first_offset, batch.last_offset, batch.acknowledge_types)
                    for batch in partition.acknowledgement_batches
                ],
            )


def _are_valid(acknowledgements: Sequence[Acknowledgement], version: int, *, renews: bool) -> bool:
    """Whether acknowledgements are in order, and each has one type or one for each offset."""
    known = set(AcknowledgeType) if version >= RENEWS_SINCE else set(AcknowledgeType) - {AcknowledgeType.RENEW}
    end = -1
    for each in acknowledgements:
        if each.first > each.last or each.first < end or not each.types:
            return False
        if len(each.types) > 1 and each.last - each.first != len(each.types) - 1:
            return False
        if not known.issuperset(each.types) or (AcknowledgeType.RENEW in each.types and not renews):
            return False
        end = each.last
    return True


def _topics(
    results: Mapping[FetchedPartition, Result],
) -> Sequence[ShareAcknowledgeResponse.ShareAcknowledgeTopicResponse]:
    by_topic: dict[Uuid, list[ShareAcknowledgeResponse.PartitionData]] = {}
    for (topic_id, index), result in results.items():
        data = ShareAcknowledgeResponse.PartitionData(index, result.code, result.message)
        by_topic.setdefault(topic_id, []).append(data)
    return tuple(
        ShareAcknowledgeResponse.ShareAcknowledgeTopicResponse(topic_id, tuple(partitions))
        for topic_id, partitions in by_topic.items()
    )
