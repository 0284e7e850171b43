"""Enumerations of ACLs: Kafka's numbers, and no loss where a newer broker has more of them."""

from __future__ import annotations

import copy
import pickle

import pytest

from kafkawire.model.acls.bindings import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.tolerant_enums import MembersByCode, TolerantEnum

ENUMERATIONS = [ResourceType, PatternType, AclOperation, AclPermissionType]

NAMES: dict[type[TolerantEnum], str] = {
    ResourceType: "UNKNOWN ANY TOPIC GROUP CLUSTER TRANSACTIONAL_ID DELEGATION_TOKEN USER",
    PatternType: "UNKNOWN ANY MATCH LITERAL PREFIXED",
    AclOperation: "UNKNOWN ANY ALL READ WRITE CREATE DELETE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS "
    "ALTER_CONFIGS IDEMPOTENT_WRITE CREATE_TOKENS DESCRIBE_TOKENS TWO_PHASE_COMMIT",
    AclPermissionType: "UNKNOWN ANY DENY ALLOW",
}


@pytest.mark.parametrize("enumeration", ENUMERATIONS)
def test_members_have_the_names_and_numbers_of_kafka(enumeration: type[TolerantEnum]) -> None:
    """A1."""
    assert [(member.name, member.value) for member in enumeration] == [
        (name, code) for code, name in enumerate(NAMES[enumeration].split())
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("topic", ResourceType.TOPIC),
        ("Transactional_Id", ResourceType.TRANSACTIONAL_ID),
        ("TransactionalId", ResourceType.TRANSACTIONAL_ID),
        ("literal", PatternType.LITERAL),
        ("describe-configs", AclOperation.DESCRIBE_CONFIGS),
        ("DescribeConfigs", AclOperation.DESCRIBE_CONFIGS),
        ("allow", AclPermissionType.ALLOW),
        ("unknown", AclOperation.UNKNOWN),
        ("UNKNOWN_99", AclOperation(99)),
    ],
)
def test_names_are_parsed_whatever_their_case_and_separators(name: str, expected: TolerantEnum) -> None:
    """A1."""
    assert type(expected).parse(name) is expected


@pytest.mark.parametrize("name", ["", "tpic", "TOPIC ", "UNKNOWN_999"])
def test_an_error_about_an_unknown_name_mentions_the_enumeration(name: str) -> None:
    """A1."""
    with pytest.raises(ValueError, match="ResourceType"):
        ResourceType.parse(name)


@pytest.mark.parametrize("enumeration", ENUMERATIONS)
def test_every_int8_is_a_member_that_keeps_its_number(enumeration: type[TolerantEnum]) -> None:
    """A1."""
    for code in range(-128, 128):
        member = enumeration(code)
        assert (int(member), member.value) == (code, code)
        assert member == code
        assert member is enumeration(code)
        assert member.is_unknown is (code not in range(1, len(NAMES[enumeration].split())))
        assert enumeration.parse(member.name) is member
    assert len(enumeration) == len(NAMES[enumeration].split())


@pytest.mark.parametrize("value", [128, -129, 2**40])
def test_numbers_outside_the_wire_type_are_no_members(value: int) -> None:
    with pytest.raises(ValueError, match="not a valid ResourceType"):
        ResourceType(value)


@pytest.mark.parametrize("member", [ResourceType.TOPIC, ResourceType(99), AclOperation(-1)])
def test_members_travel(member: TolerantEnum) -> None:
    assert pickle.loads(pickle.dumps(member)) is member  # noqa: S301 - of this test
    assert copy.copy(member) is member
    assert copy.deepcopy(member) is member


def test_members_stand_for_their_names_in_texts() -> None:
    assert f"{ResourceType.TOPIC} {ResourceType(99)} {AclOperation.READ!s:>6}" == "TOPIC UNKNOWN_99   READ"
    assert repr(ResourceType(99)) == "<ResourceType.UNKNOWN_99: 99>"


def test_members_by_code_are_those_of_the_class() -> None:
    members = MembersByCode(ResourceType)
    assert all(members[code] is ResourceType(code) for code in range(-128, 128))
