"""Who could do what over time: intervals, the ACL that allowed it, and the denial that stood against it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.acls.evaluation import EVERYBODY, Reason
from kafkawire.model.acls.past_rights import PastAcl, PastRight, who_could

TOPIC, READ, DESCRIBE = ResourceType.TOPIC, AclOperation.READ, AclOperation.DESCRIBE


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


ALICE = AclBinding(TOPIC, "ord", "User:alice", READ, pattern_type=PatternType.PREFIXED)
EVERYONE = AclBinding(TOPIC, "*", EVERYBODY, READ)
NOT_BOB = AclBinding(TOPIC, "orders", "User:bob", AclOperation.ALL, AclPermissionType.DENY)


def test_a_prefix_and_an_implied_operation_give_a_right_for_the_time_of_the_acl() -> None:
    history = [PastAcl(ALICE, day(2), day(5))]
    expected = [PastRight("User:alice", "*", day(2), day(5), Reason.ALLOWED, ALICE)]
    assert who_could(history, DESCRIBE, TOPIC, "orders") == expected
    assert who_could(history, AclOperation.WRITE, TOPIC, "orders") == []
    assert who_could(history, READ, TOPIC, "payments") == []


def test_a_moment_is_in_an_interval_without_its_end() -> None:
    history = [PastAcl(ALICE, day(2), day(5))]
    assert who_could(history, READ, TOPIC, "orders", since=day(2), until=day(2))
    assert not who_could(history, READ, TOPIC, "orders", since=day(5), until=day(5))
    assert not who_could(history, READ, TOPIC, "orders", until=day(2))


def test_another_acl_that_allows_it_goes_on_with_a_row_of_its_own() -> None:
    narrow = AclBinding(TOPIC, "orders", "User:alice", READ)
    history = [PastAcl(ALICE, day(2), day(5)), PastAcl(narrow, day(4), None)]
    rows = [(right.valid_from, right.valid_to, right.acl) for right in who_could(history, READ, TOPIC, "orders")]
    assert rows == [(day(2), day(5), ALICE), (day(5), None, narrow)]


def test_a_denial_interrupts_a_right_and_is_named() -> None:
    denial = AclBinding(TOPIC, "orders", "User:alice", READ, AclPermissionType.DENY)
    history = [PastAcl(ALICE, day(2), None), PastAcl(denial, day(3), day(4))]
    rights = who_could(history, READ, TOPIC, "orders")
    assert [(right.valid_from, right.valid_to, right.denied_by) for right in rights] == [
        (day(2), day(3), None),
        (day(3), day(4), denial),
        (day(4), None, None),
    ]
    assert {right.acl for right in rights} == {ALICE}
    assert who_could(history, DESCRIBE, TOPIC, "orders") == [
        PastRight("User:alice", "*", day(2), None, Reason.ALLOWED, ALICE)
    ], "a denial implies nothing"


def test_everyone_is_one_row_with_those_that_could_not_for_a_part_of_the_asked_time() -> None:
    history = [PastAcl(EVERYONE, day(1), None), PastAcl(NOT_BOB, day(3), day(4))]
    bob, denied, bob_again, others = who_could(history, READ, TOPIC, "orders")
    assert (bob.valid_to, denied.denied_by, bob_again.valid_from) == (day(3), NOT_BOB, day(4))
    assert (others.principal, others.excepted) == (EVERYBODY, ("User:bob",))
    *_, others = who_could(history, READ, TOPIC, "orders", since=day(4))
    assert others.excepted == ()


def test_a_denied_host_is_excepted_while_the_denial_exists() -> None:
    denial = AclBinding(TOPIC, "orders", EVERYBODY, READ, AclPermissionType.DENY, "10.0.0.7")
    history = [PastAcl(ALICE, day(1), None), PastAcl(denial, day(3), day(4))]
    rights = [right for right in who_could(history, READ, TOPIC, "orders") if right.allowed]
    assert [right.excepted_hosts for right in rights] == [(), ("10.0.0.7",), ()]
    from_there = who_could(history, READ, TOPIC, "orders", host="10.0.0.7")
    assert [right.denied_by for right in from_there] == [None, denial, None]
    (from_elsewhere,) = who_could(history, READ, TOPIC, "orders", host="10.0.0.8")
    assert (from_elsewhere.host, from_elsewhere.valid_from, from_elsewhere.valid_to) == ("10.0.0.8", day(1), None)


def test_the_first_acl_of_an_open_resource_closes_it_and_the_last_one_opens_it_again() -> None:
    history = [PastAcl(ALICE, day(2), day(5))]
    rights = who_could(history, READ, TOPIC, "orders", allow_everyone_if_no_acl=True)
    everyone = [right for right in rights if right.principal == EVERYBODY]
    assert [(right.valid_from, right.valid_to) for right in everyone] == [(None, day(2)), (day(5), None)]
    assert {right.reason for right in everyone} == {Reason.NO_ACL_ON_RESOURCE}


def test_super_users_could_at_all_times_whatever_denied_it() -> None:
    history = [PastAcl(NOT_BOB, day(3), day(4))]
    expected = [PastRight("User:bob", "*", None, None, Reason.SUPER_USER)]
    assert who_could(history, READ, TOPIC, "orders", super_users=["User:bob"]) == expected


def test_an_acl_that_was_created_again_continues_its_right() -> None:
    history = [PastAcl(ALICE, day(1), day(2)), PastAcl(ALICE, day(2), day(3))]
    assert len(who_could(history, READ, TOPIC, "orders")) == 1
    history = [PastAcl(ALICE, day(1), day(2)), PastAcl(ALICE, day(3), day(4))]
    assert len(who_could(history, READ, TOPIC, "orders")) == 2


def test_questions_without_an_answer_are_refused() -> None:
    with pytest.raises(ValueError, match="ALL is not an operation of a client"):
        who_could([], AclOperation.ALL, TOPIC, "orders")
    with pytest.raises(ValueError, match="give the earlier time first"):
        who_could([], READ, TOPIC, "orders", since=day(2), until=day(1))
    with pytest.raises(TypeError, match="super_users"):
        who_could([], READ, TOPIC, "orders", super_users="User:admin")
