"""Deletion of topics, by name or by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from kafkawire.broker.authorization import Authorization
from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH, Controller
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.item_errors import ItemError, item_error
from kafkawire.broker.sessions import Session
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import AclOperation, ResourceType
from kafkawire.protocol import DeleteTopicsRequest, RemoveTopicRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError, ThrottlingQuotaExceededError

T = TypeVar("T")
_NO_ID = Uuid()
_UNAUTHORIZED = ItemError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed.")
_UNKNOWN_ID = ItemError(ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
_UNKNOWN_NAME = ItemError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")


@dataclass(frozen=True, slots=True)
class DeletedTopic:
    """The outcome of one topic.

    Attributes:
        name: None if the session may not learn it.
        topic_id: zero if the session may not learn it.
        error: None if the topic is deleted.
    """

    name: str | None
    topic_id: Uuid
    error: ItemError | None = None


class TopicDeletion:
    """The deletions of one request.

    Args:
        controller: commits the records.
        access: what sessions may do.
        session: the client.
        take: takes a number of partitions from a quota; raises ThrottlingQuotaExceededError.
    """

    def __init__(
        self, controller: Controller, access: Authorization, session: Session, take: Callable[[int], None]
    ) -> None:
        self._controller = controller
        self._topics = controller.image.topics
        self._access = access
        self._session = session
        self._take = take

    async def delete(self, request: DeleteTopicsRequest) -> list[DeletedTopic]:
        """Delete topics, in one commit.

        Raises:
            PolicyViolationError: there are too many; none is deleted.
        """
        if max(len(request.topics), len(request.topic_names)) > MAXIMUM_RECORDS:
            raise PolicyViolationError(TOO_LARGE_BATCH)
        async with self._controller.turn:
            return list(self._outcomes(request))

    def _outcomes(self, request: DeleteTopicsRequest) -> Iterator[DeletedTopic]:
        names, ids = Counter(request.topic_names), Counter[Uuid]()
        for topic in request.topics:
            has_id = topic.topic_id != _NO_ID
            if topic.name is None and not has_id:
                yield _refused(None, _NO_ID, "Neither topic name nor id were specified.")
            elif topic.name is None:
                ids[topic.topic_id] += 1
            elif has_id:
                yield _refused(topic.name, topic.topic_id, "You may not specify both topic name and topic id.")
            else:
                names[topic.name] += 1
        for name in _twice(names):
            yield _refused(name, _NO_ID, "Duplicate topic name.")
        for topic_id in _twice(ids):
            yield _refused(None, topic_id, "Duplicate topic id.")
        yield from self._found(names, ids)

    def _found(self, names: Counter[str], ids: Counter[Uuid]) -> Iterator[DeletedTopic]:
        deleted: dict[Uuid, Topic] = {}
        for topic_id in _once(ids):
            refused = self._refused_id(topic_id)
            if refused is None:
                deleted[topic_id] = self._topics.by_id[topic_id]
            else:
                yield refused
        taken = {*_twice(ids), *deleted}
        for name in _once(names):
            refused = self._refused_name(name)
            if refused is not None:
                yield refused
                continue
            topic = self._topics.by_name[name]
            if topic.topic_id in taken:
                deleted.pop(topic.topic_id, None)
                message = "The provided topic name maps to an ID that was already supplied."
                yield _refused(name, topic.topic_id, message)
            else:
                deleted[topic.topic_id] = topic
        yield from self._deleted(deleted)

    def _refused_id(self, topic_id: Uuid) -> DeletedTopic | None:
        topic = self._topics.by_id.get(topic_id)
        if topic is None:
            return DeletedTopic(None, topic_id, _UNKNOWN_ID)
        if self._may(AclOperation.DELETE, topic.name):
            return None
        visible_name = topic.name if self._may(AclOperation.DESCRIBE, topic.name) else None
        return DeletedTopic(visible_name, topic_id, _UNAUTHORIZED)

    def _refused_name(self, name: str) -> DeletedTopic | None:
        error = None
        if not self._may(AclOperation.DESCRIBE, name):
            error = _UNAUTHORIZED
        elif name not in self._topics.by_name:
            error = _UNKNOWN_NAME
        elif not self._may(AclOperation.DELETE, name):
            error = _UNAUTHORIZED
        return None if error is None else DeletedTopic(name, _NO_ID, error)

    def _deleted(self, deleted: dict[Uuid, Topic]) -> Iterator[DeletedTopic]:
        records = []
        for topic_id, topic in deleted.items():
            try:
                self._take(len(topic.partitions))
            except ThrottlingQuotaExceededError as error:
                yield DeletedTopic(topic.name, topic_id, item_error(error, "asking a quota"))
                continue
            records.append(RemoveTopicRecord(topic_id))
            yield DeletedTopic(topic.name, topic_id)
        if len(records) > MAXIMUM_RECORDS:
            raise PolicyViolationError(TOO_LARGE_BATCH)
        self._controller.commit(records)

    def _may(self, operation: AclOperation, name: str) -> bool:
        delete_all = self._access.allows_on_cluster(self._session, AclOperation.DELETE)
        return delete_all or self._access.allows(self._session, operation, ResourceType.TOPIC, name)


def _refused(name: str | None, topic_id: Uuid, message: str) -> DeletedTopic:
    return DeletedTopic(name, topic_id, ItemError(ErrorCode.INVALID_REQUEST, message))


def _twice(counted: Counter[T]) -> list[T]:
    return [one for one, times in counted.items() if times > 1]


def _once(counted: Counter[T]) -> list[T]:
    return [one for one, times in counted.items() if times == 1]
