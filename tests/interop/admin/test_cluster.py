"""The cluster, its features, its quorum, its disks, and what nodes and users can do, at real brokers."""

from __future__ import annotations

import operator
import uuid
from collections.abc import Callable, Iterator

import pytest
from tests.apache_kafka.broker import Broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import Brokers, SecureBrokers
from tests.apache_kafka.releases import broker_releases, is_at_least, later_releases
from tests.apache_kafka.secure_broker import PASSWORDS, USER

from kafkawire.admin.client import BlockingAdminClient
from kafkawire.admin.connection.sasl.credentials import PlainCredentials
from kafkawire.admin.needs import Support
from kafkawire.admin.requirements import REQUIREMENTS
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter, AclOperation, ResourceType
from kafkawire.model.cluster import FeatureUpdate, Replica, UpgradeType
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic
from kafkawire.protocol.errors import (
    BrokerIdNotRegisteredError,
    InvalidRequestError,
    LogDirNotFoundError,
    MismatchedEndpointTypeError,
    UnsupportedEndpointTypeError,
    UnsupportedVersionError,
)
from kafkawire.wire.kafka_errors import ApiError, KafkaError

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(params=[*broker_releases(), *later_releases()])
def broker(request: pytest.FixtureRequest, kafka_brokers: Brokers) -> Broker:
    return kafka_brokers(request.param)


