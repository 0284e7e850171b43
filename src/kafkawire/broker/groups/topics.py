"""What consumer groups and share groups need to know of the topics, with a hash of it as Kafka computes it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from kafkawire.broker.groups.xxh3 import xxh3_64
from kafkawire.broker.image.topics import Topic, TopicsImage
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import PartitionRecord, RemoveTopicRecord, TopicRecord
from kafkawire.wire import Message

_MAGIC: Final = b"\x00"


class UnhashedTopic(NamedTuple):
    """A topic as it is now.

    Attributes:
        topic_id, name: of the topic.
        partitions: number to record.
        rack_of: the rack of a broker; None if it has none.
    """

    topic_id: Uuid
    name: str
    partitions: Mapping[int, PartitionRecord]
    rack_of: Callable[[int], str | None]


class KnownTopics:
    """The topics of the cluster.

    Args:
        image: the topics.
        end_offset: the end of the metadata log, which is the version of the metadata.
        rack_of: the rack of a broker; None if it has none.

    Attributes:
        changes: rises with each change of topics and their partitions.
        created_at: the version in which the last topic was created.
    """

    def __init__(self, image: TopicsImage, end_offset: Callable[[], int], rack_of: Callable[[int], str | None]) -> None:
        self._image = image
        self._rack_of = rack_of
        self._hashes: dict[Uuid, tuple[int, int]] = {}
        self._end_offset = end_offset
        self.changes = 0
        self.created_at = end_offset()

    def committed(self, records: Iterable[Message]) -> None:
        """Take note of changes of the metadata."""
        kinds = {type(each) for each in records}
        if kinds & {TopicRecord, PartitionRecord, RemoveTopicRecord}:
            self.changes += 1
        if TopicRecord in kinds:
            self.created_at = self.version

    @property
    def version(self) -> int:
        """The version of the metadata."""
        return self._end_offset()

    @property
    def names(self) -> Collection[str]:
        """The names of all topics."""
        return self._image.by_name.keys()

    def id_of(self, name: str) -> Uuid | None:
        """The id of a topic; None if it does not exist."""
        topic = self._image.by_name.get(name)
        return None if topic is None else topic.topic_id

    def name_of(self, topic_id: Uuid) -> str | None:
        """The name of a topic; None if it does not exist."""
        topic = self._image.by_id.get(topic_id)
        return None if topic is None else topic.name

    def partitions_of(self, topic_id: Uuid) -> int:
        """The partition count of a topic that exists."""
        return len(self._image.by_id[topic_id].partitions)

    def counts_of(self, names: Iterable[str]) -> Mapping[str, int]:
        """The partition counts of those of the topics that exist."""
        topics = self._image.by_name
        return {name: len(topics[name].partitions) for name in names if name in topics}

    def hash_of(self, names: Iterable[str]) -> int:
        """The hash of those of the topics that exist, as the records of groups have it; 0 if none exists."""
        topics = [topic for name in sorted(names) if (topic := self._image.by_name.get(name)) is not None]
        if not topics:
            return 0
        return _signed(xxh3_64(b"".join(self._hash(topic).to_bytes(8, "little") for topic in topics)))

    def unhashed(self, names: Iterable[str]) -> Sequence[UnhashedTopic]:
        """Those of the topics that exist of which no hash is known."""
        topics = (self._image.by_name.get(name) for name in names)
        return [self._unhashed(topic) for topic in topics if topic is not None and not self._has_hash(topic)]

    def learn(self, hashes: Mapping[Uuid, tuple[int, int]]) -> None:
        """Keep hashes of `hashes_of`."""
        if len(self._hashes) + len(hashes) > 2 * len(self._image.by_id):
            self._hashes = {each: value for each, value in self._hashes.items() if each in self._image.by_id}
        self._hashes.update(hashes)

    def _hash(self, topic: Topic) -> int:
        if not self._has_hash(topic):
            self.learn(hashes_of([self._unhashed(topic)]))
        return self._hashes[topic.topic_id][1]

    def _has_hash(self, topic: Topic) -> bool:
        known = self._hashes.get(topic.topic_id)
        return known is not None and known[0] == len(topic.partitions)

    def _unhashed(self, topic: Topic) -> UnhashedTopic:
        return UnhashedTopic(topic.topic_id, topic.name, dict(topic.partitions), self._rack_of)


def hashes_of(topics: Iterable[UnhashedTopic]) -> Mapping[Uuid, tuple[int, int]]:
    """Topic id to partition count and hash."""
    return {topic.topic_id: (len(topic.partitions), xxh3_64(_hashed(topic))) for topic in topics}


def _hashed(topic: UnhashedTopic) -> bytes:
    parts = [
        _MAGIC,
        topic.topic_id[:8][::-1],
        topic.topic_id[8:][::-1],
        _text(topic.name),
        _int(len(topic.partitions)),
    ]
    for partition, record in topic.partitions.items():
        parts.append(_int(partition))
        racks = (topic.rack_of(node) for node in record.replicas)
        for rack in sorted(rack for rack in racks if rack is not None):
            parts += (_int(_length(rack)), _text(rack))
    return b"".join(parts)


def _text(text: str) -> bytes:
    """A string as hash4j hashes it: UTF-16, and then the length."""
    return text.encode("utf-16-le", "surrogatepass") + _int(_length(text))


def _length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _int(number: int) -> bytes:
    return number.to_bytes(4, "little")


def _signed(number: int) -> int:
    return number - (1 << 64) if number >> 63 else number
