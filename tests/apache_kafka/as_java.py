"""Descriptions of this project's admin client in the form of Java's Admin, to compare the two field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from tests.apache_kafka import java_answers as answers
from tests.apache_kafka.java_answers import Partition

from kafkawire.admin.tokens import DelegationToken
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclBinding, AclOperation
from kafkawire.model.cluster import (
    ClusterDescription,
    FeatureLevels,
    Features,
    LogDir,
    MetadataQuorum,
    QuorumReplica,
    ReplicaLogDirs,
)
from kafkawire.model.configs.resources import ConfigEntry, ConfigResource
from kafkawire.model.groups.descriptions import (
    ClassicGroupDescription,
    ClassicGroupMember,
    ConsumerGroupDescription,
    ConsumerGroupMember,
    GroupListing,
    ShareGroupDescription,
    ShareGroupMember,
)
from kafkawire.model.groups.offsets import CommittedOffset, SharePartitionOffset
from kafkawire.model.groups.streams import StreamsGroupDescription, StreamsGroupMember
from kafkawire.model.partitions import ListedOffset, TopicPartition
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramCredentialInfo
from kafkawire.model.topics import TopicDescription, TopicListing
from kafkawire.model.transactions import ProducerState, TransactionDescription, TransactionListing
from kafkawire.wire.kafka_errors import ApiError, KafkaError

_NONE = -1
"""Java's value for offsets, timestamps and sequences that are not there."""


def partition(ours: TopicPartition) -> Partition:
    return Partition(ours.topic, ours.partition)


def partitions(ours: Iterable[TopicPartition]) -> tuple[Partition, ...]:
    return tuple(map(partition, sorted(ours)))


def operations(ours: Iterable[AclOperation] | None) -> tuple[str, ...] | None:
    return None if ours is None else tuple(sorted(operation.name for operation in ours))


def cluster(ours: ClusterDescription) -> answers.JavaCluster:
    assert ours.cluster_id is not None
    nodes = tuple(
        answers.JavaNode(member.node.id, member.node.host, member.node.port, member.node.rack, member.is_fenced)
        for member in ours.nodes
    )
    return answers.JavaCluster(ours.cluster_id, ours.controller, nodes, operations(ours.authorized_operations))


def features(ours: Features) -> answers.JavaFeatures:
    return answers.JavaFeatures(_levels(ours.supported), _levels(ours.finalized), ours.finalized_epoch)


def quorum(ours: MetadataQuorum) -> answers.JavaQuorum:
    return answers.JavaQuorum(
        leader_id=_NONE if ours.leader is None else ours.leader,
        leader_epoch=ours.leader_epoch,
        high_watermark=ours.high_watermark,
        voters=tuple(map(_quorum_replica, ours.voters)),
        observers=tuple(map(_quorum_replica, ours.observers)),
    )


def log_dirs(ours: Mapping[int, Mapping[str, LogDir]]) -> tuple[answers.JavaLogDir, ...]:
    return tuple(
        answers.JavaLogDir(
            broker=node,
            path=path,
            error=_error_name(described.error),
            total_bytes=described.total_bytes,
            usable_bytes=described.usable_bytes,
            cordoned=described.is_cordoned,
            replicas=tuple(
                answers.JavaLogDirReplica(partition(one), replica.size_bytes, replica.offset_lag, replica.is_future)
                for one, replica in sorted(described.replicas.items())
            ),
        )
        for node, directories in sorted(ours.items())
        for path, described in sorted(directories.items())
    )


def replica_log_dir(of: TopicPartition, ours: ReplicaLogDirs) -> answers.JavaReplicaLogDir:
    return answers.JavaReplicaLogDir(
        partition(of),
        ours.current,
        _or_none(ours.current_offset_lag),
        ours.future,
        _or_none(ours.future_offset_lag),
    )


def topic_listings(ours: Iterable[TopicListing]) -> tuple[answers.JavaTopicListing, ...]:
    return tuple(
        answers.JavaTopicListing(topic.name, str(topic.topic_id), topic.is_internal)
        for topic in sorted(ours, key=lambda topic: topic.name)
    )


