"""UnregisterBroker (KIP-631) and UnregisterController (KIP-1312)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kafkawire.broker.controller import MAXIMUM_RECORDS, TOO_LARGE_BATCH
from kafkawire.broker.fair_slices import in_slices
from kafkawire.broker.handlers.context import HandlerContext
from kafkawire.broker.image.metadata_image import METADATA_VERSION_FEATURE
from kafkawire.broker.image.topics import NO_LEADER, Topic
from kafkawire.broker.requests import Call, Refused
from kafkawire.broker.served_apis import ServedApi
from kafkawire.broker.topics.partition_changes import PartitionTarget, any_leader, change_record, current
from kafkawire.model.acls.bindings import AclOperation
from kafkawire.protocol import (
    PartitionChangeRecord,
    PartitionRecord,
    UnregisterBrokerRecord,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UnregisterControllerRecord,
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import PolicyViolationError

_CONTROLLERS_SINCE: Final = 33
"""The level of ``metadata.version`` that has UnregisterControllerRecord: 4.4-IV2."""


class BrokerHandlers:
    """Unregister nodes that a twin has; the node that answers cannot be unregistered."""

    def __init__(self, context: HandlerContext) -> None:
        self._cluster = context.cluster
        self._controller = context.controller
        self._nodes = context.nodes
        self._access = context.access
        self.apis = (
            ServedApi(UnregisterBrokerRequest, self._unregister, 0, 0),
            ServedApi(UnregisterControllerRequest, self._unregister_controller, 0, -1, highest_later=0),
        )

    async def _unregister(self, request: UnregisterBrokerRequest, call: Call) -> UnregisterBrokerResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
        broker = self._controller.image.registrations.brokers.get(request.broker_id)
        if broker is None:
            reason = f"Broker ID {request.broker_id} is not currently registered"
            return UnregisterBrokerResponse(0, ErrorCode.BROKER_ID_NOT_REGISTERED, reason)
        if request.broker_id == self._cluster.node_id:
            reason = f"Broker ID {request.broker_id} is the one that answers, and cannot be unregistered."
            return UnregisterBrokerResponse(0, ErrorCode.INVALID_REQUEST, reason)
        async with self._controller.turn:
            topics = tuple(self._controller.image.topics.by_name.values())
            changes = [
                change async for topic in in_slices(topics) for change in self._changes(topic, request.broker_id)
            ]
            if len(changes) >= MAXIMUM_RECORDS:
                raise PolicyViolationError(TOO_LARGE_BATCH)
            self._controller.commit([*changes, UnregisterBrokerRecord(request.broker_id, broker.broker_epoch)])
        return UnregisterBrokerResponse()

    async def _unregister_controller(
        self, request: UnregisterControllerRequest, call: Call
    ) -> UnregisterControllerResponse | Refused:
        if not self._access.allows_on_cluster(call.session, AclOperation.ALTER):
            return Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
        controller = request.controller_id
        if controller == self._cluster.node_id:
            reason = "Controller cannot unregister itself while it is active."
            return UnregisterControllerResponse(0, ErrorCode.INVALID_REQUEST, reason)
        async with self._controller.turn:
            if controller not in self._controller.image.registrations.controllers:
                reason = f"Controller ID {controller} is not currently registered."
                return UnregisterControllerResponse(0, ErrorCode.CONTROLLER_ID_NOT_REGISTERED, reason)
            if self._controller.image.features.levels.get(METADATA_VERSION_FEATURE, 0) < _CONTROLLERS_SINCE:
                reason = "The current MetadataVersion is too old to support controller unregistration."
                return UnregisterControllerResponse(0, ErrorCode.UNSUPPORTED_VERSION, reason)
            self._controller.commit([UnregisterControllerRecord(controller)])
        return UnregisterControllerResponse(error_message=None)

    def _changes(self, topic: Topic, broker_id: int) -> Iterator[PartitionChangeRecord]:
        """Another replica leads the partitions of the broker, or none."""
        for partition in topic.partitions.values():
            if broker_id in (partition.leader, *partition.isr):
                target = _without(partition, broker_id)
                leader = any_leader(partition, target, self._nodes) if target.isr else NO_LEADER
                if not target.isr:
                    target = current(partition)
                record = change_record(topic.topic_id, partition, target, leader, self._nodes)
                if record is not None:
                    yield record


def _without(partition: PartitionRecord, broker_id: int) -> PartitionTarget:
    """The partition without a broker in sync; it stays a replica."""
    now = current(partition)
    in_sync = tuple(replica for replica in now.isr if replica != broker_id)
    return PartitionTarget(now.replicas, in_sync, now.adding, now.removing)