@pytest.fixture
def of_controllers(broker: Broker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(bootstrap_controllers=f"{broker.host}:{broker.controller_port}") as client:
        yield client


def test_the_cluster_is_described(admin: BlockingAdminClient, broker: Broker) -> None:
    described = admin.describe_cluster(include_authorized_operations=True)
    assert (described.cluster_id, described.controller) == (broker.cluster_id, broker.node_id)
    assert [member.node.port for member in described.nodes] == [broker.port]
    assert described.authorized_operations is not None
    assert AclOperation.ALTER in described.authorized_operations


def test_newer_brokers_describe_fenced_brokers(admin: BlockingAdminClient, broker: Broker) -> None:
    if is_at_least(broker.release, "4.0"):
        assert [node.is_fenced for node in admin.describe_cluster(include_fenced_brokers=True).nodes] == [False]
    else:
        with pytest.raises(UnsupportedVersionError):
            admin.describe_cluster(include_fenced_brokers=True)


def test_controllers_serve_their_methods(of_controllers: BlockingAdminClient, broker: Broker) -> None:
    described = of_controllers.describe_cluster()
    assert [(member.node.id, member.node.port) for member in described.nodes] == [
        (broker.node_id, broker.controller_port)
    ]
    assert of_controllers.describe_metadata_quorum().leader == broker.node_id
    assert "metadata.version" in of_controllers.describe_features().supported
    with pytest.raises(UnsupportedEndpointTypeError):
        of_controllers.list_topics()


def test_brokers_and_controllers_are_not_mixed_up(broker: Broker) -> None:
    with (
        BlockingAdminClient(f"{broker.host}:{broker.controller_port}") as client,
        pytest.raises(MismatchedEndpointTypeError, match="bootstrap_controllers"),
    ):
        client.list_topics()
    with (
        BlockingAdminClient(bootstrap_controllers=broker.address) as client,
        pytest.raises(MismatchedEndpointTypeError),
    ):
        client.describe_metadata_quorum()


def test_features_are_described_and_their_updates_validated(admin: BlockingAdminClient, broker: Broker) -> None:
    features = admin.describe_features(node=broker.node_id)
    level = features.finalized["metadata.version"].highest
    assert level <= features.supported["metadata.version"].highest
    assert features.finalized_epoch is not None
    same = {"metadata.version": FeatureUpdate(level)}
    assert admin.update_features(same, validate_only=True).all() == {"metadata.version": None}
    absurd = {"metadata.version": FeatureUpdate(30_000), "nope": FeatureUpdate(1, UpgradeType.UPGRADE)}
    assert set(admin.update_features(absurd, validate_only=True).errors()) == {"metadata.version", "nope"}
    assert admin.describe_features().finalized["metadata.version"].highest == level


def test_the_quorum_is_described(admin: BlockingAdminClient, broker: Broker) -> None:
    quorum = admin.describe_metadata_quorum()
    assert (quorum.leader, [voter.replica_id for voter in quorum.voters]) == (broker.node_id, [broker.node_id])
    assert quorum.high_watermark > 0


def test_voters_of_a_quorum_that_is_static_cannot_be_changed(admin: BlockingAdminClient) -> None:
    directory = Uuid(uuid.uuid4().bytes)
    with pytest.raises(ApiError):
        admin.add_raft_voter(9, directory, [])
    with pytest.raises(ApiError):
        admin.remove_raft_voter(9, directory)


def test_a_broker_that_is_not_registered_cannot_be_forgotten(admin: BlockingAdminClient) -> None:
    with pytest.raises((BrokerIdNotRegisteredError, InvalidRequestError)):
        admin.unregister_broker(99)


def test_a_client_has_an_id_for_telemetry_if_there_is_some(admin: BlockingAdminClient) -> None:
    with pytest.raises(UnsupportedVersionError):
        admin.client_instance_id()


def test_disks_are_described_and_replicas_found(admin: BlockingAdminClient, broker: Broker) -> None:
    name = f"disks-{uuid.uuid4()}"
    admin.create_topics([NewTopic(name, 1, 1)]).all()
    admin.wait_for_topics([name]).all()
    replica, stranger = Replica(TopicPartition(name, 0), broker.node_id), Replica(TopicPartition("nope", 0), 1)
    located = eventually(lambda: admin.describe_replica_log_dirs([replica])[replica].current or "", bool)
    directory = admin.describe_log_dirs([broker.node_id])[broker.node_id][located]
    assert located == str(broker.data)
    assert directory.error is None
    assert directory.replicas[replica.partition].size_bytes == 0
    assert directory.total_bytes is not None
    assert admin.describe_replica_log_dirs([stranger])[stranger].current is None
    moved = admin.alter_replica_log_dirs({replica: "/nowhere"})
    assert isinstance(moved.errors()[replica], LogDirNotFoundError)
    admin.alter_replica_log_dirs({replica: located}).all()
    admin.delete_topics([name]).all()


def test_capabilities_of_real_nodes(
    admin: BlockingAdminClient, of_controllers: BlockingAdminClient, broker: Broker
) -> None:
    found = admin.capabilities()[broker.node_id]
    assert found["create_topics"].support is Support.SUPPORTED
    assert found["describe_acls"].support is Support.FALLBACK  # the batch version is a proposal
    is_newer = is_at_least(broker.release, "4.0")
    assert (found["describe_streams_groups"].support is Support.SUPPORTED) == is_newer
    controller = of_controllers.capabilities()[broker.node_id]
    assert controller["list_topics"].support is Support.UNSUPPORTED
    assert controller["describe_metadata_quorum"].support is Support.SUPPORTED


TOPIC = f"rights-{uuid.uuid4()}"
PARTITION = TopicPartition(TOPIC, 0)
Call = Callable[[BlockingAdminClient], object]
SAMPLE: dict[str, Call] = {
    "create_topics": lambda admin: admin.create_topics([NewTopic(TOPIC, 1, 1)], validate_only=True).all(),
    "create_partitions": lambda admin: admin.create_partitions({"rights": 2}, validate_only=True).all(),
    "describe_topics": lambda admin: admin.describe_topics(["rights"]).all(),
    "elect_leaders": lambda admin: admin.elect_leaders([TopicPartition("rights", 0)]).all(),
    "list_partition_reassignments": lambda admin: admin.list_partition_reassignments(),
    "describe_metadata_quorum": lambda admin: admin.describe_metadata_quorum(),
    "describe_log_dirs": lambda admin: admin.describe_log_dirs([1]).all(),
    "describe_acls": lambda admin: admin.describe_acls([AclBindingFilter()]).all(),
    "describe_user_scram_credentials": lambda admin: admin.describe_user_scram_credentials([USER]).all(),
    "list_offsets": lambda admin: admin.list_offsets({TopicPartition("rights", 0): 0}).all(),
}


def _resource(resource_type: ResourceType) -> str:
    return "kafka-cluster" if resource_type is ResourceType.CLUSTER else "*"


@pytest.mark.parametrize("release", broker_releases())
@pytest.mark.parametrize("method", SAMPLE)
def test_the_rights_of_a_method_are_enough_and_needed(
    secure_kafka_brokers: SecureBrokers, release: str, method: str
) -> None:
    secure = secure_kafka_brokers(release)
    call = SAMPLE[method]
    acls = [
        AclBinding(right.resource_type, _resource(right.resource_type), f"User:{USER}", right.operation)
        for (right, *_) in REQUIREMENTS[method].rights
    ]
    credentials = PlainCredentials(USER, PASSWORDS[USER])
    address = f"{secure.broker.host}:{secure.sasl_plaintext_port}"
    with (
        BlockingAdminClient(secure.broker.address) as root,
        BlockingAdminClient(address, credentials=credentials) as user,
    ):
        root.create_topics([NewTopic("rights", 1, 1)])
        root.wait_for_topics(["rights"]).all()
        eventually(lambda: _is_refused(user, call), bool)
        root.create_acls(acls).all()
        try:
            eventually(lambda: _is_refused(user, call), operator.not_)
        finally:
            root.delete_acls([AclBindingFilter(principal=f"User:{USER}")]).all()
        eventually(lambda: _is_refused(user, call), bool)


def _is_refused(user: BlockingAdminClient, call: Call) -> bool:
    """Whether the user lacks the right; other errors count as neither allowed nor refused."""
    try:
        call(user)
    except ExceptionGroup as failures:
        errors: list[Exception] = list(failures.exceptions)
    except KafkaError as error:
        errors = [error]
    else:
        return False
    assert all("AuthorizationFailed" in type(error).__name__ for error in errors), errors
    return True