def topic(ours: TopicDescription) -> answers.JavaTopic:
    described = tuple(
        answers.JavaTopicPartition(
            one.partition,
            one.leader,
            one.replicas,
            one.isr,
            one.eligible_leader_replicas,
            one.last_known_eligible_leader_replicas,
        )
        for one in ours.partitions
    )
    return answers.JavaTopic(
        ours.name, str(ours.topic_id), ours.is_internal, described, operations(ours.authorized_operations)
    )


def offsets(ours: Mapping[TopicPartition, ListedOffset]) -> tuple[answers.JavaOffset, ...]:
    return tuple(
        answers.JavaOffset(partition(of), _or_none(found.offset), _or_none(found.timestamp_ms), found.leader_epoch)
        for of, found in sorted(ours.items())
    )


def configs(ours: Iterable[ConfigEntry]) -> tuple[answers.JavaConfig, ...]:
    return tuple(
        answers.JavaConfig(
            name=entry.name,
            value=entry.value,
            source=entry.source.name,
            sensitive=entry.is_sensitive,
            read_only=entry.is_read_only,
            type=entry.config_type.name,
            documentation=entry.documentation,
            synonyms=tuple(
                answers.JavaConfigSynonym(synonym.name, synonym.value, synonym.source.name)
                for synonym in entry.synonyms
            ),
        )
        for entry in sorted(ours, key=lambda entry: entry.name)
    )


def config_resource(ours: ConfigResource) -> answers.JavaConfigResource:
    return answers.JavaConfigResource(ours.resource_type.name, ours.name)


def acl(ours: AclBinding) -> answers.JavaAcl:
    return answers.JavaAcl(
        resource_type=ours.resource_type.name,
        resource_name=ours.resource_name,
        pattern_type=ours.pattern_type.name,
        principal=ours.principal,
        host=ours.host,
        operation=ours.operation.name,
        permission_type=ours.permission_type.name,
    )


def quotas(ours: Mapping[ClientQuotaEntity, Mapping[str, float]]) -> list[answers.JavaQuotas]:
    return [answers.JavaQuotas(dict(entity), dict(values)) for entity, values in ours.items()]


def scram_users(ours: Mapping[str, Sequence[ScramCredentialInfo]]) -> tuple[answers.JavaScramUser, ...]:
    return tuple(
        answers.JavaScramUser(
            user,
            tuple(
                answers.JavaScramCredential(credential.mechanism.name, credential.iterations)
                for credential in sorted(credentials, key=lambda credential: credential.mechanism.name)
            ),
        )
        for user, credentials in sorted(ours.items())
    )


def delegation_token(ours: DelegationToken) -> answers.JavaDelegationToken:
    assert ours.requester is not None
    return answers.JavaDelegationToken(
        token_id=ours.token_id,
        owner=ours.owner,
        requester=ours.requester,
        renewers=tuple(sorted(ours.renewers)),
        issue_timestamp=ours.issue_timestamp_ms,
        expiry_timestamp=ours.expiry_timestamp_ms,
        max_timestamp=ours.max_timestamp_ms,
    )


def group_listings(ours: Iterable[GroupListing]) -> tuple[answers.JavaGroupListing, ...]:
    return tuple(
        answers.JavaGroupListing(
            group_id=group.group_id,
            type=None if group.type is None else group.type.name,
            protocol=group.protocol_type,
            state=None if group.state is None else group.state.name,
            simple=group.is_simple_consumer_group,
        )
        for group in sorted(ours, key=lambda group: group.group_id)
    )


