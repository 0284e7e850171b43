"""The topology of a streams group with the topics of the cluster, as heartbeats find them."""

from __future__ import annotations

from typing import Final, NamedTuple

from kafkawire.broker.groups.streams import joining
from kafkawire.broker.groups.streams.group_state import StreamsGroupState
from kafkawire.broker.groups.streams.long_work import Work
from kafkawire.broker.groups.streams.topology import (
    ConfiguredTopology,
    configured_by_counts,
    is_large,
    required_topics,
)
from kafkawire.broker.groups.topics import KnownTopics, hashes_of
from kafkawire.protocol import StreamsGroupHeartbeatRequest, StreamsGroupTopologyValue

_NOT_VALIDATED: Final = -1
_LONG: Final = 1000
"""How many steps of some microseconds each may be done at once."""
_TOPIC: Final = 10
"""The steps for a topic that is hashed; each of its partitions is one more."""


class TopologyMetadata(NamedTuple):
    """What a heartbeat finds of the topics.

    Attributes:
        configured: the topology with the topics.
        metadata_hash: of the topics.
        validated_epoch: of the topology if it is ready.
    """

    configured: ConfiguredTopology
    metadata_hash: int
    validated_epoch: int


class GroupTopology:
    """The topology of a group with the topics.

    Args:
        state: of the group.
        topics: of the cluster.

    Attributes:
        configured: as of the last heartbeat; None before the first.
    """

    def __init__(self, state: StreamsGroupState, topics: KnownTopics) -> None:
        self._state = state
        self._topics = topics
        self._changes_seen: int | None = None
        self.configured: ConfiguredTopology | None = None

    def checked(self, request: StreamsGroupHeartbeatRequest, work: Work) -> StreamsGroupTopologyValue:
        """The topology of the group after a request.

        Raises:
            GroupError: it would become another one.
            LongWorkError: it is to be tried again after some work.
        """
        known, asked = self._state.topology, request.topology
        is_long = asked is not None and is_large(asked)
        return work.result(joining.checked_topology, known, asked, is_long=is_long)

    def configure(
        self, topology: StreamsGroupTopologyValue, request: StreamsGroupHeartbeatRequest, work: Work
    ) -> TopologyMetadata:
        """Find the topics again if the topology is new or they may have changed.

        Raises:
            GroupError: the topology cannot be right with any topics, or the request has tasks that it has not.
            LongWorkError: it is to be tried again after some work.
        """
        configured, metadata_hash = self.configured, self._state.metadata_hash
        is_new = self._state.topology is None
        if is_new or configured is None or self._changes_seen != self._topics.changes:
            counts = self._topics.counts_of(required_topics(topology))
            unhashed = self._topics.unhashed(counts)
            is_long = sum(_TOPIC + len(each.partitions) for each in unhashed) > _LONG
            self._topics.learn(work.result(hashes_of, unhashed, is_long=is_long))
            metadata_hash = self._topics.hash_of(counts)
            if is_new or configured is None or metadata_hash != self._state.metadata_hash:
                configured = work.result(configured_by_counts, topology, counts, is_long=is_large(topology))
        if configured.is_ready:
            joining.check_tasks(configured.subtopologies, request)
        self.configured = configured
        return TopologyMetadata(configured, metadata_hash, topology.epoch if configured.is_ready else _NOT_VALIDATED)

    def note_changes(self) -> None:
        """The heartbeat is accepted: topics are found again after their next change."""
        self._changes_seen = self._topics.changes

    def partitions_of(self, name: str) -> int | None:
        """The partition count of a topic; None if there is no such topic."""
        topic = self._topics.id_of(name)
        return None if topic is None else self._topics.partitions_of(topic)

    def forget(self) -> None:
        """Forget what the last heartbeat has found."""
        self.configured = None
