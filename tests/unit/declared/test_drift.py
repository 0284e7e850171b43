"""A saved plan is compared with the state of now: what has drifted, and what is done already."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from kafkawire.declared.documents.secret_references import SecretReference
from kafkawire.declared.drift import ALREADY, compare_with_now, scope_of_plan
from kafkawire.declared.planned import Action, Kind, Plan, ValueChange
from kafkawire.declared.planned_values import SecretKey
from kafkawire.declared.planning import plan_of
from kafkawire.declared.saved_plan import SavedPlanError, is_saved_plan, load_plan, save_plan
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

ALICE = ("alice", ScramMechanism.SCRAM_SHA_512)
BILLING = ClientQuotaEntity(user="billing", client_id=None)
READ = AclBinding(ResourceType.TOPIC, "orders", "User:billing", AclOperation.READ)
BROKER = ConfigResource.broker(1)
KEYSTORE = (BROKER, "ssl.keystore.password")
DECLARED = ClusterState(
    topics={"orders": TopicState(partitions=3, configs={"retention.ms": "1"}), "new": TopicState(partitions=1)},
    configs={BROKER: {KEYSTORE[1]: None, "log.cleaner.threads": "2"}},
    acls=frozenset({READ}),
    quotas={BILLING: {"producer_byte_rate": 1.0}},
    credentials={ALICE: CredentialState(iterations=4096)},
)
CURRENT = ClusterState(
    topics={"orders": TopicState(partitions=2, replication_factor=1, configs={"segment.ms": "1"})},
    quotas={BILLING: {"producer_byte_rate": 2.0, "consumer_byte_rate": 1.0}},
)
SECRETS: dict[SecretKey, SecretReference] = {
    ALICE: SecretReference(env="ALICE"),
    KEYSTORE: SecretReference(file="keystore.txt"),
}
CREATED = datetime(2026, 3, 1, tzinfo=UTC)


def plan(declared: ClusterState = DECLARED, current: ClusterState = CURRENT, *, prune: bool = False) -> Plan:
    return plan_of(
        declared,
        current,
        cluster_id="c",
        secrets=SECRETS,
        may_delete=lambda _kind, _item: prune,
        where=lambda *_: "f:1:1",
    )


def drifted(made: Plan, now: ClusterState) -> list[tuple[object, str, list[tuple[str, str | None, str | None]]]]:
    return [
        (each.item, each.reason, [(value.name, value.before, value.after) for value in each.values])
        for each in compare_with_now(made, now).drifted
    ]


def test_a_plan_is_the_same_after_it_was_saved() -> None:
    saved = load_plan(save_plan(plan(), SECRETS, CREATED), "p")
    assert (saved.plan, saved.created) == (plan(), CREATED)
    assert saved.secrets[ALICE].env == "ALICE"
    assert is_saved_plan(save_plan(plan(), SECRETS, CREATED))


def test_a_plan_that_needs_a_secret_without_a_reference_is_not_saved() -> None:
    with pytest.raises(SavedPlanError, match=r"the secret of ssl\.keystore\.password of 1"):
        save_plan(plan(), {ALICE: SECRETS[ALICE]}, CREATED)


def file_with(**item: object) -> bytes:
    head = {"format": "kafkawire plan", "version": 1, "cluster_id": None, "created": CREATED, "secrets": []}
    return msgspec.json.encode({**head, "items": [{"action": "create", **item}]})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"format": "kafkawire plan", "version": 1}',
        file_with(kind="acls", item={"resource_type": "TOPIC"}),
        file_with(kind="users", item={"user": None, "mechanism": "x"}),
        file_with(kind="topics", item={}),
        file_with(kind="quotas", item="orders"),
    ],
)
def test_other_files_are_no_plans(content: bytes) -> None:
    with pytest.raises(SavedPlanError, match="p: not a plan that kafkawire has saved"):
        load_plan(content, "p")


def test_a_plan_of_another_version_says_so() -> None:
    with pytest.raises(SavedPlanError, match="a plan of version 9; this kafkawire reads version 1: make it again"):
        load_plan(b'{"format": "kafkawire plan", "version": 9}', "p")


def test_the_state_that_the_plan_saw_has_no_drift() -> None:
    comparison = compare_with_now(plan(), CURRENT)
    assert (comparison.plan, comparison.drifted) == (plan(), ())


def test_what_is_read_for_it_is_what_the_plan_changes() -> None:
    scope = scope_of_plan(plan())
    assert scope.topics == frozenset({"orders", "new"})
    assert (scope.configs, scope.users) == (frozenset({BROKER}), frozenset({"alice"}))
    assert scope_of_plan(plan(ClusterState(acls=frozenset({READ})))).kinds == {Kind.ACLS}


def test_values_that_the_plan_changes_may_not_differ() -> None:
    topics = {"orders": TopicState(partitions=2, configs={"retention.ms": "7"})}
    now = msgspec.structs.replace(CURRENT, topics=topics, quotas={BILLING: {"producer_byte_rate": 3.0}})
    assert drifted(plan(), now) == [
        ("orders", "", [("retention.ms", None, "7")]),
        (BILLING, "", [("producer_byte_rate", "2", "3")]),
    ]


def test_values_that_the_plan_leaves_alone_may_differ() -> None:
    topics = {"orders": TopicState(partitions=2, configs={"segment.ms": "99"})}
    quotas = {BILLING: {"producer_byte_rate": 2.0}}
    assert drifted(plan(), msgspec.structs.replace(CURRENT, topics=topics, quotas=quotas)) == []


def test_an_item_that_was_created_or_deleted_has_drifted() -> None:
    topics = {"new": TopicState(partitions=9)}
    credentials = {ALICE: CredentialState(iterations=8192)}
    now = msgspec.structs.replace(CURRENT, topics=topics, credentials=credentials)
    assert drifted(plan(), now) == [
        ("new", "exists by now", []),
        ("orders", "does not exist any longer", []),
        (ALICE, "exists by now", []),
    ]


def test_what_is_to_be_deleted_may_not_have_changed_at_all() -> None:
    made = plan(ClusterState(), prune=True)
    topics = {"orders": TopicState(partitions=2, replication_factor=1, configs={"segment.ms": "1", "flush.ms": "2"})}
    assert drifted(made, msgspec.structs.replace(CURRENT, topics=topics)) == [("orders", "", [("flush.ms", None, "2")])]


def test_what_is_as_planned_already_is_unchanged() -> None:
    now = ClusterState(
        topics=DECLARED.topics,
        configs={BROKER: {KEYSTORE[1]: None, "log.cleaner.threads": "2"}},
        acls=DECLARED.acls,
        quotas=DECLARED.quotas,
        credentials=DECLARED.credentials,
    )
    comparison = compare_with_now(plan(), now)
    assert comparison.drifted == ()
    assert {(item.action, item.reason) for item in comparison.plan.items} == {(Action.UNCHANGED, ALREADY)}
    deleted = compare_with_now(plan(ClusterState(), prune=True), ClusterState())
    assert {item.action for item in deleted.plan.items} == {Action.UNCHANGED}


def test_a_secret_that_is_to_be_set_again_is_never_done_already() -> None:
    known = ClusterState(credentials={ALICE: CredentialState(iterations=4096)})
    made = plan_of(known, known, secrets=SECRETS, set_secrets=True)
    comparison = compare_with_now(made, known)
    assert (comparison.plan, comparison.drifted) == (made, ())
    assert made.items[0].changes[1] == ValueChange("password", "(hidden)", "(hidden)")
