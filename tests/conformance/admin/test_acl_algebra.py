"""Effects, reviews and minimal sets of ACLs: what Kafka's own StandardAuthorizer decides before and after."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import pytest
from tests.conformance.admin.kafkas_answers import ask, row
from tests.made.acl_sets import changed, organisation

from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    OPERATIONS_OF_RESOURCES,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.effects import acl_effects
from kafkawire.model.acls.hosts import is_within
from kafkawire.model.acls.minimal_set import minimise_acls
from kafkawire.model.acls.operation_sets import CHECKED, operations_in
from kafkawire.model.acls.review import review_acls
from kafkawire.model.acls.right_changes import RightChange

pytestmark = pytest.mark.conformance

SUPER_USERS: Final = ("User:root",)
NAMES: Final = ("f", "fo", "foo", "foobar", "fop", "*", "b", "foob")
PRINCIPALS: Final = ("User:alice", "User:bob", "User:*", "Group:alice", "User:a:b", "User:root")
HOSTS: Final = ("10.0.0.1", "10.0.0.2", "0:0:0:0:0:0:0:1", "::1", "example.com", "*", "*", "*")
CLIENTS: Final = ("User:alice", "User:bob", "Group:alice", "User:a:b", "User:root", "User:nameless")
NAMES_OF_TYPES: Final[Mapping[ResourceType, Sequence[str]]] = {
    ResourceType.TOPIC: (*NAMES, "foo-1", "foo-10", "é"),
    ResourceType.GROUP: NAMES,
    ResourceType.CLUSTER: (CLUSTER_NAME, CLUSTER_NAME, "*"),
    ResourceType.TRANSACTIONAL_ID: ("shop", "shop-1", "shop-2", "*"),
    ResourceType.DELEGATION_TOKEN: ("token", "token1", "token2", "*"),
    ResourceType.USER: ("User:alice", "User:a", "User:bob", "*"),
}

Right = tuple[str, AclOperation, ResourceType, str, str]


class Trial(NamedTuple):
    """Two sets of ACLs, and rights to ask for."""

    before: Sequence[AclBinding]
    after: Sequence[AclBinding]
    is_open: bool
    rights: Sequence[Right]


class Size(NamedTuple):
    """How much is compared."""

    generated: int
    rights_of_each: int
    shaped: int
    rights_of_shaped: int
    of_organisations: int
    rights_of_organisations: int
    decisions: int


SIZES: Final = [
    pytest.param(Size(60, 80, 20, 200, 1, 600, 20_000), id="some"),
    pytest.param(Size(1_200, 160, 200, 800, 4, 40_000, 1_000_000), id="many", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("size", SIZES)
def test_effects_and_smaller_sets_are_as_kafkas_authorizer_decides(size: Size, tmp_path: Path) -> None:
    """Each right is decided four times: before, after, by the minimal set, and without an ACL that a review found."""
    _compare(size, random.Random(290), tmp_path)


def _compare(size: Size, dice: random.Random, tmp_path: Path) -> None:
    trials = [_generated(dice, n % 3 == 0, size.rights_of_each) for n in range(size.generated)]
    trials += [_shaped(dice, n % 2 == 0, size.rights_of_shaped) for n in range(size.shaped)]
    trials += [_organised(dice, n, size.rights_of_organisations) for n in range(size.of_organisations)]
    questions = []
    for trial in trials:
        smallest = minimise_acls(trial.before, super_users=SUPER_USERS, allow_everyone_if_no_acl=trial.is_open).acls
        findings = review_acls(trial.before, super_users=SUPER_USERS, allow_everyone_if_no_acl=trial.is_open)
        removable = [finding.acl for finding in findings if not finding.remaining]
        without = set(dice.sample(removable, 1) if removable else ())
        one_less = [acl for acl in trial.before if acl not in without]
        questions += [_question(acls, trial) for acls in (trial.before, trial.after, smallest, one_less)]
    answers = msgspec.convert(ask(tmp_path, questions), list[list[bool]])
    seen: Counter[object] = Counter()
    for number, trial in enumerate(trials):
        before, after, by_smallest, by_one_less = answers[4 * number : 4 * number + 4]
        assert before == by_smallest, trial.before
        assert before == by_one_less, trial.before
        effects = acl_effects(
            trial.before, trial.after, super_users=SUPER_USERS, allow_everyone_if_no_acl=trial.is_open
        )
        for right, was, may in zip(trial.rights, before, after, strict=True):
            expected = None if was == may else RightChange.GAINED if may else RightChange.LOST
            assert effects.of(*right) is expected, (right, trial)
            seen[expected] += 1
    assert sum(map(len, answers)) >= size.decisions
    assert min(seen[RightChange.GAINED], seen[RightChange.LOST]) > size.decisions // 200


def test_smaller_sets_decide_as_all_and_effects_name_what_they_leave_out_where_hosts_are_ranges(tmp_path: Path) -> None:
    """A23."""
    dice = random.Random(2323)
    trials = [_of_ranges(_generated(dice, n % 3 == 0, 80), dice) for n in range(150)]
    questions = []
    for trial in trials:
        smallest = minimise_acls(trial.before, super_users=SUPER_USERS, allow_everyone_if_no_acl=trial.is_open).acls
        findings = review_acls(trial.before, super_users=SUPER_USERS, allow_everyone_if_no_acl=trial.is_open)
        removable = [finding.acl for finding in findings if not finding.remaining]
        without = set(dice.sample(removable, 1) if removable else ())
        one_less = [acl for acl in trial.before if acl not in without]
        questions += [_question(acls, trial) for acls in (trial.before, trial.after, smallest, one_less)]
    answers = msgspec.convert(ask(tmp_path, questions), list[list[bool]])
    seen: Counter[object] = Counter()
    for number, trial in enumerate(trials):
        before, after, by_smallest, by_one_less = answers[4 * number : 4 * number + 4]
        assert before == by_smallest, trial.before
        assert before == by_one_less, trial.before
        effects = acl_effects(
            trial.before, trial.after, super_users=SUPER_USERS, allow_everyone_if_no_acl=trial.is_open
        )
        for right, was, may in zip(trial.rights, before, after, strict=True):
            expected = None if was == may else RightChange.GAINED if may else RightChange.LOST
            is_clear = not any(acl.host == right[4] or is_within(right[4], acl.host) for acl in effects.unclear)
            assert not is_clear or effects.of(*right) is expected, (right, trial)
            seen[expected, is_clear] += 1
    assert min(seen[change, is_clear] for change in RightChange for is_clear in (True, False)) > 20, seen


def _of_ranges(trial: Trial, dice: random.Random) -> Trial:
    """The trial with ranges as the hosts of some ACLs."""

    def changed_host(acl: AclBinding) -> AclBinding:
        host = of_hosts.setdefault(
            acl, dice.choice(("10.0.0.0/30", "10.0.0.2/31", "0.0.0.0/0", "::/0", acl.host, acl.host))
        )
        return msgspec.structs.replace(acl, host=host)

    of_hosts: dict[AclBinding, str] = {}
    before, after = (sorted({changed_host(acl) for acl in acls}) for acls in (trial.before, trial.after))
    return trial._replace(before=before, after=after)


def test_acls_of_all_resources_do_not_hold_for_names_that_begin_with_an_asterisk(tmp_path: Path) -> None:
    """Kafka's authorizer passes over them; effects, as its documentation, count them. No topic has such a name."""
    read = AclBinding(ResourceType.GROUP, "*", "User:*", AclOperation.READ)
    rights = [("User:alice", AclOperation.READ, ResourceType.GROUP, name, "10.0.0.1") for name in ("*", "a*", "*a")]
    (answer,) = ask(tmp_path, [_question([read], Trial([], [read], is_open=False, rights=rights))])
    assert answer == [True, True, False]
    assert [acl_effects([], [read]).of(*right) for right in rights] == [RightChange.GAINED] * 3


