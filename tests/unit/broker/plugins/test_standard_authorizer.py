"""Decisions of the built-in authorizer about a type of resource, as for idempotent producers; laws test the rest."""

from __future__ import annotations

import pytest

from kafkawire.broker.image.acls import AclsImage
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.broker.sessions import Principal, Session
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.protocol import AccessControlEntryRecord

TOPIC, GROUP = ResourceType.TOPIC, ResourceType.GROUP
WRITE, READ, ALL = AclOperation.WRITE, AclOperation.READ, AclOperation.ALL
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
LITERAL, PREFIXED = PatternType.LITERAL, PatternType.PREFIXED
ALICE = Session(Principal("alice"), "10.0.0.1", "PLAINTEXT")


def acl(
    name: str,
    permission: AclPermissionType = ALLOW,
    operation: AclOperation = WRITE,
    *,
    pattern: PatternType = LITERAL,
    principal: str = "User:alice",
    host: str = "*",
    kind: ResourceType = TOPIC,
) -> AclBinding:
    return AclBinding(kind, name, principal, operation, permission, host, pattern)


def may_write_somewhere(*acls: AclBinding, is_open: bool = False, super_user: str = "User:root") -> bool:
    image = AclsImage()
    for one in acls:
        image.apply(
            AccessControlEntryRecord(
                Uuid.random(),
                one.resource_type,
                one.resource_name,
                one.pattern_type,
                one.principal,
                one.host,
                one.operation,
                one.permission_type,
            )
        )
    authorizer = StandardAuthorizer(image, {super_user}, allow_everyone_if_no_acl=is_open)
    return authorizer.authorize_by_resource_type(ALICE, WRITE, TOPIC)


@pytest.mark.parametrize(
    "acls",
    [
        (acl("orders"),),
        (acl("ord", pattern=PREFIXED),),
        (acl("*"),),
        (acl("orders", operation=ALL),),
        (acl("orders", principal="User:*"),),
        (acl("orders", host="10.0.0.1"),),
        (acl("orders"), acl("order", DENY)),
        (acl("orders"), acl("orders2", DENY, pattern=PREFIXED)),
        (acl("orders"), acl("orders", DENY, READ)),
        (acl("orders"), acl("orders", DENY, host="10.0.0.2")),
        (acl("orders", pattern=PREFIXED), acl("orders", DENY)),
        (acl("*"), acl("orders", DENY)),
    ],
)
def test_some_topic_is_left_to_write(acls: tuple[AclBinding, ...]) -> None:
    assert may_write_somewhere(*acls)


@pytest.mark.parametrize(
    "acls",
    [
        (),
        (acl("orders", operation=READ),),
        (acl("orders", kind=GROUP),),
        (acl("orders", principal="User:bob"),),
        (acl("orders", host="10.0.0.2"),),
        (acl("orders"), acl("orders", DENY)),
        (acl("orders"), acl("orders", DENY, ALL, principal="User:*")),
        (acl("orders"), acl("ord", DENY, pattern=PREFIXED)),
        (acl("orders", pattern=PREFIXED), acl("o", DENY, pattern=PREFIXED)),
        (acl("orders"), acl("*"), acl("*", DENY)),
    ],
)
def test_no_topic_is_left_to_write(acls: tuple[AclBinding, ...]) -> None:
    assert not may_write_somewhere(*acls)


def test_super_users_and_open_resources_need_no_acl() -> None:
    assert may_write_somewhere(acl("*", DENY), super_user="User:alice")
    assert may_write_somewhere(is_open=True)


def test_principals_without_a_type_are_kept_and_match_no_user() -> None:
    """A22: Kafka refuses them now; a log may hold them still, from times when it did not."""
    assert not may_write_somewhere(acl("orders", principal="alice"), acl("orders", principal=""))
    assert may_write_somewhere(acl("orders", principal="alice"), acl("orders"))
