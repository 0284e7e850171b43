"""Who could do what over time is, at each moment, what the evaluator decides of the ACLs of that moment (A25)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given, strategies as st
from tests.laws.model.acl_strategies import acls, hosts, names, operations

from kafkawire.model.acls.bindings import AclBinding, AclOperation, ResourceType
from kafkawire.model.acls.evaluation import EVERYBODY, AclEvaluator, Decision
from kafkawire.model.acls.past_rights import PastAcl, PastRight, who_could

TOPIC = ResourceType.TOPIC
PRINCIPALS = ("User:alice", "User:bob", "Group:alice", "User:nameless")
HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
MOMENTS = range(8)


def at(hour: int) -> datetime:
    return BEGIN + timedelta(hours=hour)


@st.composite
def past_acls(draw: st.DrawFn) -> PastAcl:
    first, last = sorted(draw(st.tuples(st.sampled_from(MOMENTS), st.sampled_from(MOMENTS))))
    begins = draw(st.sampled_from((None, at(first))))
    return PastAcl(draw(acls), begins, draw(st.sampled_from((None, at(last)))))


histories = st.lists(past_acls(), max_size=10)
super_users = st.sampled_from(((), ("User:bob",)))


def valid(history: Sequence[PastAcl], time: datetime) -> list[AclBinding]:
    return [
        each.acl
        for each in history
        if (each.valid_from is None or each.valid_from <= time) and (each.valid_to is None or time < each.valid_to)
    ]


def holds(right: PastRight, time: datetime) -> bool:
    begins, ends = right.valid_from, right.valid_to
    return (begins is None or begins <= time) and (ends is None or time < ends)


def could(rights: Sequence[PastRight], principal: str, host: str, time: datetime) -> bool:
    """What the rows say, as the page reads them."""
    held = [right for right in rights if right.allowed and holds(right, time)]
    own = [right for right in held if right.principal == principal]
    others = [right for right in held if right.principal == EVERYBODY and principal not in right.excepted]
    return any(
        right.host == host or (right.host == "*" and host not in right.excepted_hosts) for right in own or others
    )


@given(histories, operations, names, super_users, st.booleans())
def test_at_each_moment_the_rows_say_what_the_evaluator_decides(
    history: list[PastAcl], operation: AclOperation, name: str, supers: tuple[str, ...], open_to_all: bool
) -> None:
    rights = who_could(history, operation, TOPIC, name, super_users=supers, allow_everyone_if_no_acl=open_to_all)
    for moment in (at(-1), *map(at, MOMENTS), at(99)):
        evaluator = AclEvaluator(valid(history, moment), super_users=supers, allow_everyone_if_no_acl=open_to_all)
        asked = who_could(
            history,
            operation,
            TOPIC,
            name,
            since=moment,
            until=moment,
            super_users=supers,
            allow_everyone_if_no_acl=open_to_all,
        )
        assert all(holds(right, moment) for right in asked)
        for principal in PRINCIPALS:
            for host in HOSTS:
                expected = evaluator.decide(principal, operation, TOPIC, name, host).allowed
                assert could(rights, principal, host, moment) is expected, (principal, host, moment)
                assert could(asked, principal, host, moment) is expected, (principal, host, moment)


@given(histories, operations, names, hosts.filter(lambda host: host != "*"), st.booleans())
def test_each_row_of_a_host_names_an_acl_that_decides_then(
    history: list[PastAcl], operation: AclOperation, name: str, host: str, open_to_all: bool
) -> None:
    for right in who_could(history, operation, TOPIC, name, host=host, allow_everyone_if_no_acl=open_to_all):
        assert right.host == host
        principal = "User:nameless" if right.principal == EVERYBODY else right.principal
        for moment in filter(lambda moment: holds(right, moment), (at(-1), *map(at, MOMENTS), at(99))):
            existing = valid(history, moment)
            decision = AclEvaluator(existing, allow_everyone_if_no_acl=open_to_all).decide(
                principal, operation, TOPIC, name, host
            )
            assert (decision.allowed, decision.reason) == (right.allowed, right.reason)
            assert alone(right.acl, principal, operation, name, host).allowed or right.acl is None
            assert right.acl is None or right.acl in existing
            assert right.denied_by is None or right.denied_by in existing


def alone(acl: AclBinding | None, principal: str, operation: AclOperation, name: str, host: str) -> Decision:
    """What an ACL would decide if it were the only one."""
    return AclEvaluator([] if acl is None else [acl]).decide(principal, operation, TOPIC, name, host)


@given(histories, operations, names, st.sampled_from(MOMENTS), st.sampled_from(MOMENTS))
def test_a_question_about_a_time_has_the_rows_of_the_whole_history_that_overlap_it(
    history: list[PastAcl], operation: AclOperation, name: str, one: int, other: int
) -> None:
    since, until = sorted((at(one), at(other)))
    asked = who_could(history, operation, TOPIC, name, since=since, until=until)
    whole = who_could(history, operation, TOPIC, name)
    own = [right for right in whole if right.principal != EVERYBODY]
    overlapping = [
        right
        for right in own
        if (right.valid_to is None or since < right.valid_to)
        and (right.valid_from is None or right.valid_from < until or right.valid_from <= since)
    ]
    assert [right for right in asked if right.principal != EVERYBODY] == overlapping


@given(histories.flatmap(st.permutations), operations, names)
def test_the_order_of_the_history_changes_nothing(history: list[PastAcl], operation: AclOperation, name: str) -> None:
    assert who_could(history, operation, TOPIC, name) == who_could(sorted_by_text(history), operation, TOPIC, name)


def sorted_by_text(history: list[PastAcl]) -> list[PastAcl]:
    return sorted(history, key=str)


@given(histories, operations, names)
def test_rows_of_a_principal_and_host_follow_each_other_and_differ(
    history: list[PastAcl], operation: AclOperation, name: str
) -> None:
    rights = who_could(history, operation, TOPIC, name)
    for right in rights:
        same = [each for each in rights if (each.principal, each.host) == (right.principal, right.host)]
        for each in same:
            if each.valid_from is not None and each.valid_from == right.valid_to:
                assert (each.acl, each.denied_by, each.reason, each.excepted_hosts) != (
                    right.acl,
                    right.denied_by,
                    right.reason,
                    right.excepted_hosts,
                )
