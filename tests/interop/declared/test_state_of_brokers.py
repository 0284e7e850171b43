"""Real brokers: the state that is read of them is the state that their own log has, now and before a change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.apache_kafka.broker import AUTHORIZER, Broker, running_broker
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.releases import broker_releases, is_at_least
from tests.embedded.filled_state import ALICE, BILLING, DEFAULT_CLIENT, GROUP, METRICS, fill

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource, NewPartitions, ScramMechanism
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.declared.comparison import compare_states
from kafkawire.declared.documents.reading import read_documents
from kafkawire.declared.log_state import read_log_state
from kafkawire.declared.planned import Action, Kind
from kafkawire.declared.planning import plan_of
from kafkawire.declared.reading import ReadCluster, read_cluster
from kafkawire.declared.state import CredentialState
from kafkawire.declared.unread import without_unread

pytestmark = [pytest.mark.interop, pytest.mark.extended]


@pytest.fixture(scope="module", params=broker_releases())
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    folder = tmp_path_factory.mktemp(f"state-{request.param}")
    with running_broker(request.param, folder, properties=AUTHORIZER) as running:
        with BlockingAdminClient(running.address) as admin:
            fill(admin, groups=is_at_least(running.release, "4.1"))
        yield running


@pytest.fixture
def admin(broker: Broker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.address) as client:
        yield client


def settled(broker: Broker, admin: BlockingAdminClient) -> ReadCluster:
    """The state of the broker as soon as it has applied all of its log."""
    return eventually(lambda: admin.run(read_cluster), lambda read: not differences(broker, read))


def differences(broker: Broker, read: ReadCluster, as_of: datetime | None = None) -> object:
    in_log = without_unread(read_log_state(broker.data, as_of), read.unread)
    return compare_states(in_log, without_unread(read.state, read.unread), with_assignments=True)


def test_everything_that_is_set_is_read(broker: Broker, admin: BlockingAdminClient) -> None:
    state = settled(broker, admin).state
    assert {"orders", "orders-dead", "payments"} <= set(state.topics)
    assert state.topics["payments"].configs == {}
    assert state.configs[ConfigResource.broker_default()]["log.retention.ms"] == "86400000"
    assert state.configs[ConfigResource.broker(broker.node_id)] == {"log.cleaner.threads": "2"}
    assert state.configs[METRICS] == {"interval.ms": "60000"}
    assert state.acls >= frozenset(BILLING[1:])
    assert state.quotas == {ALICE: {"producer_byte_rate": 1024.0}, DEFAULT_CLIENT: {"consumer_byte_rate": 2048.0}}
    assert state.credentials == {
        (user, ScramMechanism.SCRAM_SHA_512): CredentialState(iterations=8192) for user in ("alice", "bob")
    }


def test_groups_have_configs_since_kafka_4(broker: Broker, admin: BlockingAdminClient) -> None:
    read = settled(broker, admin)
    assert read.unread == ()
    if is_at_least(broker.release, "4.1"):
        assert read.state.configs[GROUP] == {"consumer.session.timeout.ms": "50000"}
    else:
        assert GROUP not in read.state.configs


def test_the_log_has_the_same_now_and_before_a_change(broker: Broker, admin: BlockingAdminClient) -> None:
    before = settled(broker, admin)
    noted = datetime.now(UTC)
    time_of_note = time.time_ns() // 1_000_000
    eventually(lambda: time.time_ns() // 1_000_000, lambda now: now > time_of_note)
    admin.create_partitions(
        {"payments": NewPartitions(len(before.state.topics["payments"].assignments or {}) + 1)}
    ).all()
    admin.incremental_alter_configs({ConfigResource.topic("orders"): [ConfigChange.delete("retention.ms")]}).all()
    admin.delete_acls([BILLING[0].to_filter()]).all()
    after = eventually(
        lambda: admin.run(read_cluster), lambda read: read.state != before.state and not differences(broker, read)
    )
    assert not differences(broker, before, noted)
    changed = compare_states(read_log_state(broker.data, noted), read_log_state(broker.data))
    assert changed == compare_states(before.state, after.state)
    assert {(each.kind, each.item) for each in changed} == {
        (Kind.TOPICS, "payments"),
        (Kind.TOPICS, "orders"),
        (Kind.ACLS, BILLING[0]),
    }


def test_a_plan_after_an_export_is_empty(
    broker: Broker, admin: BlockingAdminClient, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settled(broker, admin)
    assert main(["export", "-b", broker.address, "--out", f"{tmp_path}/"]) == ExitCode.DONE
    declared = read_documents([tmp_path])
    assert not declared.problems
    read = admin.run(read_cluster)
    plan = plan_of(declared.state, read.state, may_delete=lambda _kind, _item: True, unread=read.unread)
    assert {item.action for item in plan.items} == {Action.UNCHANGED}
    assert main(["plan", str(tmp_path), "-b", broker.address, "--exit-code"]) == ExitCode.DONE
    capsys.readouterr()
    assert main(["diff", str(tmp_path), "-b", broker.address, "--exit-code"]) == ExitCode.DONE
    assert capsys.readouterr().err == "no differences\n"
