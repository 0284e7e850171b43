"""Validation of ACLs and filters before they are sent (A11 to A14, A18, A22 to A24)."""

from __future__ import annotations

import msgspec
import pytest

from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    OPERATIONS_OF_RESOURCES,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
    authorized_operations,
)
from kafkawire.model.acls.validation import reason_without_effect, refusal_of_binding, refusal_of_filter
from kafkawire.protocol.errors import InvalidRequestError

ACL = AclBinding(ResourceType.TOPIC, "foo", "User:alice", AclOperation.READ)


@pytest.mark.parametrize(
    "wanted",
    [
        AclBindingFilter(resource_type=ResourceType.UNKNOWN),
        AclBindingFilter(pattern_type=PatternType.UNKNOWN),
        AclBindingFilter(operation=AclOperation.UNKNOWN),
        AclBindingFilter(permission_type=AclPermissionType.UNKNOWN),
        AclBindingFilter(operation=AclOperation(99)),
    ],
)
def test_a_filter_with_an_unknown_part_is_refused(wanted: AclBindingFilter) -> None:
    """A11, A13."""
    assert wanted.is_unknown
    error = refusal_of_filter(wanted)
    assert isinstance(error, InvalidRequestError)
    assert "UNKNOWN" in error.message


@pytest.mark.parametrize(
    "wanted", [AclBindingFilter(), AclBindingFilter(resource_name="", principal="alice", host=""), ACL.to_filter()]
)
def test_filters_without_unknown_parts_are_accepted(wanted: AclBindingFilter) -> None:
    """A11."""
    assert not wanted.is_unknown
    assert refusal_of_filter(wanted) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"resource_type": ResourceType.ANY}, "ResourceType.ANY"),
        ({"pattern_type": PatternType.ANY}, "PatternType.ANY"),
        ({"pattern_type": PatternType.MATCH}, "PatternType.MATCH"),
        ({"operation": AclOperation.ANY}, "AclOperation.ANY"),
        ({"permission_type": AclPermissionType.ANY}, "AclPermissionType.ANY"),
        ({"resource_type": ResourceType.UNKNOWN}, "ResourceType.UNKNOWN"),
        ({"operation": AclOperation(99)}, "AclOperation.UNKNOWN_99"),
    ],
)
def test_an_acl_with_an_unknown_part_or_one_of_filters_is_refused(change: dict[str, object], said: str) -> None:
    """A12, A14."""
    error = refusal_of_binding(msgspec.structs.replace(ACL, **change))
    assert isinstance(error, InvalidRequestError)
    assert said in error.message


@pytest.mark.parametrize(
    "acl",
    [
        ACL,
        msgspec.structs.replace(ACL, pattern_type=PatternType.PREFIXED, operation=AclOperation.ALL, host="10.0.0.1"),
        AclBinding.of_cluster("User:*", AclOperation.ALTER, AclPermissionType.DENY),
        AclBinding(
            ResourceType.TRANSACTIONAL_ID, "*", "Group:a:b", AclOperation.TWO_PHASE_COMMIT, host="0:0:0:0:0:0:0:1"
        ),
    ],
)
def test_sound_acls_are_accepted_and_have_an_effect(acl: AclBinding) -> None:
    """A12."""
    assert refusal_of_binding(acl) is None
    assert reason_without_effect(acl) is None


@pytest.mark.parametrize("name", ["kafka", "*", "Kafka-cluster"])
@pytest.mark.parametrize("pattern_type", [PatternType.LITERAL, PatternType.PREFIXED])
def test_an_acl_of_the_cluster_must_have_its_name(name: str, pattern_type: PatternType) -> None:
    """A18."""
    acl = AclBinding(ResourceType.CLUSTER, name, "User:alice", AclOperation.ALTER, pattern_type=pattern_type)
    error = refusal_of_binding(acl)
    assert isinstance(error, InvalidRequestError)
    assert error.message == "The only valid name for the CLUSTER resource is kafka-cluster"
    assert refusal_of_binding(msgspec.structs.replace(acl, resource_name=CLUSTER_NAME)) is None


def test_the_constructor_of_cluster_acls_sets_the_name_of_the_cluster() -> None:
    """A18."""
    assert AclBinding.of_cluster("User:alice", AclOperation.ALTER).resource_name == "kafka-cluster"


