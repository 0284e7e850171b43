"""ACLs and quotas: what Kafka's own classes match, allow and resolve, on the same data."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest
from tests.conformance.admin.kafkas_answers import ask, row
from tests.unit.model.test_principal_mapping import CASES as MAPPED

from kafkawire.broker.image.acls import AclsImage
from kafkawire.broker.plugins.standard_authorizer import StandardAuthorizer
from kafkawire.broker.sessions import Principal, Session
from kafkawire.layout import Uuid
from kafkawire.model.acls.bindings import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import AclEvaluator
from kafkawire.model.acls.hosts import is_range, is_within
from kafkawire.model.acls.matching import AclIndex, matches
from kafkawire.model.acls.validation import refusal_of_binding
from kafkawire.model.configs.resources import ConfigResourceType, ConfigSource, ConfigType
from kafkawire.model.quotas.effective import EffectiveQuotas
from kafkawire.model.quotas.entities import (
    CLIENT_KEYS,
    IP_KEYS,
    PRODUCER_BYTE_RATE,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from kafkawire.model.quotas.matching import QuotaIndex
from kafkawire.model.quotas.validation import refusal_of_alteration, refusal_of_filter
from kafkawire.model.tolerant_enums import TolerantEnum
from kafkawire.protocol import AccessControlEntryRecord, RemoveAccessControlEntryRecord

pytestmark = pytest.mark.conformance

_RESOURCE_TYPES: Final = (ResourceType.TOPIC, ResourceType.GROUP)
_NAMES: Final = ("f", "foo", "foobar", "fop", "*", "b")
_PRINCIPALS: Final = ("User:alice", "User:bob", "User:*", "Group:alice", "User:a:b")
_HOSTS: Final = ("10.0.0.1", "10.0.0.2", "*")
_OPERATIONS: Final = tuple(AclOperation)[3:]
_PATTERNS: Final = (PatternType.LITERAL, PatternType.PREFIXED)
_PERMISSIONS: Final = (AclPermissionType.ALLOW, AclPermissionType.DENY)


def test_enumerations_have_the_names_and_numbers_of_kafka(tmp_path: Path) -> None:
    """A1, G1, G2, G3."""
    enumerations: tuple[type[TolerantEnum], ...] = (
        ResourceType,
        PatternType,
        AclOperation,
        AclPermissionType,
        ConfigResourceType,
        ConfigSource,
        ConfigType,
    )
    (answer,) = ask(tmp_path, [{"op": "codes"}])
    assert answer == {
        enumeration.__name__: {member.name: member.value for member in enumeration} for enumeration in enumerations
    }


def test_acl_filters_match_the_acls_that_kafka_matches(tmp_path: Path) -> None:
    """A3 to A10."""
    dice = random.Random(140)
    acls = [_acl(dice) for _ in range(150)]
    filters = [_filter(dice) for _ in range(400)]
    (answer,) = ask(
        tmp_path, [{"op": "match", "filters": [row(one) for one in filters], "acls": [row(acl) for acl in acls]}]
    )
    assert answer == [[matches(wanted, acl) for acl in acls] for wanted in filters]
    index = AclIndex(acls)
    assert [index.matching(wanted) for wanted in filters] == [
        list(itertools.compress(acls, row)) for row in msgspec.convert(answer, list[list[bool]])
    ]


def test_the_evaluator_decides_as_kafkas_authorizer(tmp_path: Path) -> None:
    """A25."""
    dice = random.Random(25)
    trials = [([_acl(dice) for _ in range(dice.randrange(8))], n % 2 == 0) for n in range(150)]
    actions = [_action(dice) for _ in range(80)]
    questions = (
        {
            "op": "authorize",
            "acls": [row(acl) for acl in acls],
            "super_users": "User:root",
            "open": open_to_all,
            "actions": [
                [*principal.split(":", 1), *map(int, codes), *rest] for principal, codes, rest in _split(actions)
            ],
        }
        for acls, open_to_all in trials
    )
    outcomes = {True: 0, False: 0}
    for (acls, open_to_all), answer in zip(trials, ask(tmp_path, questions), strict=True):
        evaluator = AclEvaluator(acls, super_users=["User:root"], allow_everyone_if_no_acl=open_to_all)
        decisions = [evaluator.decide(*action) for action in actions]
        assert answer == [decision.allowed for decision in decisions], acls
        for decision in decisions:
            outcomes[decision.allowed] += 1
    assert min(outcomes.values()) > 1000


def test_the_evaluator_decides_with_ranges_of_addresses_as_kafkas_authorizer(tmp_path: Path) -> None:
    """A23, A25."""
    dice = random.Random(23)
    trials = [[msgspec.structs.replace(_acl(dice), host=dice.choice(_RANGES)) for _ in range(10)] for _ in range(150)]
    actions = [(*_action(dice)[:4], dice.choice(_ADDRESSES)) for _ in range(80)]
    questions = (
        {
            "op": "authorize",
            "acls": [row(acl) for acl in acls],
            "super_users": "User:root",
            "open": False,
            "actions": [[*who.split(":", 1), *map(int, codes), *rest] for who, codes, rest in _split(actions)],
        }
        for acls in trials
    )
    by_ranges = {True: 0, False: 0}
    for acls, answer in zip(trials, ask(tmp_path, questions), strict=True):
        decisions = [AclEvaluator(acls, super_users=["User:root"]).decide(*action) for action in actions]
        assert answer == [decision.allowed for decision in decisions], acls
        for decision in decisions:
            if decision.acl in decision.unclear:
                by_ranges[decision.allowed] += 1
    assert min(by_ranges.values()) > 100


def test_hosts_are_ranges_of_the_addresses_that_kafka_says(tmp_path: Path) -> None:
    """A23. Zones and forms of the same address that Java does not write are left out."""
    dice = random.Random(4)
    octets = ("0", "1", "10", "127", "128", "255", "256", "010", "", "a", "1234", "-1")
    groups = ("0", "1", "db8", "ffff", "FFFF", "8000", "00001", "g", "")
    lengths = (
        "0",
        "1",
        "7",
        "8",
        "08",
        "31",
        "32",
        "33",
        "64",
        "127",
        "128",
        "129",
        "+8",
        "-1",
        "",
        " 8",
        "8 ",
        "8/8",
        "255.0.0.0",
    )
    hosts = {
        f"{separator.join(dice.choice(parts) for _ in range(count))}/{dice.choice(lengths)}"
        for separator, parts, count in (
            (".", octets[:6], 4),
            (".", octets, 4),
            (".", octets, 3),
            (":", groups, 8),
            (":", groups, 3),
        )
        for _ in range(600)
    }
    hosts |= {
        f"{start}/{length}"
        for start in ("::", "::1", "2001:db8::", "[::1]", "1::2::3", "::ffff:10.0.0.1", "localhost", "")
        for length in lengths
    }
    asked = sorted(hosts)
    addresses = [".".join(dice.choice(octets[:6]) for _ in range(4)) for _ in range(30)]
    addresses += [":".join(dice.choice(groups[:4]) for _ in range(8)) for _ in range(30)]
    addresses += ["0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:1", "10.0.0.1"]
    (answer,) = ask(tmp_path, [{"op": "ranges", "hosts": asked, "addresses": addresses}])
    for host, theirs in zip(asked, msgspec.convert(answer, list[tuple[bool, list[bool]]]), strict=True):
        assert (is_range(host), [is_range(host) and is_within(each, host) for each in addresses]) == theirs, host
    ranges = [host for host in asked if is_range(host)]
    assert min(len(ranges), len(asked) - len(ranges)) > 300


def test_the_authorizer_of_the_broker_decides_as_kafkas_authorizer(tmp_path: Path) -> None:
    """With ACLs from the log, for resources that are named and for types as idempotent producers ask for them (A25)."""
    dice = random.Random(2525)
    trials = [([_acl(dice) for _ in range(dice.randrange(12))], n % 2 == 0) for n in range(150)]
    actions = [_action(dice) for _ in range(60)]
    named = [(*action[:3], name, action[4]) for action in actions for name in (action[3], None)]
    questions = (
        {
            "op": "authorize",
            "acls": [row(acl) for acl in acls],
            "super_users": "User:root",
            "open": open_to_all,
            "actions": [[*who.split(":", 1), int(how), int(kind), name, host] for who, how, kind, name, host in named],
        }
        for acls, open_to_all in trials
    )
    outcomes = {True: 0, False: 0}
    for (acls, open_to_all), answer in zip(trials, ask(tmp_path, questions), strict=True):
        authorizer = StandardAuthorizer(_image(acls), {"User:root"}, allow_everyone_if_no_acl=open_to_all)
        decisions = [_decision(authorizer, action) for action in named]
        assert answer == decisions, acls
        for decision in decisions:
            outcomes[decision] += 1
    assert min(outcomes.values()) > 1000


def test_the_authorizer_of_a_broker_of_4_4_decides_with_ranges_as_kafkas_authorizer(tmp_path: Path) -> None:
    """A23, A25."""
    dice = random.Random(2323)
    trials = [[msgspec.structs.replace(_acl(dice), host=dice.choice(_RANGES)) for _ in range(10)] for _ in range(150)]
    actions = [(*_action(dice)[:4], dice.choice(_ADDRESSES)) for _ in range(60)]
    named = [(*action[:3], name, action[4]) for action in actions for name in (action[3], None)]
    questions = (
        {
            "op": "authorize",
            "acls": [row(acl) for acl in acls],
            "super_users": "User:root",
            "open": False,
            "actions": [[*who.split(":", 1), int(how), int(kind), name, host] for who, how, kind, name, host in named],
        }
        for acls in trials
    )
    by_ranges = 0
    for acls, answer in zip(trials, ask(tmp_path, questions), strict=True):
        with_ranges, without = (
            [_decision(authorizer, action) for action in named]
            for ranges in (True, False)
            for authorizer in [
                StandardAuthorizer(_image(acls), {"User:root"}, allow_everyone_if_no_acl=False, ranges=ranges)
            ]
        )
        assert answer == with_ranges, acls
        by_ranges += sum(one != other for one, other in zip(with_ranges, without, strict=True))
    assert by_ranges > 300


def test_kafka_refuses_the_acls_that_the_client_refuses(tmp_path: Path) -> None:
    """A12, A22."""
    dice = random.Random(12)
    acls = [
        AclBinding(
            dice.choice((*ResourceType, *_RESOURCE_TYPES)),
            "kafka-cluster",  # a broker checks other names elsewhere
            dice.choice(("User:alice", "User:a:b", "User:*", "User:", ":alice", "alice", "")),
            dice.choice((*AclOperation, *_OPERATIONS, *_OPERATIONS)),
            dice.choice((*AclPermissionType, *_PERMISSIONS, *_PERMISSIONS)),
            dice.choice(("*", "10.0.0.1", "10.0.0.0/8", "example.com")),
            dice.choice((*PatternType, *_PATTERNS, *_PATTERNS)),
        )
        for _ in range(4000)
    ]
    (answer,) = ask(tmp_path, [{"op": "create", "acls": [row(acl) for acl in acls]}])
    refusals = [refusal_of_binding(acl) for acl in acls]
    ours = [0 if refusal is None else refusal.code for refusal in refusals]
    assert [(acl, ours, said) for acl, ours, said in zip(acls, ours, _codes(answer), strict=True) if ours != said] == []
    assert min(ours.count(0), ours.count(42)) > 500


def test_kafka_refuses_the_quota_alterations_that_the_client_refuses(tmp_path: Path) -> None:
    """E11."""
    dice = random.Random(11)
    names = (None, "a", "a b", "")
    entities = [ClientQuotaEntity({type_: name}) for type_ in ("user", "client-id", "tenant", "") for name in names]
    entities += [ClientQuotaEntity.of_user_and_client(user, client) for user in names for client in names]
    entities += [ClientQuotaEntity.of_ip(ip) for ip in (None, "10.0.0.1", "::1", "localhost", "10.0.0.0/8", "a b", "")]
    entities += [ClientQuotaEntity({}), ClientQuotaEntity({"ip": "10.0.0.1", "user": "a"})]
    values = (None, 1, 0, -1, 0.5, 1.5, 1.0000001, 0.9999999, 1.00001, 1e-9, 2**31 - 1, 2**31, 2.0**63, 2.0**64, 1e300)
    alterations = [
        ClientQuotaAlteration(
            dice.choice(entities),
            {dice.choice((*CLIENT_KEYS, *IP_KEYS, "x")): dice.choice(values) for _ in range(dice.choice((0, 1, 1, 2)))},
        )
        for _ in range(6000)
    ]
    question = {"op": "alter", "alterations": [(dict(one.entity), dict(one.values)) for one in alterations]}
    (answer,) = ask(tmp_path, [question])
    refusals = [refusal_of_alteration(alteration) for alteration in alterations]
    ours = [0 if refusal is None else refusal.code for refusal in refusals]
    assert [x for x in zip(alterations, ours, _codes(answer), strict=True) if x[1] != x[2]] == []
    assert min(ours.count(0), ours.count(42)) > 500


def _codes(answer: object) -> list[int]:
    return msgspec.convert(answer, list[int])


def test_quota_filters_match_the_entities_that_kafka_matches(tmp_path: Path) -> None:
    """E1 to E6."""
    names = (None, "a", "b", "")
    entities = [ClientQuotaEntity.of_user_and_client(user, client) for user in names for client in names]
    entities += [of(name) for of in (ClientQuotaEntity.of_user, ClientQuotaEntity.of_client) for name in names]
    entities += [ClientQuotaEntity.of_ip(None), ClientQuotaEntity.of_ip("10.0.0.1")]
    types, match_types = ("user", "client-id", "ip", "tenant", ""), (*QuotaMatch, QuotaMatch(3))
    components = [
        ClientQuotaFilterComponent(type_, match_type, name)
        for type_ in types
        for match_type in match_types
        for name in names
    ]
    dice = random.Random(546)
    filters = [ClientQuotaFilter((), strict=strict) for strict in (False, True)]
    filters += [ClientQuotaFilter((component,), strict) for component in components for strict in (False, True)]
    accepted = [component for component in components if refusal_of_filter(ClientQuotaFilter((component,))) is None]
    filters += [ClientQuotaFilter(tuple(dice.sample(components, 2)), dice.random() < 0.5) for _ in range(800)]
    filters += [ClientQuotaFilter(tuple(dice.sample(accepted, 2)), dice.random() < 0.5) for _ in range(800)]
    question = {
        "op": "describe",
        "entities": [dict(entity) for entity in entities],
        "filters": [
            {"strict": one.strict, "components": [[c.entity_type, int(c.match_type), c.name] for c in one.components]}
            for one in filters
        ],
    }
    (answer,) = ask(tmp_path, [question])
    index = QuotaIndex(entities)
    refused = 0
    for wanted, said in zip(filters, msgspec.convert(answer, list[int | list[dict[str, str | None]]]), strict=True):
        refusal = refusal_of_filter(wanted)
        if isinstance(said, int):
            refused += 1
            assert refusal is not None, wanted
            assert refusal.code == said, wanted
        else:
            assert refusal is None, wanted
            assert set(index.matching(wanted)) == {ClientQuotaEntity(parts) for parts in said}, wanted
    assert min(refused, len(filters) - refused) > 100


def test_clients_have_the_quotas_and_buckets_that_kafka_gives_them(tmp_path: Path) -> None:
    """D7 to D11."""
    dice = random.Random(7)
    clients = list(itertools.product(("u", "v", "a b:c~*/é+"), ("c", "d", "e f")))
    trials = [_quotas(dice, dice.randrange(9)) for _ in range(120)]
    questions = (
        {
            "op": "resolve",
            "quotas": [[dict(entity), values[PRODUCER_BYTE_RATE]] for entity, values in described.items()],
            "clients": clients,
        }
        for described in trials
    )
    for described, answer in zip(trials, ask(tmp_path, questions), strict=True):
        quotas = EffectiveQuotas(described)
        resolved = [quotas.of_client(*client)[PRODUCER_BYTE_RATE] for client in clients]
        assert answer == [[one.value, one.bucket.user, one.bucket.client_id] for one in resolved], described


def _acl(dice: random.Random) -> AclBinding:
    return AclBinding(
        dice.choice(_RESOURCE_TYPES),
        dice.choice(_NAMES),
        dice.choice(_PRINCIPALS),
        dice.choice((*_OPERATIONS, *[AclOperation.ALL] * 5)),
        dice.choice((AclPermissionType.ALLOW, *_PERMISSIONS)),
        dice.choice((*_HOSTS, "*")),
        dice.choice(_PATTERNS),
    )


def _filter(dice: random.Random) -> AclBindingFilter:
    return AclBindingFilter(
        dice.choice((*_RESOURCE_TYPES, ResourceType.ANY)),
        dice.choice((*_NAMES, "", None, None)),
        dice.choice((*_PRINCIPALS, *[None] * 5)),
        dice.choice((*_OPERATIONS, *[AclOperation.ANY] * 10, AclOperation.ALL)),
        dice.choice((*_PERMISSIONS, AclPermissionType.ANY)),
        dice.choice((*_HOSTS, *[None] * 3)),
        dice.choice((*_PATTERNS, PatternType.ANY, PatternType.MATCH)),
    )


_RANGES = (
    "*",
    "10.0.0.1",
    "10.0.0.0/31",
    "10.0.0.2/31",
    "10.0.0.0/8",
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "0:0:0:0:0:0:0:1",
)
_ADDRESSES = ("10.0.0.1", "10.0.0.2", "10.1.0.0", "192.168.0.1", "0:0:0:0:0:0:0:1")

_Action = tuple[str, AclOperation, ResourceType, str, str]


def _action(dice: random.Random) -> _Action:
    principal = dice.choice(("User:alice", "User:bob", "Group:alice", "User:a:b", "User:root"))
    return (
        principal,
        dice.choice(_OPERATIONS),
        dice.choice(_RESOURCE_TYPES),
        dice.choice(_NAMES),
        dice.choice(_HOSTS[:2]),
    )


def _image(acls: Iterable[AclBinding]) -> AclsImage:
    """The ACLs in a log, of which some are removed again."""
    image = AclsImage()
    for acl in acls:
        record = AccessControlEntryRecord(
            Uuid.random(),
            acl.resource_type,
            acl.resource_name,
            acl.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission_type,
        )
        gone = msgspec.structs.replace(record, id=Uuid.random(), resource_name=f"{acl.resource_name}b")
        for one in (record, gone):
            image.apply(one)
        image.apply_remove(RemoveAccessControlEntryRecord(gone.id))
    return image


def _decision(authorizer: StandardAuthorizer, action: tuple[str, AclOperation, ResourceType, str | None, str]) -> bool:
    principal, operation, kind, name, host = action
    type_of_principal, _, name_of_principal = principal.partition(":")
    session = Session(Principal(name_of_principal, type_of_principal), host, "PLAINTEXT")
    if name is None:
        return authorizer.authorize_by_resource_type(session, operation, kind)
    return authorizer.authorize(session, operation, kind, name)


def _split(actions: Sequence[_Action]) -> Iterable[tuple[str, tuple[int, int], tuple[str, str]]]:
    return ((principal, (operation, type_), (name, host)) for principal, operation, type_, name, host in actions)


def _quotas(dice: random.Random, count: int) -> dict[ClientQuotaEntity, dict[str, float]]:
    users, clients = ("u", "a b:c~*/é+", None), ("c", "e f", None)
    possible = [ClientQuotaEntity.of_user_and_client(user, client) for user in users for client in clients]
    possible += [ClientQuotaEntity.of_user(user) for user in users]
    possible += [ClientQuotaEntity.of_client(client) for client in clients]
    kinds = (
        [entity for entity in possible if len(entity) == 1 and "user" in entity] if dice.random() < 0.2 else possible
    )
    chosen = dice.sample(kinds, min(count, len(kinds)))
    return {entity: {PRODUCER_BYTE_RATE: float(n)} for n, entity in enumerate(chosen, 1)}


def test_certificates_have_the_names_that_kafka_gives_them(tmp_path: Path) -> None:
    """Rules of ``ssl.principal.mapping.rules``, KIP-371."""
    questions = [{"op": "principal", "subject": subject, "rules": rules} for subject, rules, _ in MAPPED if rules]
    expected = [name for _, rules, name in MAPPED if rules]
    assert ask(tmp_path, questions) == expected
