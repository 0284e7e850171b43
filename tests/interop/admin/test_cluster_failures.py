"""A cluster of three nodes: requests find their node, and every item has an outcome although a node dies.

What is killed is killed at once, as a power failure does, when the first outcome of a call is known: others of its
requests are on their way then, or about to be.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Iterable, Iterator, Set
from typing import TypeVar

import pytest
from tests.apache_kafka.broker import AUTHORIZER
from tests.apache_kafka.cluster import Cluster, running_cluster
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin.client import AdminClient
from kafkawire.admin.engine.operation import Progress
from kafkawire.admin.results import Results
from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter, AclOperation, ResourceType
from kafkawire.model.cluster import Replica
from kafkawire.model.partitions import ElectionType, OffsetSpec, TopicPartition
from kafkawire.model.quotas.entities import ClientQuotaAlteration, ClientQuotaEntity, ClientQuotaFilter
from kafkawire.model.scram import ScramMechanism, ScramUpsertion, UserMechanism
from kafkawire.model.topics import CreatedTopic, NewTopic
from kafkawire.protocol.errors import TopicAlreadyExistsError
from kafkawire.wire.kafka_errors import KafkaError, OperationTimeoutError

pytestmark = [pytest.mark.interop, pytest.mark.extended]

NODES = {1, 2, 3}
ACLS = 5_000
"""Those of five requests, which are sent one after the other."""

USERS = 6_000
"""With two quotas each, those of two requests."""

SMALL_BUFFER = {"log.cleaner.dedupe.buffer.size": str(2**22)}
"""A node that starts again with thousands of ACLs has not the usual 128 MiB left for its log cleaner."""

MECHANISMS = (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)
USERS_OF_A_CALL = 40
TOPICS_OF_A_CALL = 40
CALLS = 8
SECONDS = 60.0

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("failing-cluster")
    with running_cluster(
        newest_broker_release(), folder, properties={**AUTHORIZER, **SMALL_BUFFER}, heap="384m"
    ) as running:
        yield running


@pytest.fixture
def cluster(started: Cluster) -> Cluster:
    """All its nodes run."""
    started.make_whole()
    return started


@pytest.fixture
async def admin(cluster: Cluster) -> AsyncIterator[AdminClient]:
    async with AdminClient(cluster.bootstrap) as client:
        yield client


def new(kind: str) -> str:
    return f"{kind}-{time.monotonic_ns()}"


async def soon(ask: Callable[[], Awaitable[T]], holds: Callable[[T], object]) -> T:
    """The first answer that holds: a broker may learn of a change after the controller has made it."""
    deadline = time.monotonic() + SECONDS
    while not holds(answer := await ask()):
        assert time.monotonic() < deadline, f"after {SECONDS} s that is still not so"
        await asyncio.sleep(0.05)
    return answer


# Where requests go


async def test_brokers_and_controllers_are_found_from_any_node(cluster: Cluster) -> None:
    for node in cluster.nodes.values():
        async with AdminClient(node.address) as admin:
            described = await admin.describe_cluster()
            assert {member.node.id: member.node.port for member in described.nodes} == {
                other.node_id: other.port for other in cluster.nodes.values()
            }
            assert described.controller in NODES
        async with AdminClient(bootstrap_controllers=node.controller_address) as admin:
            described = await admin.describe_cluster()
            assert described.controller == cluster.active_controller()
            assert {member.node.port for member in described.nodes} == {
                other.controller_port for other in cluster.nodes.values()
            }


async def test_the_quorum_is_described_by_its_leader(cluster: Cluster, admin: AdminClient) -> None:
    quorum = await admin.describe_metadata_quorum()
    assert quorum.leader == cluster.active_controller()
    assert {voter.replica_id for voter in quorum.voters} == NODES


async def test_changes_find_the_active_controller(cluster: Cluster) -> None:
    acl = acls_of(f"User:{new('controlled')}", 1)[0]
    for node in cluster.nodes.values():
        async with AdminClient(bootstrap_controllers=node.controller_address) as admin:
            (await admin.create_acls([acl])).all()
            (await admin.delete_acls([acl.to_filter()])).all()


async def test_groups_are_asked_at_their_coordinators(admin: AdminClient) -> None:
    topic = await a_topic(admin, partitions=1)
    groups = [new(f"group-{index}") for index in range(24)]
    altered = await asyncio.gather(
        *(admin.alter_consumer_group_offsets(group, {TopicPartition(topic, 0): 7}) for group in groups)
    )
    assert all(results.values() == {TopicPartition(topic, 0): None} for results in altered)
    await soon(lambda: spread_coordinators(admin, groups), lambda coordinators: coordinators == NODES)
    listed = (await admin.list_consumer_group_offsets(groups)).all()
    assert {getattr(offsets[TopicPartition(topic, 0)], "offset", None) for offsets in listed.values()} == {7}
    assert set(await listed_groups(admin)) >= set(groups)
    (await admin.delete_consumer_groups(groups)).all()
    assert not set(await listed_groups(admin)) & set(groups)


async def spread_coordinators(admin: AdminClient, groups: Collection[str]) -> Set[int]:
    """The coordinators of groups; after a test has killed nodes, restarted ones have to be elected again.

    None while a newly elected one has not loaded all its groups.
    """
    await admin.elect_leaders(None, ElectionType.PREFERRED)
    described = await admin.describe_consumer_groups(groups)
    return set() if described.errors() else {group.coordinator for group in described.values().values()}


async def listed_groups(admin: AdminClient) -> list[str]:
    return [listing.group_id for listing in (await admin.list_groups()).all()]


async def test_partitions_are_asked_at_their_leaders(admin: AdminClient) -> None:
    topic = await a_topic(admin, partitions=6)
    leaders = await leaders_of(admin, topic)
    assert set(leaders.values()) == NODES
    offsets = (await admin.list_offsets(dict.fromkeys(leaders, OffsetSpec.LATEST))).all()
    assert {partition: listed.offset for partition, listed in offsets.items()} == dict.fromkeys(leaders, 0)
    assert (await admin.delete_records(dict.fromkeys(leaders, 0))).all() == dict.fromkeys(leaders, 0)
    assert (await admin.describe_producers(leaders)).all().keys() == leaders.keys()


async def test_log_directories_are_asked_at_each_node(cluster: Cluster, admin: AdminClient) -> None:
    described = (await admin.describe_log_dirs(NODES)).all()
    assert {node: set(directories) for node, directories in described.items()} == {
        node.node_id: set(map(str, node.log_dirs)) for node in cluster.nodes.values()
    }
    topic = await a_topic(admin, partitions=3)
    replicas = [Replica(partition, node) for partition in await leaders_of(admin, topic) for node in NODES]
    located = (await soon(lambda: described_replicas(admin, replicas), lambda found: all(found.values()))).items()
    elsewhere = {
        replica: next(str(path) for path in cluster.nodes[replica.node].log_dirs if str(path) != current)
        for replica, current in located
    }
    (await admin.alter_replica_log_dirs(elsewhere)).all()
    await soon(lambda: described_replicas(admin, replicas), lambda found: found == elsewhere)


async def described_replicas(admin: AdminClient, replicas: Collection[Replica]) -> dict[Replica, str | None]:
    found = (await admin.describe_replica_log_dirs(replicas)).all()
    return {replica: directories.current for replica, directories in found.items()}


async def test_a_leader_that_dies_is_followed(cluster: Cluster, admin: AdminClient) -> None:
    topic = await a_topic(admin, partitions=6)
    leaders = await leaders_of(admin, topic)
    cluster.kill(2)
    offsets = (await admin.list_offsets(dict.fromkeys(leaders, OffsetSpec.LATEST))).all()
    assert {listed.offset for listed in offsets.values()} == {0}
    assert set((await leaders_of(admin, topic)).values()) == {1, 3}


async def test_a_coordinator_that_dies_is_followed(cluster: Cluster, admin: AdminClient) -> None:
    topic = await a_topic(admin, partitions=1)
    groups = [new(f"group-{index}") for index in range(24)]
    partition = TopicPartition(topic, 0)
    for group in groups:
        (await admin.alter_consumer_group_offsets(group, {partition: 1})).all()
    cluster.kill(3)
    altered = await asyncio.gather(*(admin.alter_consumer_group_offsets(group, {partition: 2}) for group in groups))
    assert [results.errors() for results in altered if results.errors()] == []
    listed = (await admin.list_consumer_group_offsets(groups)).all()
    assert {getattr(offsets[partition], "offset", None) for offsets in listed.values()} == {2}
    assert 3 not in {group.coordinator for group in (await admin.describe_consumer_groups(groups)).all().values()}


# What is the same on all nodes


async def test_a_change_that_was_waited_for_is_known_to_every_node(cluster: Cluster, admin: AdminClient) -> None:
    principal, prefix = f"User:{new('acls')}", new("quotas")
    acls, alterations = acls_of(principal, 2_000), quotas_of(prefix, 500)
    removals = [ClientQuotaAlteration(one.entity, dict.fromkeys(one.values)) for one in alterations]

    (await admin.create_acls(acls)).all()
    assert list(await admin.wait_for_acls(acls)) == acls
    (await admin.alter_client_quotas(alterations)).all()
    (await admin.wait_for_client_quotas(alterations)).all()
    for node in cluster.nodes.values():
        async with AdminClient(node.address) as asked:
            assert await acls_there(asked, principal) == set(acls)
            assert await quotas_there(asked, prefix) == {alteration.entity for alteration in alterations}

    (await admin.delete_acls([AclBindingFilter(principal=principal)])).all()
    (await admin.wait_for_acls(acls, deleted=True)).all()
    (await admin.alter_client_quotas(removals)).all()
    (await admin.wait_for_client_quotas(removals)).all()
    for node in cluster.nodes.values():
        async with AdminClient(node.address) as asked:
            assert not await acls_there(asked, principal)
            assert not await quotas_there(asked, prefix)


async def test_no_call_waits_for_a_node_that_is_down(cluster: Cluster, admin: AdminClient) -> None:
    acls = acls_of(f"User:{new('acls')}", 1)
    cluster.kill(2)
    await asyncio.to_thread(cluster.wait_until_nodes_agree)
    (await admin.create_acls(acls)).all()
    (await admin.wait_for_acls(acls)).all()


# The outcomes of a bulk call when a node dies

SERVING, CONTROLLING = "the serving node", "the active controller"


@pytest.fixture(params=[pytest.param(SERVING, marks=pytest.mark.nightly), CONTROLLING])
def victim(request: pytest.FixtureRequest, cluster: Cluster) -> int:
    active = cluster.active_controller()
    return active if request.param == CONTROLLING else min(NODES - {active})


async def test_outcomes_of_acls_are_true_although_a_node_dies(cluster: Cluster, victim: int) -> None:
    principal = f"User:{new('acls')}"
    acls = acls_of(principal, ACLS)
    async with asked_at(cluster, victim) as admin:
        results = await while_killed(
            cluster, victim, lambda notify: admin.create_acls(acls, timeout=SECONDS, progress=notify)
        )
    assert list(results) == acls
    assert results.errors() == {}, kinds(results)
    await agree(cluster, lambda admin: acls_there(admin, principal), results)


async def test_outcomes_of_quotas_are_true_although_a_node_dies(cluster: Cluster, victim: int) -> None:
    prefix = new("quotas")
    alterations = quotas_of(prefix, USERS)
    async with asked_at(cluster, victim) as admin:
        results = await while_killed(
            cluster,
            victim,
            lambda notify: admin.alter_client_quotas(alterations, timeout=SECONDS, progress=notify),
        )
    assert list(results) == [alteration.entity for alteration in alterations]
    assert results.errors() == {}, kinds(results)
    await agree(cluster, lambda admin: quotas_there(admin, prefix), results)


async def test_outcomes_of_scram_users_are_true_although_a_node_dies(cluster: Cluster, victim: int) -> None:
    """A call makes a request for each mechanism; several calls have some on their way when the node dies."""
    prefix = new("scram")
    upsertions = [
        [
            ScramUpsertion(f"{prefix}-{call}-{index}", mechanism, "secret")
            for mechanism in MECHANISMS
            for index in range(USERS_OF_A_CALL)
        ]
        for call in range(CALLS)
    ]
    async with asked_at(cluster, victim) as admin:
        results = await while_killed(cluster, victim, lambda notify: give_passwords(admin, upsertions, notify))
    assert set(results) == {(one.user, one.mechanism) for of_call in upsertions for one in of_call}
    assert all(error.outcome_unknown for error in results.errors().values()), kinds(results)
    await agree(cluster, lambda admin: passwords_there(admin, prefix), results)


async def test_outcomes_of_topics_are_true_although_a_node_dies(cluster: Cluster, victim: int) -> None:
    """Several calls at once: the topics that one request may hold are too many for this machine."""
    prefix = new("topics")
    names = [[f"{prefix}-{call}-{index}" for index in range(TOPICS_OF_A_CALL)] for call in range(CALLS)]

    async with asked_at(cluster, victim) as admin:
        results = await while_killed(cluster, victim, lambda notify: create_topics(admin, names, notify))
    assert len(results) == TOPICS_OF_A_CALL * CALLS
    for error in results.errors().values():
        # A broker that forwards to the controller repeats the request by itself, and may find its own topics.
        error.outcome_unknown |= isinstance(error, TopicAlreadyExistsError)
    assert all(error.outcome_unknown for error in results.errors().values()), kinds(results)
    await agree(cluster, lambda admin: topics_there(admin, prefix), results)
    async with AdminClient(cluster.bootstrap) as whole:
        (await whole.delete_topics(await topics_there(whole, prefix))).all()


async def test_3_6_7_unknown_outcomes_are_marked_when_most_nodes_die(cluster: Cluster) -> None:
    principal = f"User:{new('acls')}"
    acls = acls_of(principal, ACLS)
    active = cluster.active_controller()
    survivor, *_ = NODES - {active}
    done: list[int] = []

    def kill_the_others(settled: int, _total: int) -> None:
        if not done:
            for node in NODES - {survivor}:
                cluster.kill(node)
        done.append(settled)

    async with asked_at(cluster, survivor) as admin:
        results = await admin.create_acls(acls, timeout=5, progress=kill_the_others)
    assert list(results) == acls
    assert len(done) == len(acls)
    assert results.values()
    assert results.errors()
    assert {type(error) for error in results.errors().values()} == {OperationTimeoutError}
    assert any(error.outcome_unknown for error in results.errors().values())
    await asyncio.to_thread(cluster.make_whole)
    await agree(cluster, lambda admin: acls_there(admin, principal), results)


async def test_nothing_is_marked_that_was_never_sent(cluster: Cluster, admin: AdminClient) -> None:
    acls = acls_of(f"User:{new('acls')}", 3)
    cluster.stop()
    results = await admin.create_acls(acls, timeout=1)
    assert [error.outcome_unknown for error in results.errors().values()] == [False] * len(acls)
    assert {type(error.__cause__).__name__ for error in results.errors().values()} == {"ConnectionFailedError"}


def asked_at(cluster: Cluster, node_id: int) -> AdminClient:
    """A client that begins at a node, and stays there while it answers."""
    return AdminClient(cluster.nodes[node_id].address)


async def while_killed(
    cluster: Cluster, victim: int, call: Callable[[Progress], Awaitable[Results[K, T]]]
) -> Results[K, T]:
    """What a call gives during which a node is killed, and started again."""
    killed = asyncio.Event()
    later: list[int] = []

    def kill(settled: int, _total: int) -> None:
        if killed.is_set():
            later.append(settled)
        else:
            cluster.kill(victim)
            killed.set()

    async def start_again() -> None:
        await killed.wait()
        await asyncio.to_thread(cluster.start, victim)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(start_again())
        called = await asyncio.ensure_future(call(kill))
    assert later, "the call was over before the node was killed"
    return called


async def agree(cluster: Cluster, ask: Callable[[AdminClient], Awaitable[Set[K]]], results: Results[K, object]) -> None:
    """Every node describes what was reported done, and nothing that was reported not done."""
    done = results.values().keys()
    undone = {item for item, error in results.errors().items() if not error.outcome_unknown}
    for node in cluster.nodes.values():
        async with AdminClient(node.address) as admin:
            there = await soon(lambda: ask(admin), lambda found: found >= done)
        assert not there & undone


def kinds(results: Results[K, T]) -> Counter[str]:
    """The number of errors of each kind, for the message of a failing test."""
    return Counter(f"{type(error).__name__}: {error} {error.outcome_unknown}" for error in results.errors().values())


def acls_of(principal: str, count: int) -> list[AclBinding]:
    return [AclBinding(ResourceType.TOPIC, f"topic-{index}", principal, AclOperation.READ) for index in range(count)]


async def acls_there(admin: AdminClient, principal: str) -> Set[AclBinding]:
    wanted = AclBindingFilter(principal=principal)
    return set((await admin.describe_acls([wanted]))[wanted])


def quotas_of(prefix: str, users: int) -> list[ClientQuotaAlteration]:
    values = {"producer_byte_rate": 1e6, "consumer_byte_rate": 2e6}
    return [ClientQuotaAlteration(ClientQuotaEntity.of_user(f"{prefix}-{index}"), values) for index in range(users)]


async def quotas_there(admin: AdminClient, prefix: str) -> Set[ClientQuotaEntity]:
    wanted = ClientQuotaFilter()
    described = (await admin.describe_client_quotas([wanted]))[wanted]
    return {
        entity
        for entity, values in described.items()
        if (entity.get("user") or "").startswith(prefix) and len(values) == 2
    }


async def create_topics(
    admin: AdminClient, names: Iterable[Iterable[str]], progress: Progress
) -> Results[str, CreatedTopic]:
    """The outcomes of several calls that are made at once."""
    topics = [[NewTopic(name, 1, 1) for name in some] for some in names]
    calls = [admin.create_topics(some, timeout=SECONDS, progress=progress) for some in topics]
    return Results({name: outcome for results in await asyncio.gather(*calls) for name, outcome in results.items()})


async def give_passwords(
    admin: AdminClient, upsertions: Iterable[Iterable[ScramUpsertion]], progress: Progress
) -> Results[UserMechanism, None]:
    """The outcomes of several calls that are made at once."""
    calls = [admin.alter_user_scram_credentials(some, timeout=SECONDS, progress=progress) for some in upsertions]
    return Results({item: outcome for results in await asyncio.gather(*calls) for item, outcome in results.items()})


async def passwords_there(admin: AdminClient, prefix: str) -> Set[UserMechanism]:
    described = await admin.describe_user_scram_credentials()
    return {
        (user, info.mechanism)
        for user, infos in described.values().items()
        for info in infos
        if user.startswith(prefix)
    }


async def topics_there(admin: AdminClient, prefix: str) -> Set[str]:
    return {name for name in await admin.list_topics() if name.startswith(prefix)}


async def a_topic(admin: AdminClient, *, partitions: int) -> str:
    """A topic on all nodes that has leaders, as soon as every node describes it."""
    topic = new("topic")
    (await admin.create_topics([NewTopic(topic, partitions, len(NODES))])).all()
    (await admin.wait_for_topics([topic])).all()
    await soon(lambda: leaders_of(admin, topic), lambda leaders: leaders and None not in leaders.values())
    return topic


async def leaders_of(admin: AdminClient, topic: str) -> dict[TopicPartition, int | None]:
    described = dict((await admin.describe_topics([topic])).items())[topic]
    if isinstance(described, KafkaError):
        return {}
    return {TopicPartition(topic, partition.partition): partition.leader for partition in described.partitions}
