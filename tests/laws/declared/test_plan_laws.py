"""A plan after its own apply is empty, and between its steps no client has a right of neither side."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st
from tests.embedded.filled_state import PROPERTIES
from tests.hypothesis_profiles import scaled

from kafkawire.admin import AclEvaluator, AclOperation, BlockingAdminClient, ResourceType
from kafkawire.broker import ThreadedBroker
from kafkawire.declared import (
    Action,
    Application,
    ClusterState,
    CredentialState,
    Plan,
    Result,
    TopicState,
    check_plan,
    plan_of,
    read_cluster,
)
from kafkawire.model.acls.bindings import AclBinding, AclPermissionType, PatternType
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.scram import ScramMechanism

USERS = ("alice", "bob", "*")
NAMES = ("a", "ab", "abc", "*")
OPERATIONS = (AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.ALL)

names = st.sampled_from(("a", "ab", "other"))
topics = st.builds(
    TopicState,
    partitions=st.integers(1, 3),
    configs=st.dictionaries(st.sampled_from(("retention.ms", "segment.ms")), st.sampled_from(("1000", "2000", None))),
)
acls = st.builds(
    AclBinding,
    st.just(ResourceType.TOPIC),
    st.sampled_from(NAMES),
    st.sampled_from(USERS).map("User:{}".format),
    st.sampled_from(OPERATIONS),
    st.sampled_from((AclPermissionType.ALLOW, AclPermissionType.DENY)),
    pattern_type=st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED)),
)
entities = st.one_of(
    st.builds(ClientQuotaEntity.of_user, st.none() | names),
    st.builds(ClientQuotaEntity.of_client, st.none() | names),
    st.builds(ClientQuotaEntity.of_user_and_client, st.none() | names, st.none() | names),
)
quotas = st.dictionaries(
    st.sampled_from(("producer_byte_rate", "consumer_byte_rate")), st.none() | st.integers(1, 9).map(float), min_size=1
)
credentials = st.tuples(names, st.sampled_from((ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)))
states = st.builds(
    ClusterState,
    topics=st.dictionaries(names, topics, max_size=2),
    acls=st.frozensets(acls, max_size=4),
    quotas=st.dictionaries(entities, quotas, max_size=3),
    credentials=st.dictionaries(
        credentials, st.builds(CredentialState, iterations=st.none() | st.sampled_from((4096, 4097))), max_size=2
    ),
)


@pytest.fixture(scope="module")
def admin() -> Iterator[BlockingAdminClient]:
    with ThreadedBroker(PROPERTIES) as broker, BlockingAdminClient(broker.bootstrap_servers) as client:
        yield client


def planned(admin: BlockingAdminClient, declared: ClusterState, *, prune: bool) -> Plan:
    read = admin.run(read_cluster)
    plan = plan_of(
        declared,
        read.state,
        may_delete=lambda _kind, _item: prune,
        secrets=[*declared.credentials, *read.state.credentials],
    )
    return admin.run(lambda client: check_plan(client, plan))


@settings(max_examples=scaled(40), deadline=None)
@given(declared=states, prune=st.booleans())
def test_the_plan_after_an_apply_is_empty(admin: BlockingAdminClient, declared: ClusterState, prune: bool) -> None:
    plan = planned(admin, declared, prune=prune)
    assert [item for item in plan.items if item.error] == []
    application = Application(plan, lambda _key: "secret")
    admin.run(application.run)
    impossible = {item.item for item in plan.items if item.action is Action.IMPOSSIBLE}
    assert {each.result for each in application.outcomes() if each.planned.item not in impossible} <= {Result.DONE}
    left = planned(admin, declared, prune=prune)
    assert {item.item for item in left.items if item.action is not Action.UNCHANGED} == impossible


@given(before=st.frozensets(acls, max_size=6), after=st.frozensets(acls, max_size=6))
def test_no_step_gives_a_right_of_neither_side_or_takes_one_of_both(
    before: frozenset[AclBinding], after: frozenset[AclBinding]
) -> None:
    plan = plan_of(ClusterState(acls=after), ClusterState(acls=before), may_delete=lambda _kind, _item: True)
    rights_before, rights_after = rights(before), rights(after)
    now = before
    for item in plan.items:
        assert isinstance(item.item, AclBinding)
        if item.action is Action.CREATE:
            now |= {item.item}
        elif item.action is Action.DELETE:
            now -= {item.item}
        assert rights_before & rights_after <= rights(now) <= rights_before | rights_after
    assert now == after


def rights(bindings: frozenset[AclBinding]) -> set[tuple[str, AclOperation, str]]:
    evaluator = AclEvaluator(bindings)
    return {
        (user, operation, name)
        for user in ("User:alice", "User:carol")
        for operation in OPERATIONS[:-1]
        for name in ("a", "abc", "z")
        if evaluator.decide(user, operation, ResourceType.TOPIC, name, "10.0.0.1").allowed
    }
