"""The rights that each API needs: every API without rights, and then with each right alone.

Only the codes of errors are compared, and how much an answer lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import pytest
from tests.apache_kafka.connection import Connection, connected_to
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.secure_broker import PASSWORDS, USER
from tests.interop.broker.same_answers.scenario import Pair
from tests.interop.broker.same_answers.talk import Side

from kafkawire import protocol
from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    OPERATIONS_OF_RESOURCES,
    AclOperation,
    AclPermissionType,
    ResourceType,
)
from kafkawire.wire import Message

pytestmark = pytest.mark.interop

TOPIC, GROUP, CLUSTER = "rights-topic", "rights-group", CLUSTER_NAME
ANY, LITERAL, TOPIC_CONFIG, BROKER_CONFIG = 1, 3, 2, 4
EVERYTHING = protocol.DeleteAclsRequest.DeleteAclsFilter(ANY, None, ANY, None, None, ANY, ANY)

NAMES = {ResourceType.TOPIC: TOPIC, ResourceType.GROUP: GROUP, ResourceType.CLUSTER: CLUSTER}
RIGHTS: tuple[tuple[ResourceType, AclOperation] | None, ...] = (
    None,
    *((kind, operation) for kind in NAMES for operation in sorted(OPERATIONS_OF_RESOURCES[kind])),
)


def requests() -> Iterator[tuple[Message, int]]:
    """All APIs; no request changes anything, for any user."""
    p = protocol
    yield p.MetadataRequest((p.MetadataRequest.MetadataRequestTopic(name=TOPIC),), False, True, True), 10
    yield p.MetadataRequest((p.MetadataRequest.MetadataRequestTopic(name="rights-none"),), True, True, True), 10
    yield p.MetadataRequest(None, False), 12
    yield p.DescribeClusterRequest(include_cluster_authorized_operations=True), 1
    topics = p.DescribeTopicPartitionsRequest
    yield topics((topics.TopicRequest(TOPIC), topics.TopicRequest("rights-none"))), 0
    creation = p.CreateTopicsRequest.CreatableTopic
    yield p.CreateTopicsRequest((creation(TOPIC, 1, 1), creation("rights-new", 1, 1)), 9000, validate_only=True), 7
    yield p.DeleteTopicsRequest(topic_names=("rights-none",), timeout_ms=9000), 5
    yield p.DeleteTopicsRequest((p.DeleteTopicsRequest.DeleteTopicState("rights-none"),), timeout_ms=9000), 6
    partitions = p.CreatePartitionsRequest.CreatePartitionsTopic
    yield p.CreatePartitionsRequest((partitions(TOPIC, 3, None), partitions("rights-none", 3, None)), 9000, True), 3
    described = p.DescribeConfigsRequest.DescribeConfigsResource
    resources = ((TOPIC_CONFIG, TOPIC), (TOPIC_CONFIG, "rights-none"), (BROKER_CONFIG, ""), (32, GROUP), (16, "cm"))
    few = ("retention.ms", "log.retention.ms", "metrics", "consumer.session.timeout.ms")
    yield p.DescribeConfigsRequest(tuple(described(kind, name, few) for kind, name in resources)), 4
    replaced = p.AlterConfigsRequest.AlterConfigsResource
    yield p.AlterConfigsRequest(tuple(replaced(kind, name) for kind, name in resources[:2]), True), 2
    altered = p.IncrementalAlterConfigsRequest.AlterConfigsResource
    yield p.IncrementalAlterConfigsRequest(tuple(altered(kind, name) for kind, name in resources), True), 1
    yield p.ListConfigResourcesRequest(), 1
    yield p.DescribeAclsRequest(ANY, None, ANY, None, None, ANY, ANY), 3
    yield p.CreateAclsRequest((p.CreateAclsRequest.AclCreation(2, "", 3, "User:a", "*", 3, 3),)), 3
    yield p.DeleteAclsRequest((msgspec.structs.replace(EVERYTHING, resource_name_filter="rights-none"),)), 3
    yield p.DescribeClientQuotasRequest(), 1
    entity = p.AlterClientQuotasRequest.EntityData("user", "rights")
    yield p.AlterClientQuotasRequest((p.AlterClientQuotasRequest.EntryData((entity,)),), validate_only=True), 1
    named = p.DescribeUserScramCredentialsRequest.UserName("rights")
    yield p.AlterUserScramCredentialsRequest((p.AlterUserScramCredentialsRequest.ScramCredentialDeletion("a", 1),)), 0
    yield p.DescribeUserScramCredentialsRequest((named,)), 0
    yield p.FindCoordinatorRequest(coordinator_keys=(GROUP,)), 4
    yield p.ListGroupsRequest(), 4
    yield p.DescribeGroupsRequest((GROUP, "rights-none"), include_authorized_operations=True), 5
    yield p.DeleteGroupsRequest(("rights-none", GROUP)), 2
    yield from requests_about_share_groups()
    yield from requests_about_streams_groups()
    yield from requests_about_data()
    yield from requests_about_the_cluster()


def requests_about_share_groups() -> Iterator[tuple[Message, int]]:
    p = protocol
    yield p.ShareGroupHeartbeatRequest("rights-none", "stranger", 5, None, (TOPIC, "rights-none")), 1
    yield p.ShareGroupDescribeRequest((GROUP, "rights-none"), include_authorized_operations=True), 1
    listed = p.DescribeShareGroupOffsetsRequest
    topics = tuple(listed.DescribeShareGroupOffsetsRequestTopic(name, (0,)) for name in (TOPIC, "rights-none"))
    groups = ((GROUP, None), (GROUP, topics), ("rights-none", None), ("rights-none", ()))
    yield listed(tuple(listed.DescribeShareGroupOffsetsRequestGroup(*each) for each in groups)), 1
    altered = p.AlterShareGroupOffsetsRequest
    partition = (altered.AlterShareGroupOffsetsRequestPartition(0),)
    names = (TOPIC, "rights-none")
    yield altered(GROUP, tuple(altered.AlterShareGroupOffsetsRequestTopic(name, partition) for name in names)), 0
    deleted = p.DeleteShareGroupOffsetsRequest
    yield deleted(GROUP, tuple(deleted.DeleteShareGroupOffsetsRequestTopic(name) for name in names)), 0


def requests_about_streams_groups() -> Iterator[tuple[Message, int]]:
    p = protocol
    asked = p.StreamsGroupHeartbeatRequest
    for group in (GROUP, "rights-none"):
        for topics in ((TOPIC,), (TOPIC, "rights-none")):
            topology = asked.Topology(0, (asked.Subtopology("0", topics),))
            yield asked(group, "stranger", 5, topology=topology), 0
        yield asked(group, "stranger", 5), 0
    yield p.StreamsGroupDescribeRequest((GROUP, "rights-none"), include_authorized_operations=True), 0


def requests_about_data() -> Iterator[tuple[Message, int]]:
    p = protocol
    committed = p.OffsetCommitRequest.OffsetCommitRequestTopic
    # An unknown member commits nothing.
    yield p.OffsetCommitRequest(GROUP, 5, "nobody", None, -1, (committed(TOPIC), committed("rights-none"))), 8
    fetched = p.OffsetFetchRequest
    asked = tuple(fetched.OffsetFetchRequestTopics(name, partition_indexes=(0,)) for name in (TOPIC, "rights-none"))
    yield fetched(groups=(fetched.OffsetFetchRequestGroup(GROUP, topics=asked),)), 8
    yield fetched(groups=(fetched.OffsetFetchRequestGroup(GROUP, topics=None),)), 8
    deleted = p.OffsetDeleteRequest
    partition = (deleted.OffsetDeleteRequestPartition(0),)
    yield deleted(GROUP, tuple(deleted.OffsetDeleteRequestTopic(name, partition) for name in (TOPIC, "rights-none"))), 0
    listed = p.ListOffsetsRequest
    at_end = (listed.ListOffsetsPartition(0, timestamp=-1),)
    yield listed(-1, topics=tuple(listed.ListOffsetsTopic(name, at_end) for name in (TOPIC, "rights-none"))), 6
    read = p.FetchRequest
    first = (read.FetchPartition(0, partition_max_bytes=100),)
    yield read(topics=tuple(read.FetchTopic(name, partitions=first) for name in (TOPIC, "rights-none"))), 12
    written = p.ProduceRequest
    nothing = (written.PartitionProduceData(0, b""),)
    yield written(None, 1, 9000, tuple(written.TopicProduceData(name, partition_data=nothing) for name in (TOPIC,))), 9
    yield p.InitProducerIdRequest(None), 4


def requests_about_the_cluster() -> Iterator[tuple[Message, int]]:
    p = protocol
    described = p.DescribeLogDirsRequest.DescribableLogDirTopic
    yield p.DescribeLogDirsRequest((described(TOPIC, (0,)),)), 4
    moved = p.AlterReplicaLogDirsRequest.AlterReplicaLogDirTopic
    yield (
        p.AlterReplicaLogDirsRequest((p.AlterReplicaLogDirsRequest.AlterReplicaLogDir("/x", (moved(TOPIC, (0,)),)),)),
        2,
    )
    yield p.ElectLeadersRequest(0, (p.ElectLeadersRequest.TopicPartitions(TOPIC, (0,)),), 9000), 2
    reassigned = p.AlterPartitionReassignmentsRequest
    partition = reassigned.ReassignablePartition(0, None)
    yield reassigned(9000, topics=(reassigned.ReassignableTopic(TOPIC, (partition,)),)), 0
    yield p.ListPartitionReassignmentsRequest(9000), 0
    quorum = p.DescribeQuorumRequest
    yield quorum((quorum.TopicData("__cluster_metadata", (quorum.PartitionData(0),)),)), 2
    update = p.UpdateFeaturesRequest.FeatureUpdateKey("group.version", 1, False, 1)
    yield p.UpdateFeaturesRequest(9000, (update,), validate_only=True), 2
    yield p.UnregisterBrokerRequest(99), 0
    yield p.AddRaftVoterRequest(None, 1000, 2), 0
    yield p.RemoveRaftVoterRequest(None, 2), 0
    ends = p.OffsetForLeaderEpochRequest
    asked = (ends.OffsetForLeaderPartition(0, -1, 0),)
    yield ends(-2, (ends.OffsetForLeaderTopic(TOPIC, asked), ends.OffsetForLeaderTopic("rights-none", asked))), 4
    yield p.DescribeDelegationTokenRequest(), 3
    yield p.RenewDelegationTokenRequest(b"none"), 2
    yield p.ExpireDelegationTokenRequest(b"none"), 2
    yield p.CreateDelegationTokenRequest("User", "somebody"), 3


def test_every_api_asks_for_the_rights_that_kafka_asks_for(secure_pair: Pair) -> None:
    for side in (secure_pair.kafka, secure_pair.embedded):
        set_up(side)
    different = []
    for right in RIGHTS:
        kafkas, ours = (answers(side, right) for side in (secure_pair.kafka, secure_pair.embedded))
        different += [(right, name, kafkas[name], ours[name]) for name in kafkas if ours[name] != kafkas[name]]
    for side in (secure_pair.kafka, secure_pair.embedded):
        grant(side, None)
    assert different == [], "\n".join(map(str, different))


def answers(side: Side, right: tuple[ResourceType, AclOperation] | None) -> Mapping[str, Sequence[int]]:
    """The codes that who has one right gets, by request."""
    grant(side, right)
    found = {}
    with connected_to(side.host, side.sasl_port) as connection:
        connection.ask(protocol.SaslHandshakeRequest("PLAIN"), 1, protocol.SaslHandshakeResponse)
        proof = protocol.SaslAuthenticateRequest(f"\0{USER}\0{PASSWORDS[USER]}".encode())
        assert connection.ask(proof, 2, protocol.SaslAuthenticateResponse).error_code == 0
        for request, version in requests():
            response = protocol.message_class(request.NAME.replace("Request", "Response"))
            found[f"{request} {version}"] = tuple(codes(connection.ask(request, version, response)))
    return found


def codes(answer: object) -> Iterator[int]:
    """All errors and operations in an answer, in an order of their own."""
    if isinstance(answer, protocol.DescribeUserScramCredentialsResponse) and answer.error_code:
        yield answer.error_code  # beside which Kafka lists users without names: see the deviations of the broker
    elif isinstance(answer, msgspec.Struct):
        for name in answer.__struct_fields__:
            value = getattr(answer, name)
            if name.endswith(("error_code", "authorized_operations")):
                yield value
            else:
                yield from codes(value)
    elif isinstance(answer, Sequence) and not isinstance(answer, (str, bytes)):
        yield from sorted(code for element in answer for code in codes(element))


def set_up(side: Side) -> None:
    """A topic, a coordinator for groups, and ids for producers."""
    p = protocol
    with connected_to(side.host, side.port) as connection:
        topic = p.CreateTopicsRequest.CreatableTopic(TOPIC, 1, 1)
        connection.ask(p.CreateTopicsRequest((topic,), 9000), 7, p.CreateTopicsResponse)
        find = p.FindCoordinatorRequest(coordinator_keys=(GROUP,))
        eventually(
            lambda: connection.ask(find, 4, p.FindCoordinatorResponse).coordinators[0].error_code,
            lambda code: code == 0,
        )
        describe = p.DescribeGroupsRequest((GROUP,))
        eventually(
            lambda: connection.ask(describe, 5, p.DescribeGroupsResponse).groups[0].error_code, lambda code: code == 0
        )

        init = p.InitProducerIdRequest(None)
        eventually(lambda: connection.ask(init, 4, p.InitProducerIdResponse).error_code, lambda code: code == 0)


def grant(side: Side, right: tuple[ResourceType, AclOperation] | None) -> None:
    """Give the user one right and no other."""
    p = protocol
    with connected_to(side.host, side.port) as connection:
        connection.ask(p.DeleteAclsRequest((EVERYTHING,)), 3, p.DeleteAclsResponse)
        if right is not None:
            kind, operation = right
            acl = p.CreateAclsRequest.AclCreation(
                kind, NAMES[kind], LITERAL, f"User:{USER}", "*", operation, AclPermissionType.ALLOW
            )
            created = connection.ask(p.CreateAclsRequest((acl,)), 3, p.CreateAclsResponse)
            assert created.results[0].error_code == 0
        wanted = [] if right is None else [int(right[1])]
        eventually(lambda: operations(connection), lambda found: found == wanted)


def operations(connection: Connection) -> list[int]:
    everything = protocol.DescribeAclsRequest(ANY, None, ANY, None, None, ANY, ANY)
    described = connection.ask(everything, 3, protocol.DescribeAclsResponse)
    return [acl.operation for resource in described.resources for acl in resource.acls]
