"""Internal topics: how they are created, and which partition an owner belongs to."""

from __future__ import annotations

from itertools import chain, islice
from typing import Final

from kafkawire.broker.configuration.broker_configuration import Values
from kafkawire.broker.controller import MAXIMUM_RECORDS, Controller
from kafkawire.broker.image.topics import Topic
from kafkawire.broker.topics.automatic_creation import internal_topic
from kafkawire.broker.topics.placement import Placement
from kafkawire.layout.uuid import Uuid
from kafkawire.model.java_order import java_hash
from kafkawire.protocol import ConfigRecord, TopicRecord

_TOPIC_CONFIG: Final = 2
_INT32: Final = 1 << 32
_LOWEST: Final = -(1 << 31)


def partition_of(owner: str, partitions: int) -> int:
    """The partition of an internal topic that an owner belongs to: the Java hash of its id, modulo the partitions.

    Args:
        owner: the id of a group, or a transactional id.
        partitions: how many the topic has.
    """
    code = java_hash(owner)
    signed = code - _INT32 if code >= _INT32 // 2 else code
    return 0 if signed == _LOWEST else abs(signed) % partitions


class InternalTopic:
    """A topic that is created when a coordinator is first needed.

    Args:
        name: ``__consumer_offsets`` or ``__transaction_state``.
        controller: creates it.
        configuration: the broker's, with the topic's partition count and configurations (``offsets.topic.*``,
            ``transaction.state.log.*``).
        placement: where its partitions go.

    Attributes:
        name: as given.
    """

    def __init__(self, name: str, controller: Controller, configuration: Values, placement: Placement) -> None:
        self.name = name
        self._controller = controller
        self._configuration = configuration
        self._placement = placement

    @property
    def current(self) -> Topic | None:
        """The topic; None if there is none yet."""
        return self._controller.image.topics.by_name.get(self.name)

    def made(self, partitions: int | None = None) -> Topic:
        """The topic, created if there is none; it is durable when the records of the controller are.

        It has at most as many replicas as there are nodes, whatever replication factor is configured.

        Args:
            partitions: the partition count of a new topic; None for the configured one.

        Raises:
            StorageError: the metadata log has failed before.
        """
        topic = self.current
        if topic is None:
            self._make(partitions)
            topic = self._controller.image.topics.by_name[self.name]
        return topic

    async def durable(self) -> None:
        """Wait until the topic would survive a crash.

        Raises:
            StorageError: it could not be written.
        """
        await self._controller.log.durable(self._controller.end_offset)

    def _make(self, partitions: int | None) -> None:
        wanted = internal_topic(self.name, self._configuration)
        if wanted is None:
            raise AssertionError(f"{self.name} is no internal topic")
        topic_id = Uuid.random()
        configs = (ConfigRecord(_TOPIC_CONFIG, self.name, each.name, each.value) for each in wanted.configs)
        count = wanted.num_partitions if partitions is None else partitions
        places = self._placement.places(count, min(wanted.replication_factor, self._placement.most_replicas))
        records = chain((TopicRecord(self.name, topic_id),), configs, self._placement.records(topic_id, places))
        while portion := [*islice(records, MAXIMUM_RECORDS)]:
            self._controller.commit(portion)
