"""Metadata."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from kafkawire.broker.authorization import NO_OPERATIONS_REQUESTED
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.topics import NO_LEADER, Topic
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topic_names import unknown_topic_error
from kafkawire.broker.topics.automatic_creation import AutomaticCreation
from kafkawire.layout.uuid import Uuid
from kafkawire.model.acls.bindings import CLUSTER_NAME, AclOperation, ResourceType
from kafkawire.model.topics import INTERNAL_TOPICS
from kafkawire.protocol import MetadataRequest, MetadataResponse, PartitionRecord
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message

_NO_ID: Final = Uuid()
_SERVES_IDS: Final = 12
_CLUSTER_OPERATIONS: Final = range(8, 11)
_NEVER_STRICT: Final = 1 << 15

_Described = MetadataResponse.MetadataResponseTopic


class MetadataHandlers:
    """Describe the cluster and its topics; create missing topics where that is enabled."""

    def __init__(self, context: HandlerContext) -> None:
        self._cluster = context.cluster
        self._nodes = context.nodes
        self._topics = context.controller.image.topics
        self._automatic = AutomaticCreation(context.creation, context.configuration)
        self._access = context.access
        self._mutations = context.quotas.mutations
        self.apis = (ServedApi(MetadataRequest, self._metadata, 0, 13),)

    async def _metadata(self, request: MetadataRequest, call: Call) -> Message | Refused:
        of_all = request.topics is None or (not request.topics and call.version == 0)
        asked = request.topics or ()
        reason = _unserved(asked, call.version)
        if reason is not None:
            return Refused(ErrorCode.INVALID_REQUEST, reason)
        ids = [topic.topic_id for topic in asked if topic.topic_id != _NO_ID]
        if not ids and any(topic.name is None for topic in asked):
            named = replace(request, topics=tuple(replace(topic, name=topic.name or "") for topic in asked))
            return Refused(ErrorCode.UNKNOWN_SERVER_ERROR, request=named)
        if of_all:
            described = self._all(request, call)
        elif ids:
            described = self._by_id(request, ids, call)
        else:
            described = self._by_name(request, [topic.name or "" for topic in asked], call)
        own = self._cluster
        brokers = (
            MetadataResponse.MetadataResponseBroker(node.node_id, node.host, node.port, node.rack)
            for node in self._nodes.live(call.session.listener)
        )
        operations = NO_OPERATIONS_REQUESTED
        if call.version in _CLUSTER_OPERATIONS and request.include_cluster_authorized_operations:
            operations = self._access.operations(call.session, ResourceType.CLUSTER, CLUSTER_NAME)
        return MetadataResponse(
            0, tuple(brokers), own.cluster_id, own.node_id, tuple([topic async for topic in described]), operations
        )

    async def _all(self, request: MetadataRequest, call: Call) -> AsyncIterator[_Described]:
        async for name, topic in in_slices(tuple(self._topics.by_name.items())):
            if self._may(AclOperation.DESCRIBE, name, call):
                yield self._described(topic, request, call)

    async def _by_id(self, request: MetadataRequest, ids: Iterable[Uuid], call: Call) -> AsyncIterator[_Described]:
        async for topic_id in in_slices(dict.fromkeys(ids)):
            topic = self._topics.by_id.get(topic_id)
            if topic is None:
                yield _Described(ErrorCode.UNKNOWN_TOPIC_ID, None, topic_id)
            elif self._may(AclOperation.DESCRIBE, topic.name, call):
                yield self._described(topic, request, call)
            else:
                yield _Described(ErrorCode.TOPIC_AUTHORIZATION_FAILED, None, topic_id)

    async def _by_name(self, request: MetadataRequest, names: Iterable[str], call: Call) -> AsyncIterator[_Described]:
        missing: list[str] = []
        refused: list[_Described] = []
        async for name in in_slices(dict.fromkeys(names)):
            topic = self._topics.by_name.get(name)
            if not self._may(AclOperation.DESCRIBE, name, call):
                refused.append(_Described(ErrorCode.TOPIC_AUTHORIZATION_FAILED, name))
            elif topic is None:
                missing.append(name)
            else:
                yield self._described(topic, request, call)
        creates = request.allow_auto_topic_creation and self._automatic.is_enabled
        creatable = {name async for name in in_slices(missing) if not creates or self._may_create(name, call)}
        if creates:
            quota = self._mutations.quota_of(call, strict_since=_NEVER_STRICT)
            await self._automatic.create([name for name in missing if name in creatable], quota.take)
        async for name in in_slices(missing):
            code = unknown_topic_error(name) if name in creatable else ErrorCode.TOPIC_AUTHORIZATION_FAILED
            yield self._absent(name, code, request, call)
        for topic_refused in refused:
            yield topic_refused

    def _described(self, topic: Topic, request: MetadataRequest, call: Call) -> _Described:
        return _Described(
            ErrorCode.NONE,
            topic.name,
            topic.topic_id,
            topic.name in INTERNAL_TOPICS,
            tuple(map(self._partition, topic.partitions.values())),
            self._operations(topic.name, request, call),
        )

    def _absent(self, name: str, code: ErrorCode, request: MetadataRequest, call: Call) -> _Described:
        operations = (
            NO_OPERATIONS_REQUESTED
            if code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
            else self._operations(name, request, call)
        )
        return _Described(code, name, is_internal=name in INTERNAL_TOPICS, topic_authorized_operations=operations)

    def _operations(self, name: str, request: MetadataRequest, call: Call) -> int:
        if not request.include_topic_authorized_operations:
            return NO_OPERATIONS_REQUESTED
        return self._access.operations(call.session, ResourceType.TOPIC, name)

    def _partition(self, partition: PartitionRecord) -> MetadataResponse.MetadataResponsePartition:
        """A partition. Replicas on nodes that are not live are offline; so is the partition if one is its leader."""
        has_leader = self._nodes.is_live(partition.leader)
        return MetadataResponse.MetadataResponsePartition(
            ErrorCode.NONE if has_leader else ErrorCode.LEADER_NOT_AVAILABLE,
            partition.partition_id,
            partition.leader if has_leader else NO_LEADER,
            partition.leader_epoch,
            partition.replicas,
            partition.isr,
            self._nodes.offline(partition.replicas),
        )

    def _may(self, operation: AclOperation, name: str, call: Call) -> bool:
        return self._access.allows(call.session, operation, ResourceType.TOPIC, name)

    def _may_create(self, name: str, call: Call) -> bool:
        create = AclOperation.CREATE
        return self._access.allows_on_cluster(call.session, create) or self._may(create, name, call)


def _unserved(topics: Sequence[MetadataRequest.MetadataRequestTopic], version: int) -> str | None:
    if version < _SERVES_IDS:
        for topic in topics:
            if topic.name is None:
                return f"Topic name can not be null for version {version}"
            if topic.topic_id != _NO_ID:
                return f"Topic IDs are not supported in requests for version {version}"
    return None
