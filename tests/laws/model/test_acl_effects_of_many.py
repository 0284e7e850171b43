"""Effects on many principals with the same rights on prefixes are those of the decisions, name by name."""

from __future__ import annotations

import random

import pytest

from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.acls.effects import acl_effects
from kafkawire.model.acls.evaluation import AclEvaluator
from kafkawire.model.acls.right_changes import RightChange

TOPIC = ResourceType.TOPIC
USERS = [f"User:{number}" for number in range(5)]
NAMES = ("f", "fo", "foo", "x")
HOSTS = ("*", "*", "10.0.0.1")


def own(dice: random.Random, principal: str, pattern_type: PatternType) -> AclBinding:
    return AclBinding(
        TOPIC,
        dice.choice(NAMES),
        principal,
        dice.choice((AclOperation.READ, AclOperation.WRITE, AclOperation.ALL)),
        dice.choice((AclPermissionType.ALLOW, AclPermissionType.ALLOW, AclPermissionType.DENY)),
        dice.choice(HOSTS),
        pattern_type,
    )


def some_set(dice: random.Random) -> set[AclBinding]:
    """The same rights of all on a prefix, of some on all topics, and each its own on names."""
    shared = own(dice, "User:*", PatternType.PREFIXED)
    everywhere = AclBinding(TOPIC, "*", "User:*", AclOperation.READ, shared.permission_type, dice.choice(HOSTS))
    acls = {own(dice, "User:*", PatternType.LITERAL) for _ in range(dice.randrange(3))}
    for user in USERS:
        acls |= {own(dice, user, PatternType.LITERAL) for _ in range(dice.randrange(3))}
    for acl in dice.sample((shared, everywhere), dice.randrange(3)):
        of = dice.choice((USERS, USERS[1:4], ["User:*"]))
        acls |= {
            AclBinding(
                TOPIC, acl.resource_name, user, acl.operation, acl.permission_type, acl.host, acl.pattern_type
            )
            for user in of
        }  # fmt: skip
    return acls


@pytest.mark.parametrize("is_open", [False, True])
def test_effects_on_many_are_the_decisions_that_change(is_open: bool) -> None:
    dice = random.Random(66)
    for _ in range(120):
        common, removed, added = (some_set(dice) for _ in range(3))
        before, after = common | removed, common | added
        effects = acl_effects(before, after, allow_everyone_if_no_acl=is_open)
        had, has = (AclEvaluator(acls, allow_everyone_if_no_acl=is_open) for acls in (before, after))
        for principal in (*USERS, "User:nameless"):
            for name in (*NAMES, "fop", "foox", "y"):
                for host in ("10.0.0.1", "10.0.0.2"):
                    operation = dice.choice((AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE))
                    right = (principal, operation, TOPIC, name, host)
                    was, may = had.decide(*right).allowed, has.decide(*right).allowed
                    changes = [each.change for each in effects.effects if each.concerns(*right)]
                    expected = [] if was is may else [RightChange.GAINED if may else RightChange.LOST]
                    assert changes == expected, (right, sorted(before), sorted(after))
