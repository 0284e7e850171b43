"""A plan: what each item becomes, and why."""

from __future__ import annotations

import pytest

from kafkawire.declared.planned import Action, Item, Kind, PlannedItem
from kafkawire.declared.planning import plan_of
from kafkawire.declared.state import ClusterState, CredentialState, TopicState
from kafkawire.declared.unread import Unread
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, ResourceType
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism
from kafkawire.protocol.errors import SecurityDisabledError

ALICE = ("alice", ScramMechanism.SCRAM_SHA_512)
BILLING = ClientQuotaEntity(user="billing")
BROKERS = ConfigResource.broker_default()
READ = AclBinding(ResourceType.TOPIC, "orders", "User:billing", AclOperation.READ)
DENY = AclBinding(ResourceType.TOPIC, "orders", "User:etl", AclOperation.WRITE, AclPermissionType.DENY)


def everything(_kind: Kind, _item: Item) -> bool:
    return True


def only(items: tuple[PlannedItem, ...]) -> PlannedItem:
    (item,) = items
    return item


def values(item: PlannedItem) -> list[tuple[str, str | None, str | None]]:
    return [(each.name, each.before, each.after) for each in item.changes]


def topic_plan(declared: TopicState, current: TopicState | None) -> tuple[PlannedItem, ...]:
    known = {} if current is None else {"orders": current}
    return plan_of(ClusterState(topics={"orders": declared}), ClusterState(topics=known)).items


def test_a_new_topic_has_what_is_declared() -> None:
    item = only(topic_plan(TopicState(partitions=6, configs={"retention.ms": "1", "segment.ms": None}), None))
    assert item.action is Action.CREATE
    assert values(item) == [("partitions", None, "6"), ("retention.ms", None, "1")]


def test_a_new_topic_may_name_its_brokers() -> None:
    item = only(topic_plan(TopicState(assignments={0: (1, 2), 1: (2, 1)}), None))
    assert values(item) == [("replicas of partition 0", None, "1,2"), ("replicas of partition 1", None, "2,1")]


def test_configs_that_are_not_declared_stay() -> None:
    current = TopicState(partitions=1, replication_factor=1, configs={"retention.ms": "1", "segment.ms": "9"})
    item = only(topic_plan(TopicState(configs={"retention.ms": "2"}), current))
    assert (item.action, values(item)) == (Action.CHANGE, [("retention.ms", "1", "2")])


def test_a_config_that_is_declared_as_null_is_reset_where_it_is_set() -> None:
    declared = TopicState(configs={"retention.ms": None, "segment.ms": None})
    item = only(topic_plan(declared, TopicState(partitions=1, configs={"retention.ms": "1"})))
    assert values(item) == [("retention.ms", "1", None)]


def test_partitions_are_added_with_their_brokers() -> None:
    current = TopicState(partitions=1, replication_factor=1, assignments={0: (1,)})
    item = only(topic_plan(TopicState(assignments={0: (1,), 1: (2,)}), current))
    assert values(item) == [("partitions", "1", "2"), ("replicas of partition 1", None, "2")]


@pytest.mark.parametrize(
    ("declared", "change", "reason"),
    [
        (TopicState(partitions=2), ("partitions", "3", "2"), "Kafka removes no partitions"),
        (
            TopicState(replication_factor=3),
            ("replication_factor", "1", "3"),
            "kafkawire reassign plan orders --replication-factor 3",
        ),
        (
            TopicState(assignments={0: (2,), 1: (1,), 2: (1,)}),
            ("replicas of partition 0", "1", "2"),
            "kafkawire reassign run",
        ),
    ],
)
def test_what_kafka_cannot_change_names_the_command_that_can(
    declared: TopicState, change: tuple[str, str, str], reason: str
) -> None:
    current = TopicState(partitions=3, replication_factor=1, assignments={0: (1,), 1: (1,), 2: (1,)})
    item = only(topic_plan(declared, current))
    assert (item.action, values(item)) == (Action.IMPOSSIBLE, [change])
    assert reason in item.reason


def test_what_is_possible_is_planned_beside_what_is_not() -> None:
    current = TopicState(partitions=3, replication_factor=1)
    items = topic_plan(TopicState(partitions=2, configs={"retention.ms": "1"}), current)
    assert [item.action for item in items] == [Action.CHANGE, Action.IMPOSSIBLE]


def test_an_equal_topic_is_unchanged() -> None:
    topic = TopicState(partitions=3, replication_factor=1, configs={"retention.ms": "1"})
    assert only(topic_plan(topic, topic)) == PlannedItem(
        kind=Kind.TOPICS, item="orders", action=Action.UNCHANGED, reason="as declared"
    )


def test_quota_keys_that_are_not_declared_stay() -> None:
    current = ClusterState(quotas={BILLING: {"producer_byte_rate": 1.0, "consumer_byte_rate": 2.0}})
    declared = ClusterState(quotas={BILLING: {"producer_byte_rate": 5.0, "request_percentage": None}})
    item = only(plan_of(declared, current).items)
    assert (item.action, values(item)) == (Action.CHANGE, [("producer_byte_rate", "1", "5")])


def test_a_quota_key_that_is_declared_as_null_is_removed() -> None:
    current = ClusterState(quotas={BILLING: {"producer_byte_rate": 1.0}})
    declared = ClusterState(quotas={BILLING: {"producer_byte_rate": None}})
    assert values(only(plan_of(declared, current).items)) == [("producer_byte_rate", "1", None)]


