"""What Java's Admin describes: names of enumerations are Java's, what there is not is None, sequences are sorted."""

from __future__ import annotations

import msgspec


class Partition(msgspec.Struct, frozen=True):
    """A partition of a topic."""

    topic: str
    partition: int


class JavaNode(msgspec.Struct, frozen=True):
    """A node of the cluster."""

    id: int
    host: str
    port: int
    rack: str | None
    fenced: bool


class JavaCluster(msgspec.Struct, frozen=True):
    """The cluster; ``authorized_operations`` is None unless it was requested."""

    cluster_id: str
    controller: int | None
    nodes: tuple[JavaNode, ...]
    authorized_operations: tuple[str, ...] | None


class JavaVersions(msgspec.Struct, frozen=True):
    """Versions of a feature."""

    lowest: int
    highest: int


class JavaFeatures(msgspec.Struct, frozen=True):
    """Features by name."""

    supported: dict[str, JavaVersions]
    finalized: dict[str, JavaVersions]
    epoch: int | None


class JavaQuorumReplica(msgspec.Struct, frozen=True):
    """A voter or observer; timestamps are milliseconds since 1970."""

    id: int
    directory_id: str
    log_end_offset: int
    last_fetch_timestamp: int | None
    last_caught_up_timestamp: int | None


class JavaQuorum(msgspec.Struct, frozen=True):
    """The quorum of the controllers."""

    leader_id: int
    leader_epoch: int
    high_watermark: int
    voters: tuple[JavaQuorumReplica, ...]
    observers: tuple[JavaQuorumReplica, ...]


class JavaLogDirReplica(msgspec.Struct, frozen=True):
    """A replica in a log directory; ``size`` in bytes."""

    partition: Partition
    size: int
    offset_lag: int
    future: bool


class JavaLogDir(msgspec.Struct, frozen=True):
    """A log directory of a broker; ``error`` is the name of an error code."""

    broker: int
    path: str
    error: str | None
    total_bytes: int | None
    usable_bytes: int | None
    cordoned: bool
    replicas: tuple[JavaLogDirReplica, ...]


class JavaReplicaLogDir(msgspec.Struct, frozen=True):
    """Where a replica lies, and where it is being moved to."""

    partition: Partition
    current_path: str | None
    current_offset_lag: int
    future_path: str | None
    future_offset_lag: int


class JavaTopicListing(msgspec.Struct, frozen=True):
    """A topic in a list."""

    name: str
    topic_id: str
    internal: bool


class JavaTopicPartition(msgspec.Struct, frozen=True):
    """A described partition; replicas in the broker's order."""

    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    elr: tuple[int, ...] | None
    last_known_elr: tuple[int, ...] | None


class JavaTopic(msgspec.Struct, frozen=True):
    """A described topic; ``topic_id`` as Kafka writes it."""

    name: str
    topic_id: str
    internal: bool
    partitions: tuple[JavaTopicPartition, ...]
    authorized_operations: tuple[str, ...] | None


class JavaOffset(msgspec.Struct, frozen=True):
    """What was found for an offset spec."""

    partition: Partition
    offset: int
    timestamp: int
    leader_epoch: int | None


class JavaReassignment(msgspec.Struct, frozen=True):
    """A partition that is being moved."""

    partition: Partition
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


class JavaConfigSynonym(msgspec.Struct, frozen=True):
    """A config that would count if those before it were not there."""

    name: str
    value: str | None
    source: str


class JavaConfig(msgspec.Struct, frozen=True):
    """A config of a resource."""

    name: str
    value: str | None
    source: str
    sensitive: bool
    read_only: bool
    type: str
    documentation: str | None
    synonyms: tuple[JavaConfigSynonym, ...]


class JavaConfigResource(msgspec.Struct, frozen=True):
    """A resource that has configs."""

    type: str
    name: str


class JavaAcl(msgspec.Struct, frozen=True):
    """An ACL."""

    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    host: str
    operation: str
    permission_type: str


class JavaQuotas(msgspec.Struct, frozen=True):
    """The quotas of an entity, which is given as entity type to name, None for the default."""

    entity: dict[str, str | None]
    quotas: dict[str, float]


class JavaScramCredential(msgspec.Struct, frozen=True):
    """A credential of a SCRAM user; ``mechanism`` is ``SCRAM_SHA_256`` or ``SCRAM_SHA_512``."""

    mechanism: str
    iterations: int


class JavaScramUser(msgspec.Struct, frozen=True):
    """A SCRAM user."""

    user: str
    credentials: tuple[JavaScramCredential, ...]


class JavaDelegationToken(msgspec.Struct, frozen=True):
    """A delegation token without its secret; principals are ``User:alice``, timestamps milliseconds since 1970."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    expiry_timestamp: int
    max_timestamp: int


class JavaTokenSecret(msgspec.Struct, frozen=True):
    """A delegation token just made: user name and password of a SCRAM login."""

    token_id: str
    hmac: str


class JavaGroupListing(msgspec.Struct, frozen=True):
    """A group in a list."""

    group_id: str
    type: str | None
    protocol: str
    state: str | None
    simple: bool


class JavaMember(msgspec.Struct, frozen=True):
    """A member of a group; those of streams groups have tasks and no assignment here."""

    member_id: str
    instance_id: str | None
    rack_id: str | None
    client_id: str
    host: str
    epoch: int | None
    assignment: tuple[Partition, ...] | None
    target_assignment: tuple[Partition, ...] | None


class JavaGroup(msgspec.Struct, frozen=True):
    """A group of any kind; what its kind does not have is None."""

    group_id: str
    type: str
    state: str
    protocol: str | None
    assignor: str | None
    simple: bool | None
    epoch: int | None
    assignment_epoch: int | None
    topology_epoch: int | None
    coordinator: int | None
    authorized_operations: tuple[str, ...] | None
    members: tuple[JavaMember, ...]


class JavaGroupOffset(msgspec.Struct, frozen=True):
    """A committed offset."""

    partition: Partition
    offset: int
    leader_epoch: int | None
    metadata: str


class JavaShareGroupOffset(msgspec.Struct, frozen=True):
    """Where a share group begins."""

    partition: Partition
    start_offset: int
    leader_epoch: int | None
    lag: int | None


class JavaTransactionListing(msgspec.Struct, frozen=True):
    """A transaction in a list."""

    transactional_id: str
    producer_id: int
    state: str


class JavaTransaction(msgspec.Struct, frozen=True):
    """A transaction; ``start_timestamp`` in milliseconds since 1970."""

    transactional_id: str
    coordinator: int
    state: str
    producer_id: int
    producer_epoch: int
    timeout_ms: int
    start_timestamp: int | None
    partitions: tuple[Partition, ...]


class JavaProducer(msgspec.Struct, frozen=True):
    """A producer that has written to a partition."""

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp: int
    coordinator_epoch: int | None
    transaction_start_offset: int | None


class JavaTiming(msgspec.Struct, frozen=True):
    """How long something took in the Java process itself.

    Attributes:
        seconds: of each round after the warm-up, from the call until everything is answered.
        items: how many items the last round had.
    """

    seconds: tuple[float, ...]
    items: int
