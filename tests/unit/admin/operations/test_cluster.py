"""The cluster, its features, its quorum and its disks (admin-cluster)."""

from __future__ import annotations

import pytest
from tests.stand_ins.cluster import FAST, NodeHandler, StandInCluster

from kafkawire.admin.client import AdminClient
from kafkawire.layout import Uuid
from kafkawire.model.cluster import FeatureUpdate, Replica, ReplicaLogDirs, UpgradeType
from kafkawire.model.partitions import TopicPartition
from kafkawire.protocol import (
    AddRaftVoterRequest,
    AddRaftVoterResponse,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeClusterResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
    UnregisterControllerRequest,
    UnregisterControllerResponse,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kafkawire.protocol.api_table import ApiKey
from kafkawire.protocol.error_codes import ErrorCode
from kafkawire.protocol.errors import (
    BrokerIdNotRegisteredError,
    ClusterAuthorizationFailedError,
    ControllerIdNotRegisteredError,
    FeatureUpdateFailedError,
    InvalidUpdateVersionError,
    KafkaStorageError,
    LogDirNotFoundError,
    UnknownServerError,
    UnsupportedVersionError,
)
from kafkawire.rpc import Request
from kafkawire.wire import Message

Handlers = dict[type[Message], NodeHandler]
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


async def test_the_cluster_is_described() -> None:
    async with StandInCluster(2) as cluster, cluster.client() as client:
        described = await client.describe_cluster()
        assert (described.cluster_id, described.controller) == ("stand-in", 1)
        assert [(member.node.id, member.is_fenced) for member in described.nodes] == [(1, False), (2, False)]
        assert described.authorized_operations is None


async def test_older_brokers_describe_the_cluster_by_metadata() -> None:
    async with StandInCluster(2) as cluster, cluster.client() as client:
        for broker in cluster.brokers.values():
            del broker.versions[ApiKey.DESCRIBE_CLUSTER]
            broker.versions[ApiKey.METADATA] = range(11)
        described = await client.describe_cluster()
        assert (described.cluster_id, len(described.nodes)) == ("stand-in", 2)
        with pytest.raises(UnsupportedVersionError):
            await client.describe_cluster(include_fenced_brokers=True)


async def test_controllers_are_described_through_controllers() -> None:
    async with StandInCluster(2) as cluster:
        async with AdminClient(bootstrap_controllers=cluster.bootstrap, settings=FAST) as client:
            assert len((await client.describe_cluster()).nodes) == 2
        asked = [request.body for broker in cluster.brokers.values() for request in broker.requests]
        assert {getattr(body, "endpoint_type", None) for body in asked} == {2}


async def test_requests_through_controllers_go_to_the_active_one() -> None:
    def describe(node: int, _: Request) -> Message:
        if node == 1:
            cluster.controller = 2
            return DescribeQuorumResponse(error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return quorum()

    async with StandInCluster(2, {DescribeQuorumRequest: describe}) as cluster:
        async with AdminClient(bootstrap_controllers=cluster.bootstrap, settings=FAST) as client:
            assert (await client.describe_metadata_quorum()).leader == 1
        assert [node for node, _ in cluster.asked] == [1, 2]


def quorum(topics: tuple[str, ...] = ("__cluster_metadata",), partitions: int = 1, code: int = 0) -> Message:
    answer = DescribeQuorumResponse
    state = answer.ReplicaState(replica_id=1, log_end_offset=-1)
    found = answer.PartitionData(
        partition_index=0, error_code=code, leader_id=1, leader_epoch=3, high_watermark=9, current_voters=(state,),
        observers=(),
    )  # fmt: skip
    listener = answer.Listener("CONTROLLER", "c", 9093)
    return answer(
        topics=tuple(answer.TopicData(name, (found,) * partitions) for name in topics),
        nodes=(answer.Node(1, (listener,)),),
    )


async def test_the_quorum_is_described() -> None:
    async with StandInCluster(1, {DescribeQuorumRequest: lambda *_: quorum()}) as cluster, cluster.client() as client:
        described = await client.describe_metadata_quorum()
        assert (described.leader, described.leader_epoch, described.high_watermark) == (1, 3, 9)
        (voter,) = described.voters
        assert (voter.replica_id, voter.directory_id, voter.log_end_offset) == (1, None, None)
        assert [(at.listener, at.host, at.port) for at in described.endpoints[1]] == [("CONTROLLER", "c", 9093)]


@pytest.mark.parametrize(
    "answer",
    [
        quorum(()),
        quorum(("other",)),
        quorum(("__cluster_metadata", "other")),
        quorum(partitions=2),
        quorum(partitions=0),
    ],
    ids=["nothing", "another topic", "two topics", "two partitions", "no partition"],
)
async def test_an_answer_about_something_else_is_no_quorum(answer: Message) -> None:
    async with StandInCluster(1, {DescribeQuorumRequest: lambda *_: answer}) as cluster, cluster.client() as client:
        with pytest.raises(UnknownServerError, match="expected one partition of"):
            await client.describe_metadata_quorum()


async def test_the_error_of_the_partition_is_that_of_the_quorum() -> None:
    answer = quorum(code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    async with StandInCluster(1, {DescribeQuorumRequest: lambda *_: answer}) as cluster, cluster.client() as client:
        with pytest.raises(ClusterAuthorizationFailedError):
            await client.describe_metadata_quorum()


@pytest.mark.parametrize("waits", [True, False])
async def test_a_voter_that_need_not_be_committed_needs_a_newer_controller(waits: bool) -> None:
    versions: dict[int, range] = {ApiKey.ADD_RAFT_VOTER: range(1)}
    handlers: Handlers = {AddRaftVoterRequest: lambda *_: AddRaftVoterResponse()}
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        adding = client.add_raft_voter(2, Uuid(bytes(16)), [], ack_when_committed=waits)
        if waits:
            await adding
        else:
            with pytest.raises(UnsupportedVersionError):
                await adding
        assert len(cluster.asked) == waits


@pytest.mark.parametrize("code", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE])
async def test_voters_are_changed_again_after_the_controller_moved_while_a_broker_forwarded(code: ErrorCode) -> None:
    codes: list[int] = [code, 0, code, 0]
    handlers: Handlers = {
        AddRaftVoterRequest: lambda *_: AddRaftVoterResponse(error_code=codes.pop(0)),
        RemoveRaftVoterRequest: lambda *_: RemoveRaftVoterResponse(error_code=codes.pop(0)),
    }
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        await client.add_raft_voter(2, Uuid(bytes(16)), [])
        await client.remove_raft_voter(2, Uuid(bytes(16)))
    assert codes == []


async def test_a_broker_that_is_forgotten_at_a_second_try_says_that_the_first_may_have_done_it() -> None:
    codes: list[int] = [ErrorCode.REQUEST_TIMED_OUT, ErrorCode.BROKER_ID_NOT_REGISTERED]
    handlers: Handlers = {UnregisterBrokerRequest: lambda *_: UnregisterBrokerResponse(error_code=codes.pop(0))}
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        with pytest.raises(BrokerIdNotRegisteredError) as raised:
            await client.unregister_broker(5)
        assert (raised.value.attempts, raised.value.outcome_unknown) == (2, True)


async def test_a_controller_that_is_not_registered_cannot_be_forgotten() -> None:
    asked: list[int] = []

    def forget(_: int, request: Request) -> Message:
        assert isinstance(request.body, UnregisterControllerRequest)
        asked.append(request.body.controller_id)
        code = 0 if request.body.controller_id == 5 else ErrorCode.CONTROLLER_ID_NOT_REGISTERED
        return UnregisterControllerResponse(error_code=code, error_message="there is none" if code else None)

    async with StandInCluster(1, {UnregisterControllerRequest: forget}) as cluster, cluster.client() as client:
        await client.unregister_controller(5)
        with pytest.raises(ControllerIdNotRegisteredError, match="there is none"):
            await client.unregister_controller(6)
    assert asked == [5, 6]


async def test_older_clusters_cannot_forget_controllers() -> None:
    async with StandInCluster(1) as cluster, cluster.client() as client:
        with pytest.raises(UnsupportedVersionError):
            await client.unregister_controller(5)


def updating(top: int = 0, results: dict[str, int] | None = None) -> Handlers:
    def update(_: int, __: Request) -> Message:
        result = UpdateFeaturesResponse.UpdatableFeatureResult
        told = tuple(result(name, code, None) for name, code in (results or {}).items())
        return UpdateFeaturesResponse(error_code=top, results=told)

    return {UpdateFeaturesRequest: update}


UPDATES = {"a": FeatureUpdate(1), "b": FeatureUpdate(0, UpgradeType.SAFE_DOWNGRADE)}


@pytest.mark.parametrize("newest", [0, 1, 2])
async def test_features_are_updated_all_or_none(newest: int) -> None:
    versions: dict[int, range] = {ApiKey.UPDATE_FEATURES: range(newest + 1)}
    handlers = updating(results={} if newest == 2 else dict.fromkeys(UPDATES, 0))
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        assert list((await client.update_features(UPDATES)).all()) == ["a", "b"]
        ((_, request),) = cluster.asked
    assert isinstance(request, UpdateFeaturesRequest)
    first, second = request.feature_updates
    assert (first.allow_downgrade, second.allow_downgrade) == ((False, True) if newest == 0 else (False, False))
    assert (first.upgrade_type, second.upgrade_type) == ((1, 1) if newest == 0 else (1, 2))


async def test_one_error_of_a_newer_controller_is_that_of_all_features() -> None:
    handlers = updating(ErrorCode.FEATURE_UPDATE_FAILED)
    async with StandInCluster(1, handlers) as cluster, cluster.client() as client:
        errors = (await client.update_features(UPDATES)).errors()
        assert [type(error) for error in errors.values()] == [FeatureUpdateFailedError] * 2


async def test_an_older_controller_answers_for_each_feature_and_a_missing_result_is_an_error() -> None:
    versions: dict[int, range] = {ApiKey.UPDATE_FEATURES: range(2)}
    handlers = updating(results={"a": ErrorCode.INVALID_UPDATE_VERSION})
    async with StandInCluster(1, handlers, versions=versions) as cluster, cluster.client() as client:
        errors = (await client.update_features(UPDATES)).errors()
        assert [type(error) for error in errors.values()] == [InvalidUpdateVersionError, UnknownServerError]


@pytest.mark.parametrize(
    ("updates", "validate_only"), [({"a": FeatureUpdate(0, UpgradeType.UNSAFE_DOWNGRADE)}, False), (UPDATES, True)]
)
async def test_fields_that_an_old_controller_lacks_are_not_sent(
    updates: dict[str, FeatureUpdate], validate_only: bool
) -> None:
    versions: dict[int, range] = {ApiKey.UPDATE_FEATURES: range(1)}
    async with StandInCluster(1, updating(), versions=versions) as cluster, cluster.client() as client:
        errors = (await client.update_features(updates, validate_only=validate_only)).errors()
        assert {type(error) for error in errors.values()} == {UnsupportedVersionError}
        assert cluster.asked == []


Found = DescribeLogDirsResponse.DescribeLogDirsResult
InDir = DescribeLogDirsResponse.DescribeLogDirsTopic
OfTopic = DescribeLogDirsResponse.DescribeLogDirsPartition


def log_dirs(node: int, _: Request) -> Message:
    if node == 2:
        return DescribeLogDirsResponse()
    current = InDir(name="t", partitions=(OfTopic(0, 10, 1, False),))
    future = InDir(name="t", partitions=(OfTopic(0, 5, 7, True),))
    return DescribeLogDirsResponse(
        results=(
            Found(error_code=0, log_dir="/a", topics=(current,), total_bytes=100, usable_bytes=50),
            Found(error_code=0, log_dir="/b", topics=(future,)),
            Found(error_code=ErrorCode.KAFKA_STORAGE_ERROR, log_dir="/broken", topics=()),
        )
    )


async def test_disks_are_described_and_a_broken_one_hides_no_other() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        results = await client.describe_log_dirs([1, 2])
        dirs = results[1]
        assert (dirs["/a"].total_bytes, dirs["/b"].total_bytes) == (100, None)
        assert isinstance(dirs["/broken"].error, KafkaStorageError)
        assert dirs["/a"].replicas[P0].size_bytes == 10
        assert isinstance(results.errors()[2], ClusterAuthorizationFailedError)  # no directory at all: not authorised


async def test_replicas_are_found_with_where_they_go() -> None:
    async with StandInCluster(2, {DescribeLogDirsRequest: log_dirs}) as cluster, cluster.client() as client:
        results = await client.describe_replica_log_dirs([Replica(P0, 1), Replica(P1, 1), Replica(P0, 2)])
        assert results[Replica(P0, 1)] == ReplicaLogDirs("/a", 1, "/b", 7)
        assert results[Replica(P1, 1)] == ReplicaLogDirs()
        assert list(results.errors()) == [Replica(P0, 2)]


async def test_replicas_are_moved_on_their_nodes() -> None:
    def move(_: int, request: Request) -> Message:
        assert isinstance(request.body, AlterReplicaLogDirsRequest)
        answer = AlterReplicaLogDirsResponse
        return answer(
            results=tuple(
                answer.AlterReplicaLogDirTopicResult(
                    topic.name,
                    tuple(
                        answer.AlterReplicaLogDirPartitionResult(
                            number, ErrorCode.LOG_DIR_NOT_FOUND if directory.path == "/nowhere" else 0
                        )
                        for number in topic.partitions
                    ),
                )
                for directory in request.body.dirs
                for topic in directory.topics
            )
        )

    async with StandInCluster(2, {AlterReplicaLogDirsRequest: move}) as cluster, cluster.client() as client:
        moves = {Replica(P0, 1): "/b", Replica(P1, 1): "/nowhere", Replica(P0, 2): "/b"}
        results = await client.alter_replica_log_dirs(moves)
        assert list(results.values()) == [Replica(P0, 1), Replica(P0, 2)]
        assert isinstance(results.errors()[Replica(P1, 1)], LogDirNotFoundError)
        assert sorted(node for node, _ in cluster.asked) == [1, 2]


async def test_features_are_those_of_the_node_that_is_asked() -> None:
    async with StandInCluster(2) as cluster, cluster.client() as client:
        features = await client.describe_features(node=2)
        assert (features.supported, features.finalized, features.finalized_epoch) == ({}, {}, None)
        for broker in cluster.brokers.values():
            broker.versions[ApiKey.API_VERSIONS] = range(3)
    async with StandInCluster(1, versions={ApiKey.API_VERSIONS: range(3)}) as cluster, cluster.client() as client:
        with pytest.raises(UnsupportedVersionError):
            await client.describe_features()


async def test_the_answer_of_a_cluster_that_refuses_is_raised() -> None:
    refused = DescribeClusterResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    async with StandInCluster(1) as cluster, cluster.client() as client:
        cluster.brokers[1]._handlers[ApiKey.DESCRIBE_CLUSTER] = lambda _: refused
        with pytest.raises(ClusterAuthorizationFailedError):
            await client.describe_cluster()