def credential_plan(
    current: CredentialState | None, *, iterations: int | None = 4096, again: bool = False
) -> PlannedItem:
    declared = ClusterState(credentials={ALICE: CredentialState(iterations=iterations)})
    known = ClusterState(credentials={} if current is None else {ALICE: current})
    return only(plan_of(declared, known, secrets=[ALICE], set_secrets=again).items)


def test_a_credential_is_unchanged_if_its_iterations_are() -> None:
    for iterations in (4096, None):
        item = credential_plan(CredentialState(iterations=4096), iterations=iterations)
        assert item.action is Action.UNCHANGED
        assert "a password cannot be read back" in item.reason


def test_a_password_is_set_again_if_asked() -> None:
    item = credential_plan(CredentialState(iterations=4096), again=True)
    assert item.action is Action.CHANGE
    assert values(item) == [("iterations", "4096", "4096"), ("password", "(hidden)", "(hidden)")]


def test_a_credential_with_other_iterations_is_made_again() -> None:
    item = credential_plan(CredentialState(iterations=8192))
    assert values(item) == [("iterations", "8192", "4096"), ("password", "(hidden)", "(hidden)")]


def test_a_credential_without_a_password_cannot_be_made() -> None:
    declared = ClusterState(credentials={ALICE: CredentialState()})
    item = only(plan_of(declared, ClusterState()).items)
    assert item.action is Action.IMPOSSIBLE
    assert "no password is declared" in item.reason


def test_a_sensitive_config_is_unchanged_where_it_is_set() -> None:
    resource, name = ConfigResource.broker(1), "ssl.keystore.password"
    declared = ClusterState(configs={resource: {name: None}})
    current = ClusterState(configs={resource: {name: None}})
    secrets = [(resource, name)]
    assert only(plan_of(declared, current, secrets=secrets).items).action is Action.UNCHANGED
    new = only(plan_of(declared, ClusterState(), secrets=secrets).items)
    assert (new.action, values(new)) == (Action.CREATE, [(name, None, "(hidden)")])
    again = only(plan_of(declared, current, secrets=secrets, set_secrets=True).items)
    assert values(again) == [(name, "(hidden)", "(hidden)")]
    assert values(only(plan_of(declared, current).items)) == [(name, "(hidden)", None)]


def test_nothing_is_deleted_without_a_scope() -> None:
    current = ClusterState(topics={"orders": TopicState(partitions=1)}, acls=frozenset({READ}))
    assert plan_of(ClusterState(), current).items == ()


def test_what_is_in_the_scope_and_not_declared_is_deleted() -> None:
    current = ClusterState(
        topics={"orders": TopicState(partitions=1)},
        configs={BROKERS: {"log.retention.ms": "1"}},
        acls=frozenset({READ}),
        quotas={BILLING: {"producer_byte_rate": 1.0}},
        credentials={ALICE: CredentialState(iterations=4096)},
    )
    items = plan_of(ClusterState(), current, may_delete=everything).items
    assert {item.action for item in items} == {Action.DELETE}
    assert [item.item for item in items] == [READ, ALICE, BILLING, BROKERS, "orders"]
    assert values(items[-1])[0] == ("partitions", "1", None)


def test_topics_of_kafka_itself_are_never_deleted() -> None:
    topics = {"__consumer_offsets": TopicState(is_internal=True), "__cluster": TopicState(), "own": TopicState()}
    items = plan_of(ClusterState(), ClusterState(topics=topics), may_delete=everything).items
    assert [item.item for item in items] == ["own"]


def test_one_kind_can_be_planned_alone() -> None:
    declared = ClusterState(topics={"orders": TopicState()}, acls=frozenset({READ}))
    assert [item.item for item in plan_of(declared, ClusterState(), kinds=[Kind.ACLS]).items] == [READ]


def test_items_are_in_the_order_in_which_they_are_carried_out() -> None:
    declared = ClusterState(
        topics={"orders": TopicState()},
        acls=frozenset({READ, DENY}),
        quotas={BILLING: {"producer_byte_rate": 1.0}},
        credentials={ALICE: CredentialState(password="p")},
    )
    assert [item.item for item in plan_of(declared, ClusterState()).items] == ["orders", BILLING, ALICE, DENY, READ]


def test_what_could_not_be_read_cannot_be_planned() -> None:
    unread = Unread(Kind.ACLS, "ACLs", SecurityDisabledError("No Authorizer is configured"))
    item = only(plan_of(ClusterState(acls=frozenset({READ})), ClusterState(), unread=[unread]).items)
    assert (item.action, item.reason) == (Action.IMPOSSIBLE, "not read: No Authorizer is configured")


def test_a_topic_whose_configs_could_not_be_read_cannot_be_planned() -> None:
    unread = Unread(Kind.TOPICS, "configs", SecurityDisabledError("no"), ConfigResource.topic("orders"))
    declared = ClusterState(topics={"orders": TopicState(), "other": TopicState()})
    items = plan_of(declared, ClusterState(), unread=[unread]).items
    assert [(item.item, item.action) for item in items] == [("orders", Action.IMPOSSIBLE), ("other", Action.CREATE)]


def test_a_declared_item_has_its_place() -> None:
    declared = ClusterState(topics={"orders": TopicState()})
    item = only(plan_of(declared, ClusterState(), where=lambda kind, item: f"{kind}/{item}").items)
    assert item.where == "topics/orders"


def test_no_secret_is_in_a_plan() -> None:
    declared = ClusterState(
        credentials={ALICE: CredentialState(password="s3cret")},
        configs={BROKERS: {"ssl.keystore.password": "s3cret"}},
    )
    assert "s3cret" not in repr(plan_of(declared, ClusterState()))
