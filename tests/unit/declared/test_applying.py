"""A plan is checked by the brokers and carried out; each item has an outcome, whatever fails or interrupts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

import pytest
from tests.apache_kafka.eventually import eventually
from tests.embedded.filled_state import PROPERTIES

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    BlockingAdminClient,
    ResourceType,
)
from kafkawire.broker import ThreadedBroker
from kafkawire.broker.plugins.create_topic_policy import CreateTopicPolicy, RequestMetadata
from kafkawire.declared.applying import AFTER_DENIAL, AFTER_FAILURE, AFTER_SILENCE, Application, Result
from kafkawire.declared.checking import check_plan
from kafkawire.declared.documents.secret_references import UnavailableSecretError
from kafkawire.declared.planned import Action, Check, Item, Kind, Plan
from kafkawire.declared.planned_values import SecretKey
from kafkawire.declared.planning import plan_of
from kafkawire.declared.reading import read_cluster
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism
from kafkawire.protocol import AlterClientQuotasRequest, CreateAclsRequest, IncrementalAlterConfigsRequest
from kafkawire.protocol.errors import ClusterAuthorizationFailedError, PolicyViolationError

ALICE = ("alice", ScramMechanism.SCRAM_SHA_512)
BILLING = ClientQuotaEntity(user="billing")
READ = AclBinding(ResourceType.TOPIC, "orders", "User:billing", AclOperation.READ)
OLD = AclBinding(ResourceType.TOPIC, "orders", "User:old", AclOperation.READ)
DENY = AclBinding(ResourceType.TOPIC, "orders", "User:etl", AclOperation.WRITE, AclPermissionType.DENY)
EVERYTHING = ClusterState(
    topics={"orders": TopicState(partitions=3, replication_factor=1, configs={"retention.ms": "1000"})},
    configs={ConfigResource.broker_default(): {"log.retention.ms": "86400000"}},
    acls=frozenset({READ, DENY}),
    quotas={BILLING: {"producer_byte_rate": 1024.0, "request_percentage": 12.5}},
    credentials={ALICE: CredentialState(iterations=8192)},
)
EMPTY = ClusterState(configs={ConfigResource.broker_default(): {"min.insync.replicas": "1"}})
"""Kafka sets this one itself, and refuses to remove it."""

SECRETS: Mapping[SecretKey, str] = {ALICE: "s3cret"}


class FewPartitions(CreateTopicPolicy):
    """At most four partitions."""

    def configure(self, configs: Mapping[str, object]) -> None:
        pass

    def validate(self, request: RequestMetadata) -> None:
        if (request.num_partitions or 0) > 4:
            raise PolicyViolationError("at most 4 partitions")

    def close(self) -> None:
        pass


POLICY = {**PROPERTIES, "create.topic.policy.class.name": f"{__name__}:FewPartitions"}


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(POLICY) as running:
        yield running


@pytest.fixture
def admin(broker: ThreadedBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.bootstrap_servers) as client:
        yield client


def planned(admin: BlockingAdminClient, declared: ClusterState, *, prune: bool = False) -> Plan:
    read = admin.run(read_cluster)
    return plan_of(declared, read.state, may_delete=lambda _kind, _item: prune, secrets=SECRETS.keys())


def apply(admin: BlockingAdminClient, plan: Plan) -> dict[Item, tuple[Result, str]]:
    application = Application(plan, SECRETS.get)
    admin.run(application.run)
    return {each.planned.item: (each.result, each.reason) for each in application.outcomes()}


def left(plan: Plan) -> list[Item]:
    return [item.item for item in plan.items if item.action is not Action.UNCHANGED]


def test_a_state_of_every_kind_is_brought_about_and_the_next_plan_is_empty(admin: BlockingAdminClient) -> None:
    outcomes = apply(admin, planned(admin, EVERYTHING))
    assert set(outcomes.values()) == {(Result.DONE, "")}
    assert left(planned(admin, EVERYTHING)) == []


def test_changes_of_every_kind_are_carried_out(admin: BlockingAdminClient) -> None:
    apply(admin, planned(admin, EVERYTHING))
    changed = ClusterState(
        topics={"orders": TopicState(partitions=5, configs={"retention.ms": None, "segment.ms": "2000"})},
        configs={ConfigResource.broker_default(): {"log.retention.ms": None}},
        quotas={BILLING: {"producer_byte_rate": None, "request_percentage": 1.0}},
        credentials={ALICE: CredentialState(iterations=4096)},
    )
    assert {result for result, _ in apply(admin, planned(admin, changed)).values()} == {Result.DONE}
    assert left(planned(admin, changed)) == []
    state = admin.run(read_cluster).state
    assert (state.topics["orders"].partitions, state.topics["orders"].configs) == (5, {"segment.ms": "2000"})
    assert (state.quotas, state.configs) == ({BILLING: {"request_percentage": 1.0}}, EMPTY.configs)


def test_what_is_not_declared_is_deleted_in_the_scope(admin: BlockingAdminClient) -> None:
    apply(admin, planned(admin, EVERYTHING))
    assert {result for result, _ in apply(admin, planned(admin, ClusterState(), prune=True)).values()} == {Result.DONE}
    assert admin.run(read_cluster).state == EMPTY


def test_brokers_validate_what_they_can_with_their_policies(admin: BlockingAdminClient) -> None:
    declared = ClusterState(
        topics={"large": TopicState(partitions=5), "small": TopicState(partitions=1, configs={"retention.ms": "x"})},
        configs={ConfigResource.broker_default(): {"log.retention.ms": "y"}},
        acls=frozenset({AclBinding(ResourceType.TOPIC, "t", "User:a", AclOperation.CLUSTER_ACTION)}),
        quotas={BILLING: {"producer_byte_rate": 1.0}},
        credentials={ALICE: CredentialState(iterations=1)},
    )
    plan = planned(admin, declared)
    items = {item.item: item for item in admin.run(lambda client: check_plan(client, plan)).items}
    assert items["large"].error == "POLICY_VIOLATION: at most 4 partitions"
    assert (items["small"].error or "").startswith("INVALID_CONFIG")
    assert (items[ConfigResource.broker_default()].error or "").startswith("INVALID_")
    assert (items[BILLING].error, items[BILLING].check) == (None, Check.BROKERS)
    assert "Too few iterations" in (items[ALICE].error or "")
    acl = next(item for item in items.values() if item.kind is Kind.ACLS)
    assert acl.check is Check.SIMULATED
    assert "The operation CLUSTER_ACTION does not exist on a TOPIC" in (acl.error or "")
    assert admin.run(read_cluster).state == EMPTY


def test_new_partitions_and_configs_of_a_topic_are_both_validated(admin: BlockingAdminClient) -> None:
    apply(admin, planned(admin, EVERYTHING))
    declared = ClusterState(topics={"orders": TopicState(partitions=4, configs={"retention.ms": "x"})})
    plan = planned(admin, declared)
    (item,) = admin.run(lambda client: check_plan(client, plan)).items
    assert item.check is Check.BROKERS
    assert (item.error or "").startswith("INVALID_CONFIG")


def test_an_item_that_fails_does_not_keep_others_from_being_carried_out(admin: BlockingAdminClient) -> None:
    declared = ClusterState(
        topics={"large": TopicState(partitions=5), "small": TopicState(partitions=1)}, acls=frozenset({READ})
    )
    outcomes = apply(admin, planned(admin, declared))
    assert outcomes == {"small": (Result.DONE, ""), "large": (Result.FAILED, ""), READ: (Result.DONE, "")}
    assert left(planned(admin, declared)) == ["large"]


def test_nothing_is_deleted_after_a_failure(admin: BlockingAdminClient) -> None:
    apply(admin, planned(admin, ClusterState(acls=frozenset({OLD}))))
    declared = ClusterState(topics={"large": TopicState(partitions=5)})
    outcomes = apply(admin, planned(admin, declared, prune=True))
    assert outcomes[OLD] == (Result.NOT_TRIED, AFTER_FAILURE)


def test_no_permission_is_created_after_a_denial_that_failed(
    broker: ThreadedBroker, admin: BlockingAdminClient
) -> None:
    plan = planned(admin, ClusterState(acls=frozenset({READ, DENY})))
    with broker.faults.refuse(CreateAclsRequest, error=ClusterAuthorizationFailedError, times=1):
        assert apply(admin, plan) == {DENY: (Result.FAILED, ""), READ: (Result.NOT_TRIED, AFTER_DENIAL)}


def test_it_can_be_run_again_after_a_failure(broker: ThreadedBroker, admin: BlockingAdminClient) -> None:
    with broker.faults.refuse(AlterClientQuotasRequest, error=ClusterAuthorizationFailedError, times=1):
        outcomes = apply(admin, planned(admin, EVERYTHING))
    assert [item for item, (result, _) in outcomes.items() if result is Result.FAILED] == [BILLING]
    again = planned(admin, EVERYTHING)
    assert left(again) == [BILLING]
    assert apply(admin, again) == {BILLING: (Result.DONE, "")}


def test_an_impossible_item_is_not_tried(admin: BlockingAdminClient) -> None:
    apply(admin, planned(admin, EVERYTHING))
    outcomes = apply(admin, planned(admin, ClusterState(topics={"orders": TopicState(partitions=1)})))
    assert outcomes["orders"][0] is Result.NOT_TRIED
    assert "Kafka removes no partitions" in outcomes["orders"][1]


def test_an_application_that_is_cancelled_knows_what_it_has_done(
    broker: ThreadedBroker, admin: BlockingAdminClient
) -> None:
    application = Application(planned(admin, EVERYTHING), SECRETS.get)
    with broker.faults.delay(IncrementalAlterConfigsRequest, seconds=60) as delay:

        async def interrupted(client: AdminClient) -> None:
            running = asyncio.ensure_future(application.run(client))
            await asyncio.to_thread(eventually, lambda: delay.hits, bool)
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

        admin.run(interrupted)
    assert [(each.planned.kind, each.result) for each in application.outcomes()] == [
        (Kind.TOPICS, Result.DONE),
        (Kind.CONFIGS, Result.UNKNOWN),
        (Kind.QUOTAS, Result.NOT_TRIED),
        (Kind.USERS, Result.NOT_TRIED),
        (Kind.ACLS, Result.NOT_TRIED),
        (Kind.ACLS, Result.NOT_TRIED),
    ]


def test_nothing_more_is_sent_to_a_cluster_that_does_not_answer(
    broker: ThreadedBroker, admin: BlockingAdminClient
) -> None:
    application = Application(planned(admin, EVERYTHING), SECRETS.get, timeout=0.5)
    with broker.faults.delay(AlterClientQuotasRequest, seconds=60):
        admin.run(application.run)
    outcomes = {each.planned.item: each for each in application.outcomes()}
    assert outcomes["orders"].result is Result.DONE
    assert outcomes[BILLING].result is Result.UNKNOWN
    assert "no answer came" in str(outcomes[BILLING].error)
    assert {(outcomes[item].result, outcomes[item].reason) for item in (ALICE, READ, DENY)} == {
        (Result.NOT_TRIED, AFTER_SILENCE)
    }


def test_a_secret_that_is_not_known_is_an_error(admin: BlockingAdminClient) -> None:
    with pytest.raises(UnavailableSecretError, match="the password of alice is not known"):
        admin.run(Application(planned(admin, ClusterState(credentials={ALICE: CredentialState()}))).run)


def test_progress_counts_items(admin: BlockingAdminClient) -> None:
    seen: list[tuple[int, int]] = []
    application = Application(
        planned(admin, EVERYTHING), SECRETS.get, progress=lambda done, total: seen.append((done, total))
    )
    admin.run(application.run)
    assert seen == [(done, 6) for done in range(7)]