def _question(acls: Sequence[AclBinding], trial: Trial) -> dict[str, object]:
    return {
        "op": "authorize",
        "acls": [row(acl) for acl in acls],
        "super_users": ";".join(SUPER_USERS),
        "open": trial.is_open,
        "actions": [
            [*who.split(":", 1), int(operation), int(resource_type), name, host]
            for who, operation, resource_type, name, host in trial.rights
        ],
    }


def _generated(dice: random.Random, is_open: bool, rights: int) -> Trial:
    def some() -> list[AclBinding]:
        return [_acl(dice) for _ in range(dice.randrange(10))]

    common = some()
    before, after = sorted({*common, *some()}), sorted({*common, *some()})

    def right() -> Right:
        return _right(
            dice,
            lambda: dice.choice(CLIENTS),
            lambda _: dice.choice((*NAMES, "nameless")),
            ("10.0.0.1", "10.0.0.2", "10.0.0.3", "0:0:0:0:0:0:0:1"),
        )

    return Trial(before, after, is_open, [right() for _ in range(rights)])


def _shaped(dice: random.Random, is_open: bool, rights: int) -> Trial:
    """Every type of resource; denials of prefixes and of `*` over permissions of names; hosts nearly everywhere."""
    types = tuple(NAMES_OF_TYPES)

    def acl() -> AclBinding:
        resource_type = dice.choice(types)
        operations = tuple(OPERATIONS_OF_RESOURCES[resource_type])
        name, is_denial = dice.choice(NAMES_OF_TYPES[resource_type]), dice.random() < 0.35
        is_prefix = resource_type is not ResourceType.CLUSTER and dice.random() < (0.8 if is_denial else 0.2)
        return AclBinding(
            resource_type,
            "*" if is_denial and dice.random() < 0.1 else name,
            dice.choice(("User:*", "User:*", *PRINCIPALS)),
            dice.choice((AclOperation.ALL, *operations)),
            AclPermissionType.DENY if is_denial else AclPermissionType.ALLOW,
            dice.choice(("10.0.0.1", "10.0.0.2", "10.0.0.3", "0:0:0:0:0:0:0:1", "::1", "*")),
            PatternType.PREFIXED if is_prefix else PatternType.LITERAL,
        )

    def right() -> Right:
        resource_type = dice.choice(types)
        name = CLUSTER_NAME if resource_type is ResourceType.CLUSTER else dice.choice(NAMES_OF_TYPES[resource_type])
        if name not in (CLUSTER_NAME, "*") and dice.random() < 0.3:
            name += "x"
        operation = dice.choice(operations_in(CHECKED[resource_type]))
        host = dice.choice(("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "0:0:0:0:0:0:0:1"))
        return dice.choice(CLIENTS), operation, resource_type, name, host

    common = [acl() for _ in range(dice.randrange(60))]
    before, after = ([*common, *(acl() for _ in range(dice.randrange(20)))] for _ in range(2))
    return Trial(sorted(set(before)), sorted(set(after)), is_open, [right() for _ in range(rights)])


def _organised(dice: random.Random, seed: int, rights: int) -> Trial:
    acls = organisation(4_000, seed)
    after = changed(acls, 300, seed)
    differing = sorted(set(acls) ^ set(after))

    def principal() -> str:
        return dice.choice(dice.choice((acls, differing))).principal.replace("User:*", "User:nameless")

    def name(resource_type: ResourceType) -> str:
        acl = dice.choice(dice.choice((acls, differing)))
        end = "1" if acl.pattern_type == PatternType.PREFIXED else ""
        return acl.resource_name + end if acl.resource_type == resource_type else "nameless"

    def right() -> Right:
        if dice.random() < 0.5:
            return _right(dice, principal, name, ("10.0.0.1", "10.0.0.99"))
        acl = dice.choice(differing)
        who = acl.principal.replace("User:*", "User:nameless")
        operation = dice.choice(operations_in(CHECKED[acl.resource_type]))
        return who, operation, acl.resource_type, acl.resource_name, "10.0.0.1"

    return Trial(acls, after, seed % 2 == 1, [right() for _ in range(rights)])


def _right(
    dice: random.Random, principal: Callable[[], str], name: Callable[[ResourceType], str], hosts: Sequence[str]
) -> Right:
    resource_type = dice.choice((ResourceType.TOPIC, ResourceType.TOPIC, ResourceType.GROUP))
    operation = dice.choice(operations_in(CHECKED[resource_type]))
    return principal(), operation, resource_type, name(resource_type), dice.choice(hosts)


def _acl(dice: random.Random) -> AclBinding:
    return AclBinding(
        dice.choice((ResourceType.TOPIC, ResourceType.TOPIC, ResourceType.GROUP)),
        dice.choice(NAMES),
        dice.choice(PRINCIPALS),
        dice.choice((*tuple(AclOperation)[3:], *[AclOperation.ALL] * 5, AclOperation.READ, AclOperation.WRITE)),
        dice.choice((AclPermissionType.ALLOW, AclPermissionType.ALLOW, AclPermissionType.DENY)),
        dice.choice(HOSTS),
        dice.choice((PatternType.LITERAL, PatternType.PREFIXED)),
    )
