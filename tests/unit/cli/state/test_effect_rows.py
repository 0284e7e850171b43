"""What a plan means as rows: as exact as the effects, each row about one principal, operation, pattern and host."""

from __future__ import annotations

import random

from kafkawire.cli.state.effect_rows import (
    AccessEffectRow,
    ExemptionValue,
    PatternValue,
    QuotaEffectRow,
    access_effect_rows,
    quota_effect_rows,
)
from kafkawire.declared.effects_of_plan import PlanEffects
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.acls.effects import acl_effects
from kafkawire.model.acls.evaluation import AclEvaluator
from kafkawire.model.quotas.effects import quota_effects
from kafkawire.model.quotas.entities import ClientQuotaEntity

TOPIC = ResourceType.TOPIC
DENY = AclPermissionType.DENY
PREFIXED = PatternType.PREFIXED


def rows(before: list[AclBinding], after: list[AclBinding], *, is_open: bool = False) -> list[AccessEffectRow]:
    effects = acl_effects(before, after, allow_everyone_if_no_acl=is_open)
    return list(access_effect_rows(PlanEffects(effects)))


def test_a_row_for_each_principal_operation_pattern_and_host() -> None:
    denied = AclBinding(TOPIC, "payments-x", "User:*", AclOperation.ALL, DENY)
    write = AclBinding(TOPIC, "payments-", "User:etl", AclOperation.WRITE, pattern_type=PREFIXED)
    gained = ("gained", "User:etl")
    where = ("TOPIC", "payments-", "PREFIXED", "*")
    excepted = ((), (PatternValue("payments-x", "LITERAL"),))
    assert rows([denied], [denied, write]) == [
        AccessEffectRow(*gained, "WRITE", *where, *excepted),
        AccessEffectRow(*gained, "DESCRIBE", *where, *excepted),
    ]


def test_a_row_about_all_principals_says_who_is_excepted_and_where() -> None:
    own = AclBinding(TOPIC, "orders", "User:a", AclOperation.DELETE)
    everywhere = AclBinding(TOPIC, "*", "User:b", AclOperation.ALL)
    delete = AclBinding(TOPIC, "*", "User:*", AclOperation.DELETE)
    found = [row for row in rows([own, everywhere], [own, everywhere, delete]) if row.operation == "DELETE"]
    assert found == [
        AccessEffectRow(
            "gained", "User:*", "DELETE", "TOPIC", "*", "LITERAL", "*", ("User:b",), (), (),
            (ExemptionValue("User:a", "orders", "LITERAL"),),
        )
    ]  # fmt: skip


def test_the_first_acl_of_an_open_resource_takes_rights_from_all_others() -> None:
    read = AclBinding(TOPIC, "orders", "User:a", AclOperation.READ)
    lost = [row for row in rows([], [read], is_open=True) if row.principal == "User:*"]
    assert {row.change for row in lost} == {"lost"}
    assert {row.operation: row.excepted_principals for row in lost}["READ"] == ("User:a",)
    assert {row.operation: row.excepted_principals for row in lost}["WRITE"] == ()


def is_about(row: AccessEffectRow, principal: str, operation: AclOperation, name: str, host: str) -> bool:
    """What a program makes of a row, by the page about it."""
    return (
        (row.principal == principal or (row.principal == "User:*" and principal not in row.excepted_principals))
        and row.operation == str(operation)
        and (row.host == host or (row.host == "*" and host not in row.excepted_hosts))
        and has(row.resource_name, row.pattern_type, row.excepted_resources, name)
        and not any(
            each.principal == principal and has(each.resource_name, each.pattern_type, each.excepted_resources, name)
            for each in row.exemptions
        )
    )


def has(pattern: str, pattern_type: str, excepted: tuple[PatternValue, ...], name: str) -> bool:
    is_in = name.startswith(pattern) if pattern_type == "PREFIXED" else pattern in (name, "*")
    return is_in and not any(has(each.resource_name, each.pattern_type, (), name) for each in excepted)


def test_rows_are_about_exactly_the_decisions_that_change() -> None:
    dice = random.Random(66)
    for _ in range(60):
        common, removed, added = ([some_acl(dice) for _ in range(dice.randrange(7))] for _ in range(3))
        before, after = {*common, *removed}, {*common, *added}
        is_open = dice.random() < 0.4
        found = rows(sorted(before), sorted(after), is_open=is_open)
        had, has_now = (AclEvaluator(acls, allow_everyone_if_no_acl=is_open) for acls in (before, after))
        for _ in range(60):
            principal, name = dice.choice(("User:a", "User:b", "User:c")), dice.choice(("f", "fo", "foo", "x"))
            operation, host = dice.choice((AclOperation.READ, AclOperation.DESCRIBE)), dice.choice(("10.0.0.1", "h"))
            right = (principal, operation, TOPIC, name, host)
            was, may = had.decide(*right).allowed, has_now.decide(*right).allowed
            expected = [] if was == may else ["gained" if may else "lost"]
            assert [row.change for row in found if is_about(row, principal, operation, name, host)] == expected


def some_acl(dice: random.Random) -> AclBinding:
    return AclBinding(
        TOPIC,
        dice.choice(("f", "fo", "foo", "*")),
        dice.choice(("User:a", "User:b", "User:*")),
        dice.choice((AclOperation.READ, AclOperation.WRITE, AclOperation.ALL)),
        dice.choice((AclPermissionType.ALLOW, AclPermissionType.ALLOW, DENY)),
        dice.choice(("*", "*", "10.0.0.1")),
        dice.choice((PatternType.LITERAL, PREFIXED)),
    )


def test_rows_of_quotas_name_the_user_or_those_who_are_excepted() -> None:
    default, alice = ClientQuotaEntity(user=None), ClientQuotaEntity(user="alice")
    before = {alice: {"producer_byte_rate": 7.0}}
    effects = quota_effects(before, {default: {"producer_byte_rate": 1000.0}, alice: {"producer_byte_rate": 9.0}})
    assert list(quota_effect_rows(PlanEffects(quotas=tuple(effects)))) == [
        QuotaEffectRow(
            "producer_byte_rate", "clients", None, None, None, None, None, 1000.0, "default user", ("alice",)
        ),
        QuotaEffectRow("producer_byte_rate", "clients", "alice", None, None, 7.0, "user alice", 9.0, "user alice"),
    ]


def test_rows_of_quotas_of_addresses() -> None:
    address = ClientQuotaEntity.of_ip("10.0.0.1")
    effects = quota_effects({}, {address: {"connection_creation_rate": 5.0}})
    assert list(quota_effect_rows(PlanEffects(quotas=tuple(effects)))) == [
        QuotaEffectRow("connection_creation_rate", "addresses", None, None, "10.0.0.1", None, None, 5.0, "ip 10.0.0.1")
    ]
