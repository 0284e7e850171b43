"""Hypothesis strategies for ACLs and filters with few names, so that filters often match."""

from __future__ import annotations

from hypothesis import strategies as st

from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)

RESOURCE_TYPES = (ResourceType.TOPIC, ResourceType.GROUP)
OPERATIONS = (
    AclOperation.READ,
    AclOperation.WRITE,
    AclOperation.DESCRIBE,
    AclOperation.DESCRIBE_CONFIGS,
    AclOperation.ALTER_CONFIGS,
    AclOperation.CREATE,
)

names = st.sampled_from(("f", "foo", "foobar", "fop", "*", "b"))
principals = st.sampled_from(("User:alice", "User:bob", "User:*", "Group:alice"))
hosts = st.sampled_from(("10.0.0.1", "10.0.0.2", "*"))
resource_types = st.sampled_from(RESOURCE_TYPES)
operations = st.sampled_from(OPERATIONS)
patterns = st.sampled_from((PatternType.LITERAL, PatternType.PREFIXED))
permissions = st.sampled_from((AclPermissionType.ALLOW, AclPermissionType.DENY))

known_acls = st.builds(
    AclBinding, resource_types, names, principals, operations | st.just(AclOperation.ALL), permissions, hosts, patterns
)
acls = known_acls | st.builds(
    AclBinding,
    resource_types | st.just(ResourceType(99)),
    names,
    principals,
    operations | st.just(AclOperation(99)),
    permissions | st.just(AclPermissionType(99)),
    hosts,
    patterns | st.just(PatternType(99)),
)
filters = st.builds(
    AclBindingFilter,
    resource_types | st.just(ResourceType.ANY),
    names | st.none() | st.just(""),
    principals | st.none(),
    operations | st.sampled_from((AclOperation.ANY, AclOperation.ALL)),
    permissions | st.just(AclPermissionType.ANY),
    hosts | st.none(),
    patterns | st.sampled_from((PatternType.ANY, PatternType.MATCH)),
)
