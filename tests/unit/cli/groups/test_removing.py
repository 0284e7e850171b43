"""What ``remove-members`` says about members that exist, and about those that do not; the same without a dry run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.made.operator_command import Command

from kafkawire.admin import (
    BlockingAdminClient,
    ClassicGroupMember,
    ConsumerGroupMember,
    MemberToRemove,
    TopicPartition,
)
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.groups.removing import simulated_removal
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol.errors import GroupIdNotFoundError

STATIC = ConsumerGroupMember("id-1", "host-1", "billing", "/10.0.0.1", ())
MEMBERS: Sequence[ConsumerGroupMember | ClassicGroupMember] = [
    STATIC,
    ClassicGroupMember("id-2", None, "audit", "/10.0.0.2", b"", b""),
]


def outcomes(*named: MemberToRemove) -> list[tuple[str, str, str | None]]:
    return [(row.item, row.status, row.reason) for row in simulated_removal("g", MEMBERS, named)]


def test_all_members_are_those_that_the_group_has() -> None:
    assert outcomes() == [
        ("host-1", "would be done", "simulated: billing at /10.0.0.1"),
        ("id-2", "would be done", "simulated: audit at /10.0.0.2"),
    ]


@pytest.mark.parametrize("named", [MemberToRemove("id-1"), MemberToRemove(group_instance_id="host-1")])
def test_a_static_member_has_two_names(named: MemberToRemove) -> None:
    [(_, status, _)] = outcomes(named)
    assert status == "would be done"


@pytest.mark.parametrize("named", [MemberToRemove("host-1"), MemberToRemove(group_instance_id="id-2")])
def test_a_member_that_is_not_there_fails(named: MemberToRemove) -> None:
    [(_, status, reason)] = outcomes(named)
    assert status == "failed"
    assert reason == "the group has no such member; kafkawire groups members shows those that it has"


def test_without_a_group_each_member_fails() -> None:
    error = GroupIdNotFoundError("there is no group g")
    named = [MemberToRemove("a"), MemberToRemove("b")]
    assert [(row.item, row.error) for row in simulated_removal("g", error, named)] == [
        ("a", "GROUP_ID_NOT_FOUND"),
        ("b", "GROUP_ID_NOT_FOUND"),
    ]
    assert [row.item for row in simulated_removal("g", error, [])] == ["g"]


@pytest.mark.parametrize("option", ["--dry-run", "--yes"])
@pytest.mark.parametrize(
    ("group", "reason"),
    [
        ("workers", "workers is no group of consumers; stop its members where they run"),
        ("nothing", "Group nothing not found."),
    ],
)
def test_a_removal_fails_as_its_dry_run_does(
    option: str, group: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with ThreadedBroker({}, topics=["orders"]) as running:
        with BlockingAdminClient(running.bootstrap_servers) as client:
            client.alter_share_group_offsets("workers", {TopicPartition("orders", 0): 0}).all()
        groups = Command("groups", running.bootstrap_servers, capsys)
        for chosen, item in ((["--member", "m"], "m"), (["--all"], group)):
            [row] = groups.rows("remove-members", group, *chosen, option, code=ExitCode.FAILED)
            assert (row["item"], row["error"], row["reason"]) == (item, "GROUP_ID_NOT_FOUND", reason)
