"""The ACLs of producers and consumers."""

from __future__ import annotations

import pytest

from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType

ALICE = "User:alice"


def acl(type_: ResourceType, name: str, operation: AclOperation, **more: object) -> AclBinding:
    return AclBinding(type_, name, ALICE, operation, **more)  # type: ignore[arg-type] # attributes by name


def test_a_producer_writes_topics_and_may_create_them() -> None:
    operations = (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE)
    assert AclBinding.producer(ALICE, ["a", "b"]) == tuple(
        acl(ResourceType.TOPIC, name, operation) for name in "ab" for operation in operations
    )


def test_a_transactional_or_idempotent_producer_needs_more() -> None:
    more = set(AclBinding.producer(ALICE, ["a"], transactional_ids=["tx"], idempotent=True))
    assert more - set(AclBinding.producer(ALICE, ["a"])) == {
        acl(ResourceType.TRANSACTIONAL_ID, "tx", AclOperation.WRITE),
        acl(ResourceType.TRANSACTIONAL_ID, "tx", AclOperation.DESCRIBE),
        AclBinding.of_cluster(ALICE, AclOperation.IDEMPOTENT_WRITE),
    }


def test_a_consumer_reads_topics_in_groups() -> None:
    assert AclBinding.consumer(ALICE, ["a"], ["g", "h"]) == (
        acl(ResourceType.TOPIC, "a", AclOperation.READ),
        acl(ResourceType.TOPIC, "a", AclOperation.DESCRIBE),
        acl(ResourceType.GROUP, "g", AclOperation.READ),
        acl(ResourceType.GROUP, "h", AclOperation.READ),
    )


def test_beginnings_of_names_and_hosts_but_the_cluster_has_one_name() -> None:
    acls = AclBinding.producer(
        ALICE, ["a-"], transactional_ids=["a-"], idempotent=True, host="10.0.0.1", pattern_type=PatternType.PREFIXED,
    )  # fmt: skip
    assert {(each.permission_type, each.host) for each in acls} == {(AclPermissionType.ALLOW, "10.0.0.1")}
    assert {(each.resource_type, each.pattern_type) for each in acls} == {
        (ResourceType.TOPIC, PatternType.PREFIXED),
        (ResourceType.TRANSACTIONAL_ID, PatternType.PREFIXED),
        (ResourceType.CLUSTER, PatternType.LITERAL),
    }


def test_a_name_given_twice_counts_once() -> None:
    assert AclBinding.consumer(ALICE, ["a", "a"], ["g", "g"]) == AclBinding.consumer(ALICE, ["a"], ["g"])


def test_one_name_is_not_taken_for_many() -> None:
    with pytest.raises(TypeError, match=r"producer: topics: expected a collection of str, .*; write \['orders'\]"):
        AclBinding.producer(ALICE, "orders")
    with pytest.raises(TypeError, match="consumer: groups"):
        AclBinding.consumer(ALICE, ["orders"], "g")
    assert len(AclBinding.consumer(ALICE, iter(["a", "b"]), iter(["g"]))) == 5
