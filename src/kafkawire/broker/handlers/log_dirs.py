"""DescribeLogDirs and AlterReplicaLogDirs: the one directory of the broker (KIP-113, KIP-827, KIP-1066)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Set
from typing import Final

from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from kafkawire.protocol.error_codes import ErrorCode

_log = logging.getLogger(__name__)
_LONGEST_FOLDER: Final = 255
_SUFFIX_OF_MOVED: Final = len("-.-future") + 32
"""What the name of a moved partition's folder has besides topic and number: a uuid without hyphens, and these."""

_Result = DescribeLogDirsResponse.DescribeLogDirsResult
_Topic = DescribeLogDirsResponse.DescribeLogDirsTopic
_Partition = DescribeLogDirsResponse.DescribeLogDirsPartition
_Altered = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult
_AlteredPartition = AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult


class LogDirHandlers:
    """Describe the directory with all partitions; a partition can be moved to where it is already."""

    def __init__(self, context: HandlerContext) -> None:
        self._topics = context.controller.image.topics
        self._store = context.store
        self._access = context.access
        self.apis = (
            ServedApi(DescribeLogDirsRequest, self._describe, 1, 5),
            ServedApi(AlterReplicaLogDirsRequest, self._alter, 1, 2, refuse=_refuse),
        )

    async def _describe(self, request: DescribeLogDirsRequest, call: Call) -> DescribeLogDirsResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.DESCRIBE):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        asked: dict[str, Set[int] | None] = dict.fromkeys(self._topics.by_name)
        if request.topics is not None:
            named: dict[str, set[int]] = {}
            for topic in request.topics:
                named.setdefault(topic.topic, set()).update(topic.partitions)
            asked = dict(named)
        try:
            result = await self._described(asked)
        except OSError as error:
            _log.error("The log directory cannot be described: %s", error)
            result = _Result(ErrorCode.KAFKA_STORAGE_ERROR)
        return DescribeLogDirsResponse(results=(result,))

    async def _described(self, asked: Mapping[str, Set[int] | None]) -> _Result:
        """The directory with the partitions of topics; None for all of a topic."""
        directory = self._store.directory()
        topics = [
            described
            async for name, numbers in in_slices(asked.items())
            if (described := self._topic(name, numbers)).partitions
        ]
        return _Result(
            log_dir=directory.path,
            topics=tuple(topics),
            total_bytes=directory.total_bytes,
            usable_bytes=directory.usable_bytes,
        )

    def _topic(self, name: str, numbers: Set[int] | None) -> _Topic:
        topic = self._topics.by_name.get(name)
        if topic is None:
            return _Topic(name)
        known: Iterable[int] = topic.partitions if numbers is None else topic.partitions.keys() & numbers
        return _Topic(name, tuple(_Partition(number, self._store.size(topic, number), 0) for number in known))

    async def _alter(self, request: AlterReplicaLogDirsRequest, call: Call) -> AlterReplicaLogDirsResponse | Refused:
        """Answer topic by topic; of a partition that the request has twice, the last directory counts."""
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        asked: dict[str, dict[int, str]] = {}
        for directory in request.dirs:
            for topic in directory.topics:
                asked.setdefault(topic.name, {}).update(dict.fromkeys(topic.partitions, directory.path))
        own = self._store.directory().path
        results = [
            _Altered(
                name,
                tuple(
                    _AlteredPartition(number, self._error(name, number, is_own=path == own))
                    for number, path in paths.items()
                ),
            )
            async for name, paths in in_slices(asked.items())
            if paths
        ]
        return AlterReplicaLogDirsResponse(results=tuple(results))

    def _error(self, name: str, number: int, *, is_own: bool) -> ErrorCode:
        if len(name) + len(str(number)) + _SUFFIX_OF_MOVED > _LONGEST_FOLDER:
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        if not is_own:
            return ErrorCode.LOG_DIR_NOT_FOUND
        topic = self._topics.by_name.get(name)
        if topic is None or number not in topic.partitions:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.NONE


def _refuse(
    request: AlterReplicaLogDirsRequest,
    _version: int,
    code: int,
    *,
    message: str | None = None,  # noqa: ARG001 - an argument of `refusal`, for which the response has no field
    throttle_time_ms: int = 0,
) -> AlterReplicaLogDirsResponse:
    """One error for all partitions."""
    topics = (topic for directory in request.dirs for topic in directory.topics)
    return AlterReplicaLogDirsResponse(
        throttle_time_ms,
        tuple(
            _Altered(topic.name, tuple(_AlteredPartition(number, code) for number in topic.partitions))
            for topic in topics
        ),
    )
