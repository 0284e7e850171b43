"""The topics of a cluster without a broker: a table that tests change."""

from __future__ import annotations

from kafkawire.broker.groups.topics import KnownTopics
from kafkawire.broker.image.topics import TopicsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord, RemoveTopicRecord, TopicRecord
from kafkawire.wire import Message


class DrivenTopics:
    """Topics, and what groups learn of them.

    Attributes:
        image: the topics.
        topics: as groups see them.
        hashed: how many partitions have been hashed for groups.
    """

    def __init__(self) -> None:
        self.image = TopicsImage()
        self._end_offset = 1
        self.topics = KnownTopics(self.image, lambda: self._end_offset, self._rack_of)
        self.hashed = 0

    def _rack_of(self, _: int) -> None:
        self.hashed += 1

    def forget_changes(self) -> None:
        """Groups that are made from now on learn of later changes only, as with a broker that has just begun."""
        self.topics = KnownTopics(self.image, lambda: self._end_offset, self._rack_of)

    def create(self, name: str, partitions: int) -> Uuid:
        """Create a topic, or add partitions."""
        topic = self.image.by_name.get(name)
        changes: list[Message] = []
        if topic is None:
            created = TopicRecord(name, Uuid.random())
            changes.append(created)
            self.image.apply_topic(created)
            topic = self.image.by_name[name]
        for number in range(len(topic.partitions), partitions):
            record = PartitionRecord(number, topic.topic_id, (1,), (1,), leader=1)
            self.image.apply_partition(record)
            changes.append(record)
        self._committed(changes)
        return topic.topic_id

    def delete(self, name: str) -> None:
        """Delete a topic."""
        record = RemoveTopicRecord(self.image.by_name[name].topic_id)
        self.image.apply_remove_topic(record)
        self._committed([record])

    def _committed(self, changes: list[Message]) -> None:
        self._end_offset += len(changes)
        self.topics.committed(changes)
