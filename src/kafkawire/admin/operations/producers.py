"""Producers of partitions, and transactions that hang in partitions (admin-transactions)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from kafkawire import protocol
from kafkawire.admin.engine.operation import Operation, Outcomes, Progress, Request, failure
from kafkawire.admin.engine.route import LeaderOf, OnNode, Route
from kafkawire.admin.family import OperationFamily
from kafkawire.admin.needs import needs
from kafkawire.admin.operations.partitions import by_topic
from kafkawire.admin.results import Results
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import known_number
from kafkawire.model.transactions import AbortTransactionSpec, ProducerState
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.wire import Message


class DescribeProducers(Operation[TopicPartition, tuple[ProducerState, ...], "protocol.DescribeProducersResponse"]):
    """KIP-664."""

    name = "describe_producers"
    api = ApiKey.DESCRIBE_PRODUCERS
    # The batch size of kafka-transactions: a larger request would keep the broker from serving others.
    batch = 500
    # A new topic is not visible on every node at once.
    retried_codes: ClassVar[frozenset[int]] = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})

    def __init__(self, node: int | None = None) -> None:
        self._node = node

    def route_of(self, item: TopicPartition) -> Route:
        return LeaderOf(item) if self._node is None else OnNode(self._node)

    def build(self, request: Request[TopicPartition]) -> Message:
        topic = protocol.DescribeProducersRequest.TopicRequest
        return protocol.DescribeProducersRequest(
            topics=tuple(topic(name, tuple(numbers)) for name, numbers in by_topic(request.items))
        )

    def read(
        self, request: Request[TopicPartition], response: protocol.DescribeProducersResponse
    ) -> Outcomes[TopicPartition, tuple[ProducerState, ...]]:
        return {
            TopicPartition(topic.name, partition.partition_index): failure(
                partition.error_code, partition.error_message
            )
            or tuple(map(_producer, partition.active_producers))
            for topic in response.topics
            for partition in topic.partitions
        }


def _producer(producer: protocol.DescribeProducersResponse.ProducerState) -> ProducerState:
    return ProducerState(
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        last_sequence=known_number(producer.last_sequence),
        last_timestamp_ms=known_number(producer.last_timestamp),
        coordinator_epoch=known_number(producer.coordinator_epoch),
        transaction_start_offset=known_number(producer.current_txn_start_offset),
    )


class AbortTransaction(Operation[AbortTransactionSpec, None, "protocol.WriteTxnMarkersResponse"]):
    """KIP-664: writes the marker that the coordinator should have written."""

    name = "abort_transaction"
    api = ApiKey.WRITE_TXN_MARKERS
    mutates = True
    retried_codes: ClassVar[frozenset[int]] = frozenset(
        {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.BROKER_NOT_AVAILABLE}
    )

    def route_of(self, item: AbortTransactionSpec) -> Route:
        return LeaderOf(item.partition)

    def build(self, request: Request[AbortTransactionSpec]) -> Message:
        message = protocol.WriteTxnMarkersRequest
        return message(
            markers=tuple(
                message.WritableTxnMarker(
                    producer_id=item.producer_id,
                    producer_epoch=item.producer_epoch,
                    transaction_result=False,
                    topics=(message.WritableTxnMarkerTopic(item.partition.topic, (item.partition.partition,)),),
                    coordinator_epoch=item.coordinator_epoch,
                )
                for item in request.items
            )
        )

    def read(
        self, request: Request[AbortTransactionSpec], response: protocol.WriteTxnMarkersResponse
    ) -> Outcomes[AbortTransactionSpec, None]:
        codes = {
            (marker.producer_id, topic.name, partition.partition_index): partition.error_code
            for marker in response.markers
            for topic in marker.topics
            for partition in topic.partitions
        }
        found = ((item, (item.producer_id, item.partition.topic, item.partition.partition)) for item in request.items)
        return {item: failure(codes[key]) for item, key in found if key in codes}


class ProducerOperations(OperationFamily):
    """Producers of partitions."""

    @needs(DescribeProducers, rights="READ TOPIC")
    async def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        *,
        node: int | None = None,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Results[TopicPartition, tuple[ProducerState, ...]]:
        """The idempotent producers of partitions.

        Args:
            partitions: which.
            node: id of a node that has replicas of them, to be asked instead of their leaders.
            timeout, progress: see `AdminClient`. A topic that does not exist is waited for: it may be a new one.

        Returns:
            Partition to its producers, or to what went wrong: `TopicAuthorizationFailedError`,
            `NotLeaderOrFollowerError` (the node has no replica) ...

        Example:
            ```python
            results = await admin.describe_producers([TopicPartition("orders", 0)])
            for partition, producers in results.all().items():
                for producer in producers:
                    print(partition, producer.producer_id, producer.last_sequence, producer.transaction_start_offset)
            ```
        """
        return await self._each(DescribeProducers(node), partitions, timeout, progress)

    @needs(AbortTransaction, rights="ALTER CLUSTER or CLUSTER_ACTION CLUSTER")
    async def abort_transaction(self, spec: AbortTransactionSpec, *, timeout: float | None = None) -> None:
        """Abort a transaction that hangs: open in a partition, but unknown to its coordinator.

        For a transaction that its coordinator has, see `force_terminate_transaction`.

        Args:
            spec: the transaction, as `describe_producers` shows it.
            timeout: see `AdminClient`.

        Raises:
            KafkaError: what went wrong: `InvalidProducerEpochError`, `TransactionCoordinatorFencedError`,
                `ClusterAuthorizationFailedError` ...

        Example:
            ```python
            for transactions in (await admin.find_hanging_transactions(["orders"])).all().values():
                for transaction in transactions:
                    await admin.abort_transaction(transaction.abort_spec())
            ```
        """
        await self._only(AbortTransaction(), spec, timeout)
