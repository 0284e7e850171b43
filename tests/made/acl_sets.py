"""Large sets of ACLs as organisations have them: prefixes of teams, producers, consumers, exceptions, leftovers."""

from __future__ import annotations

import random
from collections.abc import Iterable

from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType

TEAMS = 200
APPLICATIONS = 40
TOPICS = 400


def organisation(count: int, seed: int = 1) -> list[AclBinding]:
    """About ``count`` ACLs of an organisation."""
    dice = random.Random(seed)
    acls = {
        AclBinding(ResourceType.TOPIC, "*", "User:*", AclOperation.DESCRIBE),
        AclBinding(ResourceType.TOPIC, "audit", "User:*", AclOperation.ALL, AclPermissionType.DENY),
    }
    while len(acls) < count:
        acls.update(_of_an_application(dice))
    return sorted(acls)


def _of_an_application(dice: random.Random) -> Iterable[AclBinding]:
    team = f"team{dice.randrange(TEAMS):03}"
    user = f"User:{team}-app{dice.randrange(APPLICATIONS)}"
    topic = f"{team}-topic{dice.randrange(TOPICS)}"
    match dice.randrange(20):
        case 0:
            return AclBinding.producer(user, [f"{team}-"], pattern_type=PatternType.PREFIXED)
        case 1:
            return (AclBinding(ResourceType.TOPIC, topic, "User:*", AclOperation.READ),)
        case 2:
            denied = dice.choice((AclOperation.ALL, AclOperation.WRITE))
            return (AclBinding(ResourceType.TOPIC, topic, user, denied, AclPermissionType.DENY),)
        case kind if kind < 11:
            host = dice.choice(("*", "*", "*", f"10.0.0.{dice.randrange(9)}"))
            return AclBinding.producer(user, [topic], host=host)
        case _:
            return AclBinding.consumer(user, [topic], [f"{team}-group{dice.randrange(100)}"])


def changed(acls: list[AclBinding], count: int, seed: int = 2) -> list[AclBinding]:
    """The ACLs after a change of ``count``: half of them removed, half added."""
    dice = random.Random(seed)
    removed = set(dice.sample(acls, count // 2))
    added = {
        acl
        for number in range(count // 6)
        for acl in AclBinding.producer(f"User:new{number}", [f"team{number % TEAMS:03}-topic{dice.randrange(TOPICS)}"])
    }
    return sorted(added.union(acls) - removed)
