"""The markers that end a transaction in its partitions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkawire.broker.clock import Clock
from kafkawire.broker.controller import Controller
from kafkawire.broker.groups.coordinator import GroupCoordinator
from kafkawire.broker.partitions.partition_log import PartitionLog
from kafkawire.broker.partitions.producers import ProducerStateError
from kafkawire.broker.partitions.record_store import RecordStore
from kafkawire.broker.partitions.topic_rules import RulesOfTopics
from kafkawire.broker.storage.unwritten_batches import Producer
from kafkawire.broker.topic_names import OFFSETS_TOPIC, TRANSACTIONS_TOPIC
from kafkawire.broker.transactions.transaction import Partition
from kafkawire.protocol.error_codes import ErrorCode

_log = logging.getLogger(__name__)


class EndMarker(NamedTuple):
    """What a marker says.

    Attributes:
        producer: of the transaction; with version 2, the epoch is the next one.
        committed: whether the transaction is committed or aborted.
        coordinator_epoch: of the coordinator.
        bumps_epoch: whether the epoch must be higher than that of the records (KIP-890).
    """

    producer: Producer
    committed: bool
    coordinator_epoch: int
    bumps_epoch: bool


class MarkerWriter:
    """Writes markers: to the logs of partitions, and to those of groups for their offsets.

    Args:
        controller: has the topics.
        store: the records of all partitions.
        groups: the offsets of groups.
        rules: the rules of topics for their records.
        clock: for timestamps.
    """

    def __init__(
        self,
        controller: Controller,
        store: RecordStore,
        groups: GroupCoordinator,
        rules: RulesOfTopics,
        clock: Clock,
    ) -> None:
        self._topics = controller.image.topics
        self._store = store
        self._groups = groups
        self._rules = rules
        self._clock = clock

    async def write(self, marker: EndMarker, partitions: Iterable[Partition]) -> Mapping[Partition, ErrorCode]:
        """Write a marker to partitions; it is durable on return.

        Returns:
            The error of each partition; UNKNOWN_TOPIC_OR_PARTITION for one that does not exist (any more).

        Raises:
            StorageError: one could not be written.
        """
        logs: list[PartitionLog] = []
        errors = {partition: self._write(marker, partition, logs) for partition in partitions}
        await asyncio.gather(*(log.durable() for log in logs))
        await self._groups.durable()
        return errors

    def _write(self, marker: EndMarker, place: Partition, logs: list[PartitionLog]) -> ErrorCode:
        name, number = place
        topic = self._topics.by_name.get(name)
        partition = None if topic is None else topic.partitions.get(number)
        if topic is None or partition is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if name in {OFFSETS_TOPIC, TRANSACTIONS_TOPIC}:
            if name == OFFSETS_TOPIC:
                epoch = marker.coordinator_epoch
                self._groups.end_transaction(
                    number, marker.producer, committed=marker.committed, coordinator_epoch=epoch
                )
            return ErrorCode.NONE
        log, rules = self._store.log(topic.topic_id, number), self._rules.of(name)
        try:
            log.append_marker(
                *marker.producer,
                committed=marker.committed,
                coordinator_epoch=marker.coordinator_epoch,
                leader_epoch=partition.leader_epoch,
                now_ms=self._clock.now_ms(),
                rules=rules.segments,
                log_append_time=rules.records.log_append_time,
                bumps_epoch=marker.bumps_epoch,
            )
        except ProducerStateError as error:
            _log.warning("%s-%d: a marker of producer %d is refused: %s", name, number, marker.producer[0], error)
            return error.code
        logs.append(log)
        return ErrorCode.NONE
