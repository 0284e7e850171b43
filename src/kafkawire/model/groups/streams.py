"""Groups of Kafka Streams as an admin client sees them (KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kafkawire.model.acls.bindings import AclOperation
from kafkawire.model.groups.descriptions import GroupState
from kafkawire.model.tolerant_enums import TolerantEnum


class StreamsTask(msgspec.Struct, frozen=True, order=True):
    """What a member works on: a subtopology for one partition of its topics.

    Attributes:
        subtopology_id: id of the subtopology.
        partition: number of the partition.
    """

    subtopology_id: str
    partition: int


class StreamsTasks(msgspec.Struct, frozen=True):
    """What a member has to do.

    Attributes:
        active: tasks that it carries out.
        standby: tasks whose state it keeps a copy of.
        warmup: tasks whose state it is fetching, to carry them out later.
    """

    active: tuple[StreamsTask, ...] = ()
    standby: tuple[StreamsTask, ...] = ()
    warmup: tuple[StreamsTask, ...] = ()


class StreamsEndpoint(msgspec.Struct, frozen=True):
    """Where a member can be asked for its state (interactive queries).

    Attributes:
        host, port: the address.
    """

    host: str
    port: int


class StreamsGroupMember(msgspec.Struct, frozen=True):
    """A member of a streams group.

    Attributes:
        member_id: its id.
        member_epoch: the epoch of the group that it has caught up with.
        group_instance_id: its name if it is a static member.
        rack_id: where it stands, if it says so.
        client_id, client_host: who it says it is, and the address that it comes from.
        topology_epoch: the epoch of the topology that it has.
        process_id: which members are one process.
        endpoint: where it can be asked for its state, if it can.
        client_tags: what else it says of itself.
        task_offsets, task_end_offsets: how far its copies of states are, and how far they could be.
        assignment: what it does.
        target_assignment: what it is to do.
        is_classic: whether it speaks the classic protocol.
    """

    member_id: str
    member_epoch: int
    group_instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topology_epoch: int
    process_id: str
    endpoint: StreamsEndpoint | None
    client_tags: Mapping[str, str]
    task_offsets: Mapping[StreamsTask, int]
    task_end_offsets: Mapping[StreamsTask, int]
    assignment: StreamsTasks
    target_assignment: StreamsTasks
    is_classic: bool


class StreamsInternalTopic(msgspec.Struct, frozen=True):
    """A topic that Kafka Streams makes for itself.

    Attributes:
        name: its name.
        partitions: number of partitions; None where it follows from other topics.
        replication_factor: replicas of each partition; None for the broker's default.
        configs: configs that differ from the broker's.
    """

    name: str
    partitions: int | None
    replication_factor: int | None
    configs: Mapping[str, str]


class StreamsSubtopology(msgspec.Struct, frozen=True):
    """A part of a topology that tasks are made of.

    Attributes:
        subtopology_id: its id.
        source_topics: topics that it reads.
        repartition_sink_topics: internal topics that it writes, for other parts to read.
        state_changelog_topics: internal topics that keep its state.
        repartition_source_topics: internal topics that it reads.
    """

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    state_changelog_topics: tuple[StreamsInternalTopic, ...]
    repartition_source_topics: tuple[StreamsInternalTopic, ...]


class StreamsTopology(msgspec.Struct, frozen=True):
    """What a Kafka Streams application does.

    Attributes:
        epoch: how often it has changed.
        subtopologies: its parts; None while it is not known.
    """

    epoch: int
    subtopologies: tuple[StreamsSubtopology, ...] | None


class StreamsNodeType(TolerantEnum):
    """What a node of a topology does: it reads topics, processes records, or writes a topic (KIP-1331)."""

    SOURCE = 1
    PROCESSOR = 2
    SINK = 3


class StreamsTopologyNode(msgspec.Struct, frozen=True):
    """A node of a topology, as Kafka Streams' own ``Topology.describe()`` has it.

    Attributes:
        name: its name.
        type: what it does.
        source_topics: topics that a source reads.
        sink_topic: the topic that a sink writes; None for other nodes, and where the topic is chosen for each record.
        stores: state stores of a processor.
        successors: names of the nodes that its records go to.
    """

    name: str
    type: StreamsNodeType
    source_topics: tuple[str, ...]
    sink_topic: str | None
    stores: tuple[str, ...]
    successors: tuple[str, ...]


class StreamsGlobalStore(msgspec.Struct, frozen=True):
    """A state store that every instance of an application has whole.

    Attributes:
        source: the node that reads its topic.
        processor: the node that writes the store.
    """

    source: StreamsTopologyNode
    processor: StreamsTopologyNode


class StreamsTopologyDescription(msgspec.Struct, frozen=True):
    """The nodes of an application, as one of its members has sent them to the cluster (KIP-1331).

    Attributes:
        subtopologies: id of each part to its nodes.
        global_stores: state stores that every instance has whole.
    """

    subtopologies: Mapping[str, tuple[StreamsTopologyNode, ...]]
    global_stores: tuple[StreamsGlobalStore, ...]


class StreamsTopologyDescriptionStatus(TolerantEnum):
    """Whether there is a description of a topology (KIP-1331).

    Attributes:
        NOT_REQUESTED: it was not requested, or the broker is older than 4.4.
        NOT_STORED: no member has sent one, or the broker has no plug-in that keeps it.
        ERROR: the plug-in of the broker failed.
        AVAILABLE: there is one.
    """

    NOT_REQUESTED = 0
    NOT_STORED = 1
    ERROR = 2
    AVAILABLE = 3


class StreamsGroupDescription(msgspec.Struct, frozen=True):
    """A streams group.

    Attributes:
        group_id: its id.
        state: its state.
        coordinator: id of the node that coordinates it.
        topology: what its application does; None while it is not known.
        members: who is in it.
        group_epoch: how often it has changed.
        assignment_epoch: the epoch that the targets of its members are made for.
        authorized_operations: the operations that the caller may perform; None if they were not requested.
        assignor: what hands out tasks; None from brokers before 4.4.
        topology_description_status: whether there is a description of its topology.
        topology_description: the nodes of its application; None unless the status is ``AVAILABLE``.
    """

    group_id: str
    state: GroupState
    coordinator: int
    topology: StreamsTopology | None
    members: tuple[StreamsGroupMember, ...]
    group_epoch: int
    assignment_epoch: int
    authorized_operations: frozenset[AclOperation] | None = None
    assignor: str | None = None
    topology_description_status: StreamsTopologyDescriptionStatus = StreamsTopologyDescriptionStatus.NOT_REQUESTED
    topology_description: StreamsTopologyDescription | None = None