def test_an_empty_resource_name_is_refused_and_other_names_are_not_checked() -> None:
    """A18."""
    error = refusal_of_binding(msgspec.structs.replace(ACL, resource_name=""))
    assert isinstance(error, InvalidRequestError)
    assert error.message == "Invalid empty resource name"
    assert refusal_of_binding(msgspec.structs.replace(ACL, resource_name="no legal topic!" * 20)) is None


def test_a_principal_without_a_type_is_refused() -> None:
    """A22."""
    assert isinstance(refusal_of_binding(msgspec.structs.replace(ACL, principal="alice")), InvalidRequestError)
    assert isinstance(refusal_of_binding(msgspec.structs.replace(ACL, principal="")), InvalidRequestError)


def test_a_principal_with_an_empty_type_has_no_effect() -> None:
    """A22."""
    acl = msgspec.structs.replace(ACL, principal=":alice")
    assert refusal_of_binding(acl) is None
    assert isinstance(reason_without_effect(acl), InvalidRequestError)


@pytest.mark.parametrize(
    ("name", "pattern_type", "works"),
    [
        ("alice", PatternType.LITERAL, False),
        ("User:alice", PatternType.LITERAL, True),
        ("*", PatternType.LITERAL, True),
        ("Us", PatternType.PREFIXED, True),
    ],
)
def test_a_user_without_a_type_has_no_effect_as_a_resource(name: str, pattern_type: PatternType, works: bool) -> None:
    """A22."""
    acl = AclBinding(ResourceType.USER, name, "User:bob", AclOperation.CREATE_TOKENS, pattern_type=pattern_type)
    assert refusal_of_binding(acl) is None
    assert (reason_without_effect(acl) is None) is works


@pytest.mark.parametrize("host", ["", "example.com", "10.0.0.0/33", "10.0.0/8", "10.0.0", "10.0.0.*"])
def test_a_host_that_is_no_address_has_no_effect(host: str) -> None:
    """A23."""
    acl = msgspec.structs.replace(ACL, host=host)
    assert refusal_of_binding(acl) is None
    assert isinstance(reason_without_effect(acl), InvalidRequestError)


@pytest.mark.parametrize("host", ["10.0.0.0/8", "10.0.0.5/31", "0.0.0.0/0", "2001:db8::/32"])
def test_a_range_of_addresses_has_an_effect_at_newer_brokers(host: str) -> None:
    """A23."""
    assert reason_without_effect(msgspec.structs.replace(ACL, host=host)) is None


A24 = {
    "TOPIC": "READ WRITE CREATE DESCRIBE DELETE ALTER DESCRIBE_CONFIGS ALTER_CONFIGS",
    "GROUP": "READ DESCRIBE DELETE DESCRIBE_CONFIGS ALTER_CONFIGS",
    "CLUSTER": "CREATE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE ALTER DESCRIBE",
    "TRANSACTIONAL_ID": "DESCRIBE WRITE TWO_PHASE_COMMIT",
    "DELEGATION_TOKEN": "DESCRIBE",
    "USER": "CREATE_TOKENS DESCRIBE_TOKENS",
}


def test_each_resource_type_has_its_operations() -> None:
    """A24."""
    assert {
        resource_type.name: {operation.name for operation in operations}
        for resource_type, operations in OPERATIONS_OF_RESOURCES.items()
    } == {name: {"ALL", *operations.split()} for name, operations in A24.items()}


def test_an_operation_that_the_resource_type_lacks_has_no_effect() -> None:
    """A24."""
    acl = AclBinding(ResourceType.GROUP, "g", "User:alice", AclOperation.WRITE)
    assert refusal_of_binding(acl) is None
    error = reason_without_effect(acl)
    assert isinstance(error, InvalidRequestError)
    assert error.message == (
        "The operation WRITE does not exist on a GROUP; "
        "ALL, READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS do."
    )


@pytest.mark.parametrize(("bits", "resource_type"), [(3576, "TOPIC"), (3400, "GROUP"), (8096, "CLUSTER")])
def test_bits_of_authorized_operations_become_operations(bits: int, resource_type: str) -> None:
    """A26."""
    operations = authorized_operations(bits)
    assert operations is not None
    assert {operation.name for operation in operations} == set(A24[resource_type].split())


def test_operations_that_were_not_requested_differ_from_no_operations() -> None:
    """A26."""
    assert authorized_operations(-(2**31)) is None
    assert authorized_operations(0) == frozenset()
    assert authorized_operations(1 << 30) == frozenset({AclOperation(30)})