def group(
    ours: ClassicGroupDescription | ConsumerGroupDescription | ShareGroupDescription | StreamsGroupDescription,
) -> answers.JavaGroup:
    described = answers.JavaGroup(
        group_id=ours.group_id,
        type="CLASSIC",
        state=ours.state.name,
        protocol=None,
        assignor=None,
        simple=None,
        epoch=None,
        assignment_epoch=None,
        topology_epoch=None,
        coordinator=ours.coordinator,
        authorized_operations=operations(ours.authorized_operations),
        members=tuple(sorted(map(_member, ours.members), key=lambda member: member.member_id)),
    )
    if isinstance(ours, ClassicGroupDescription):
        simple = not ours.protocol_type
        return msgspec.structs.replace(described, protocol=ours.protocol_type, assignor=ours.protocol, simple=simple)
    described = msgspec.structs.replace(described, epoch=ours.group_epoch, assignment_epoch=ours.assignment_epoch)
    if isinstance(ours, ConsumerGroupDescription):
        simple = ours.is_simple_consumer_group
        return msgspec.structs.replace(described, type=ours.type.name, assignor=ours.assignor, simple=simple)
    if isinstance(ours, ShareGroupDescription):
        return msgspec.structs.replace(described, type="SHARE")
    epoch = None if ours.topology is None else ours.topology.epoch
    return msgspec.structs.replace(described, type="STREAMS", topology_epoch=epoch)


def group_offset(of: TopicPartition, ours: CommittedOffset) -> answers.JavaGroupOffset:
    return answers.JavaGroupOffset(partition(of), ours.offset, ours.leader_epoch, ours.metadata)


def share_group_offset(of: TopicPartition, ours: SharePartitionOffset) -> answers.JavaShareGroupOffset:
    return answers.JavaShareGroupOffset(partition(of), ours.start_offset, ours.leader_epoch, ours.lag)


def transaction_listing(ours: TransactionListing) -> answers.JavaTransactionListing:
    return answers.JavaTransactionListing(ours.transactional_id, ours.producer_id, ours.state.name)


def transaction(transactional_id: str, ours: TransactionDescription) -> answers.JavaTransaction:
    return answers.JavaTransaction(
        transactional_id=transactional_id,
        coordinator=ours.coordinator,
        state=ours.state.name,
        producer_id=ours.producer_id,
        producer_epoch=ours.producer_epoch,
        timeout_ms=ours.timeout_ms,
        start_timestamp=ours.start_time_ms,
        partitions=partitions(ours.partitions),
    )


def producer(ours: ProducerState) -> answers.JavaProducer:
    return answers.JavaProducer(
        producer_id=ours.producer_id,
        producer_epoch=ours.producer_epoch,
        last_sequence=_or_none(ours.last_sequence),
        last_timestamp=_or_none(ours.last_timestamp_ms),
        coordinator_epoch=ours.coordinator_epoch,
        transaction_start_offset=ours.transaction_start_offset,
    )


def _levels(ours: Mapping[str, FeatureLevels]) -> dict[str, answers.JavaVersions]:
    return {name: answers.JavaVersions(levels.lowest, levels.highest) for name, levels in ours.items()}


def _quorum_replica(ours: QuorumReplica) -> answers.JavaQuorumReplica:
    return answers.JavaQuorumReplica(
        id=ours.replica_id,
        directory_id=str(ours.directory_id or Uuid()),
        log_end_offset=_or_none(ours.log_end_offset),
        last_fetch_timestamp=ours.last_fetch_timestamp_ms,
        last_caught_up_timestamp=ours.last_caught_up_timestamp_ms,
    )


def _member(
    ours: ClassicGroupMember | ConsumerGroupMember | ShareGroupMember | StreamsGroupMember,
) -> answers.JavaMember:
    described = answers.JavaMember(
        member_id=ours.member_id,
        instance_id=None if isinstance(ours, ShareGroupMember) else ours.group_instance_id,
        rack_id=ours.rack_id,
        client_id=ours.client_id,
        host=ours.client_host,
        epoch=None if isinstance(ours, ClassicGroupMember) else ours.member_epoch,
        assignment=None,
        target_assignment=None,
    )
    if isinstance(ours, StreamsGroupMember):
        return described
    assigned = ours.partitions or () if isinstance(ours, ClassicGroupMember) else ours.assignment
    target = ours.target_assignment if isinstance(ours, ConsumerGroupMember) else None
    return msgspec.structs.replace(
        described,
        assignment=partitions(assigned),
        target_assignment=None if target is None else partitions(target),
    )


def _error_name(error: KafkaError | None) -> str | None:
    assert error is None or isinstance(error, ApiError)
    return None if error is None else error.NAME


def _or_none(number: int | None) -> int:
    return _NONE if number is None else number
