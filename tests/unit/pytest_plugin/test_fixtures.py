"""The fixtures of users, in a separate pytest run."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest_plugins = ("pytester",)

SYNC = """
from kafkawire.admin import BlockingAdminClient, NewTopic

def test_topic(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders")]).all()
        assert list(admin.list_topics()) == ["orders"]

def test_every_test_has_its_own(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        assert not admin.list_topics()
"""

ASYNC = """
import asyncio
from kafkawire.admin import AdminClient, NewTopic

def test_topic(kafka_broker):
    async def create():
        async with AdminClient(kafka_broker.bootstrap_servers) as admin:
            (await admin.create_topics([NewTopic("orders")])).all()
    asyncio.run(create())
"""

PROPERTIES = """
import pytest
from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ManualClock

@pytest.fixture
def kafka_broker_clock():
    return ManualClock()

@pytest.mark.parametrize("kafka_broker_properties", [{"num.partitions": "7"}])
def test_properties(kafka_broker, kafka_broker_properties):
    from kafkawire.admin import NewTopic
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders")]).all()
        (described,) = admin.describe_topics(["orders"]).all().values()
        assert len(described.partitions) == 7
"""

DECLARED = """
import pytest
from kafkawire.admin import (
    AclBinding, BlockingAdminClient, NewTopic, PlainCredentials, ScramCredentials, ScramMechanism, TopicPartition
)
from kafkawire.declared import ClusterState, CredentialState, TopicState

ORDERS = TopicPartition("orders", 0)

@pytest.fixture(scope="session")
def kafka_broker_declared():
    return ClusterState(
        topics={"orders": TopicState(partitions=3, replication_factor=3)},
        acls=frozenset(AclBinding.consumer("User:billing", ["orders"], ["billing"])),
        credentials={("billing", ScramMechanism.SCRAM_SHA_512): CredentialState(password='a "secret"')},
    )

@pytest.fixture(scope="session")
def kafka_broker_groups():
    return {"billing": {ORDERS: 42}}

@pytest.mark.parametrize("credentials", [PlainCredentials, ScramCredentials])
def test_each_test_has_what_is_declared(kafka_broker, credentials):
    login = credentials("billing", 'a "secret"')
    with BlockingAdminClient(kafka_broker.address("SASL_PLAINTEXT"), credentials=login) as user:
        assert set(user.list_topics()) == {"orders"}
        assert user.list_consumer_group_offsets(["billing"])["billing"][ORDERS].offset == 42
        assert user.create_topics([NewTopic("more")]).errors()
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        assert len(admin.describe_topics(["orders"])["orders"].partitions) == 3
        admin.delete_topics(["orders"]).all()
        kafka_broker.restart()
        assert set(admin.list_topics()) == {"orders"}
        admin.delete_topics(["orders"]).all()
"""

DOCUMENT = """
users:
  billing:
    SCRAM-SHA-512: {password: {env: BILLING_PASSWORD}}
topics:
  orders: {replication_factor: 3, configs: {min.insync.replicas: 2}}
"""

OF_DOCUMENT = """
import pytest
from kafkawire.admin import BlockingAdminClient, PlainCredentials

@pytest.fixture(scope="session")
def kafka_broker_declared(request):
    mp = pytest.MonkeyPatch()
    mp.setenv("BILLING_PASSWORD", "from a variable")
    yield request.config.rootpath / "cluster.yaml"
    mp.undo()

def test_the_document(kafka_broker):
    login = PlainCredentials("billing", "from a variable")
    with BlockingAdminClient(kafka_broker.address("SASL_PLAINTEXT"), credentials=login) as user:
        assert list(user.list_topics()) == ["orders"]
"""

REFUSED = """
import pytest
from kafkawire.declared import ClusterState, TopicState

@pytest.mark.parametrize("kafka_broker_declared", [
    ClusterState(topics={"not legal!": TopicState()}), "no-such-file.yaml"
])
def test_refused(kafka_broker):
    pass

@pytest.mark.parametrize("kafka_broker_declared", [ClusterState()])
@pytest.mark.parametrize("kafka_broker_data_dir", ["data"])
def test_disk(kafka_broker):
    pass
"""

COPIED = """
import pytest
from kafkawire.admin import BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker

@pytest.fixture(scope="module")
def kafka_broker_state():
    with ThreadedBroker(topics=["orders"]) as prepared:
        return prepared.copy_state()

@pytest.mark.parametrize("run", [1, 2])
def test_each_test_has_the_prepared_state(kafka_broker, run):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        assert list(admin.list_topics()) == ["orders"]
        admin.create_topics([NewTopic("more")]).all()
"""

RELEASE = """
import pytest
from kafkawire.admin import BlockingAdminClient

@pytest.fixture(scope="session")
def kafka_broker_release():
    return "3.9"

def test_release(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        assert admin.describe_features().finalized["metadata.version"].highest == 21
"""

SHARED = """
import pytest
from kafkawire.admin import BlockingAdminClient, NewTopic

@pytest.fixture(scope="session")
def kafka_broker_topics():
    return ["orders", NewTopic("payments", num_partitions=3)]

runs = []

@pytest.mark.parametrize("run", [1, 2])
def test_declared_topics_exist(module_kafka_broker, session_kafka_broker, kafka_broker, run):
    runs.append(run)
    with BlockingAdminClient(session_kafka_broker.bootstrap_servers) as admin:
        assert sorted(set(admin.list_topics()) - {"more"}) == ["orders", "payments"]
        admin.create_topics([NewTopic("more")])
    with BlockingAdminClient(module_kafka_broker.bootstrap_servers) as admin:
        assert len(admin.list_topics()) == len(runs) + 1
        admin.create_topics([NewTopic("more")])
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        assert len(admin.list_topics()) == 2
"""

RESTART = """
import pytest
from kafkawire.admin import BlockingAdminClient, NewTopic

@pytest.fixture
def kafka_broker_data_dir(tmp_path):
    return tmp_path

def test_a_client_survives_a_restart(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        admin.create_topics([NewTopic("orders")]).all()
        kafka_broker.restart()
        assert list(admin.list_topics()) == ["orders"]
"""

FIRST_MESSAGE = """
import time
from confluent_kafka import Consumer, Producer

def test_first_message(kafka_broker):
    producer = Producer({"bootstrap.servers": kafka_broker.bootstrap_servers})
    producer.produce("orders", b"first")
    producer.flush()
    begin = time.monotonic()
    consumer = Consumer({
        "bootstrap.servers": kafka_broker.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"
    })
    consumer.subscribe(["orders"])
    message = consumer.poll(20)
    assert message.value() == b"first"
    assert time.monotonic() - begin < 2.5, "Kafka's default is three seconds"
    consumer.close()
"""

FAILING = """
import pytest
from kafkawire.admin import BlockingAdminClient, NewTopic

@pytest.fixture
def admin(kafka_broker):
    with BlockingAdminClient(kafka_broker.bootstrap_servers) as admin:
        yield admin

def test_fails(admin):
    admin.create_topics([NewTopic("not legal!")]).all()
"""

BY_CHANCE = """
from kafkawire.broker import Chance

def test_fails(kafka_broker, kafka_seed):
    kafka_broker.faults.by_chance(Chance(kafka_seed, cuts=0.1))
    print(f"seed={kafka_seed}.")
    assert kafka_seed % 2
"""


@pytest.fixture
def users_tests(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function")
    return pytester


def run(users_tests: pytest.Pytester, *options: str) -> pytest.RunResult:
    """In this process, the modules that the run imports would be forgotten after it, but not their classes."""
    return users_tests.runpytest_subprocess("-p", "no:cacheprovider", *options)


def test_tests_have_a_broker(users_tests: pytest.Pytester) -> None:
    """In one run, since a run of pytest takes longer to start than all these tests."""
    users_tests.makepyfile(
        test_sync=SYNC,
        test_async=ASYNC,
        test_copied=COPIED,
        test_declared=DECLARED,
        test_own=PROPERTIES,
        test_release=RELEASE,
        test_restart=RESTART,
        test_shared=SHARED,
        test_document=OF_DOCUMENT,
    )
    users_tests.path.joinpath("cluster.yaml").write_text(DOCUMENT, encoding="utf-8")
    run(users_tests).assert_outcomes(passed=13)


@pytest.mark.extended
def test_what_cannot_be_declared_is_an_error_that_says_why(users_tests: pytest.Pytester) -> None:
    users_tests.makepyfile(REFUSED)
    result = run(users_tests)
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines_random(
        ["*DeclarationError: not legal!: *", "*DeclarationError: no-such-file.yaml*", "*ValueError: *in memory*"]
    )


def test_the_first_members_of_a_group_wait_for_no_others(users_tests: pytest.Pytester) -> None:
    users_tests.makepyfile(FIRST_MESSAGE)
    run(users_tests).assert_outcomes(passed=1)


def test_the_report_of_a_failed_test_has_the_last_requests(users_tests: pytest.Pytester) -> None:
    users_tests.makepyfile(FAILING)
    run(users_tests).stdout.fnmatch_lines(
        [
            "*Last requests to kafka_broker*",
            "ApiVersionsRequest v4 from kafkawire-admin, User:ANONYMOUS: no errors",
            "CreateTopicsRequest v7 from kafkawire-admin, User:ANONYMOUS: topics?0?: INVALID_TOPIC_EXCEPTION (17): *",
        ]
    )


def test_a_seed_is_in_the_report_of_a_failed_test(users_tests: pytest.Pytester) -> None:
    users_tests.makepyfile(BY_CHANCE)
    repeated = run(users_tests, "--kafka-seed", "4")
    repeated.stdout.fnmatch_lines(["seed=4.", "*Seed of chance*", "pytest --kafka-seed 4 repeats these faults"])


@pytest.mark.extended
def test_a_test_runs_with_many_seeds(users_tests: pytest.Pytester) -> None:
    users_tests.makepyfile(BY_CHANCE)
    many = run(users_tests, "--kafka-seeds", "6", "--kafka-seed", "10")
    many.assert_outcomes(passed=3, failed=3)
    many.stdout.fnmatch_lines(["*test_fails*14*"])


@pytest.mark.extended
def test_a_variable_has_the_seed_too(users_tests: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    users_tests.makepyfile(BY_CHANCE)
    monkeypatch.setenv("KAFKA_SEED", "7")
    run(users_tests).assert_outcomes(passed=1)
    monkeypatch.setenv("KAFKA_SEED", "seven")
    run(users_tests).stdout.fnmatch_lines(["*KAFKA_SEED is 'seven': set it to an integer, or not at all*"])


def test_tests_without_the_fixtures_import_no_broker() -> None:
    program = (
        "import sys, pytest, importlib; before = set(sys.modules);"
        "importlib.import_module('kafkawire.pytest_plugin.fixtures');"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "kafkawire",
        "kafkawire.pytest_plugin",
        "kafkawire.pytest_plugin.fixtures",
    ]
