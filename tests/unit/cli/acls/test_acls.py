"""``kafkawire acls`` at an embedded broker with an authorizer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedded.filled_state import AUTHORIZER
from tests.made.operator_command import Command

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient, ResourceType
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.outcome import ExitCode

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS;User:root",
}


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES) as running:
        yield running


@pytest.fixture
def acls(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("acls", broker.bootstrap_servers, capsys)


@pytest.fixture
def filled(acls: Command) -> Command:
    """Producers and consumers of orders, and a topic that is denied to all."""
    acls.text("create", "--producer", "--topic", "orders", "--principal", "User:shop")
    acls.text("create", "--consumer", "--topic", "ord", "--group", "bill", "--prefix", "--principal", "User:billing")
    denial = ("--topic", "orders-secret", "--principal", "User:*", "--operation", "all", "--permission", "deny")
    acls.text("create", *denial)
    return acls


def words(rows: list[dict[str, str]]) -> list[str]:
    return [f"{row['permission']} {row['principal']} {row['operation']} {row['resource_name']}" for row in rows]


def test_a_range_of_addresses_matches_no_client_below_4_4(broker: ThreadedBroker, acls: Command) -> None:
    of_range = AclBinding(ResourceType.TOPIC, "a", "User:x", AclOperation.READ, host="10.0.0.0/8")
    with BlockingAdminClient(broker.bootstrap_servers) as client:
        client.create_acls([of_range], allow_without_effect=True).all()
    (row,) = acls.rows("may", "User:x", "READ", "topic:a", "--host", "10.0.0.5", code=ExitCode.FAILED)
    assert (row["allowed"], row["acl"]) == (False, None)
    assert acls.rows("who-can", "READ", "topic:a") == []
    assert set(acls.statuses("delete", "--topic", "a", "--dry-run").values()) == {"would be done"}
    assert "no decision changes" in acls.err


def test_an_acl_is_created_for_each_combination_and_what_exists_stays(acls: Command) -> None:
    options = ("--topic", "a", "--topic", "b", "--principal", "User:x", "--operation", "read", "--operation", "WRITE")
    assert set(acls.statuses("create", *options).values()) == {"done"}
    assert "User:x may READ, WRITE and DESCRIBE topics a and b for the first time" in acls.err
    assert words(acls.rows("list")) == [f"ALLOW User:x {op} {name}" for name in "ab" for op in ("READ", "WRITE")]
    assert set(acls.statuses("create", *options).values()) == {"unchanged"}
    assert "no decision changes" in acls.err


def test_producers_and_consumers_get_what_they_need(filled: Command) -> None:
    assert words(filled.rows("list", "--principal", "User:shop")) == [
        f"ALLOW User:shop {operation} orders" for operation in ("WRITE", "CREATE", "DESCRIBE")
    ]
    found = filled.rows("list", "--principal", "User:billing")
    assert {(row["resource_type"], row["operation"], row["pattern_type"]) for row in found} == {
        ("TOPIC", "READ", "PREFIXED"),
        ("TOPIC", "DESCRIBE", "PREFIXED"),
        ("GROUP", "READ", "PREFIXED"),
    }


def test_a_filter_finds_its_name_or_all_that_concerns_a_resource(filled: Command) -> None:
    assert len(filled.rows("list", "--topic", "orders")) == 3
    assert len(filled.rows("list", "--topic", "orders", "--pattern", "match")) == 5
    assert filled.rows("list", "--topic", "orders", "--pattern", "prefixed") == []
    assert len(filled.rows("list", "--permission", "deny")) == 1
    assert filled.text("list", "--permission", "deny", "-o", "name") == "User:* may not ALL topic orders-secret\n"


def test_what_is_listed_can_be_created_again(filled: Command, tmp_path: Path) -> None:
    for form in ("json", "jsonl", "yaml"):
        listed = filled.text("list", "-o", form)
        (tmp_path / form).write_text(listed, "utf-8")
        filled.text("delete", "--all", "--yes")
        assert filled.rows("list") == []
        assert set(filled.statuses("create", "--from", f"{tmp_path / form}").values()) == {"done"}
        assert filled.text("list", "-o", form) == listed


def test_a_dry_run_says_what_a_change_means_and_changes_nothing(filled: Command) -> None:
    before = filled.rows("list")
    statuses = filled.statuses("delete", "--principal", "User:billing", "--dry-run")
    assert set(statuses.values()) == {"would be done"}
    assert "User:billing can no longer READ and DESCRIBE topics with prefix ord (except orders-secret)" in filled.err
    filled.statuses("create", "--topic", "*", "--principal", "User:*", "--operation", "read", "--dry-run")
    assert "User:billing on topics with prefix ord" in filled.err
    assert filled.rows("list") == before


def test_deleting_asks_and_names_of_nothing_are_refused(filled: Command) -> None:
    filled.text("delete", "--principal", "User:shop", code=ExitCode.USAGE)
    assert "delete 3 ACLs: there is no terminal to ask on" in filled.err
    filled.text("delete", code=ExitCode.USAGE)
    assert "give an option that names some" in filled.err
    assert len(filled.rows("delete", "--principal", "User:shop", "--yes")) == 3
    assert filled.rows("delete", "--principal", "User:shop", "--yes") == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--topic", "a", "--operation", "read"), "give --principal"),
        (("--topic", "a", "--principal", "User:x"), "give --operation"),
        (("--principal", "User:x", "--operation", "read"), "give a resource"),
        (("--group", "a", "--principal", "User:x", "--operation", "write"), "a GROUP has no WRITE; give ALL, READ"),
        (
            ("--topic", "a", "--principal", "User:x", "--operation", "fly"),
            "--operation: there is no operation 'fly'; give one of ANY",
        ),
        (("--producer", "--principal", "User:x"), "need --topic"),
        (("--consumer", "--topic", "a", "--principal", "User:x"), "give --group"),
        (("--idempotent", "--topic", "a", "--principal", "User:x"), "give --producer"),
        (("--producer", "--topic", "a", "--principal", "User:x", "--operation", "read"), "give no others"),
    ],
)
def test_incomplete_acls_are_wrong_usage(acls: Command, options: tuple[str, ...], message: str) -> None:
    acls.text("create", *options, code=ExitCode.USAGE)
    assert message in acls.err


def test_acls_that_brokers_refuse_or_never_apply_fail_and_the_others_are_created(acls: Command) -> None:
    options = ("--topic", "a", "--operation", "read", "--principal", "User:x", "--principal", "noprefix")
    statuses = acls.statuses("create", *options, code=ExitCode.SOME_FAILED)
    assert statuses == {"User:x may READ topic a": "done", "noprefix may READ topic a": "failed"}
    host = ("--topic", "a", "--operation", "read", "--principal", "User:x", "--host", "::1")
    (row,) = acls.rows("create", *host, code=ExitCode.FAILED)
    assert "write it as 0:0:0:0:0:0:0:1" in row["reason"]


def test_who_can_has_every_principal_with_the_acl_that_decides(filled: Command) -> None:
    rows = filled.rows("who-can", "READ", "topic:orders", "--super-user", "User:root")
    assert [(row["principal"], row["acl"]) for row in rows] == [
        ("User:root", None),
        ("User:billing", "User:billing may READ topics with prefix ord"),
    ]
    filled.text("create", "--topic", "orders", "--principal", "User:*", "--operation", "read")
    filled.text("create", "--topic", "orders", "--principal", "User:bad", "--operation", "read", "--permission", "deny")
    (everyone,) = [row for row in filled.rows("who-can", "READ", "topic:orders") if row["principal"] == "User:*"]
    assert everyone["excepted"] == ["User:bad"]


def test_who_can_has_the_hosts(acls: Command) -> None:
    one = ("--topic", "a", "--operation", "read", "--principal", "User:x")
    acls.text("create", *one, "--host", "10.0.0.1")
    rows = acls.rows("who-can", "read", "topic:a", "--super-user", "User:root")
    assert [(row["principal"], row["host"]) for row in rows] == [("User:root", "*"), ("User:x", "10.0.0.1")]
    acls.text("create", *one)
    acls.text("create", *one, "--host", "10.0.0.2", "--permission", "deny")
    row = acls.rows("who-can", "read", "topic:a")[-1]
    assert (row["principal"], row["host"], row["excepted_hosts"]) == ("User:x", "*", ["10.0.0.2"])


def test_may_says_yes_or_no_and_why(filled: Command) -> None:
    (row,) = filled.rows("may", "User:billing", "READ", "topic:orders", "--host", "10.0.0.1")
    assert (row["allowed"], row["acl"]) == (True, "User:billing may READ topics with prefix ord")
    (row,) = filled.rows("may", "User:billing", "READ", "topic:orders-secret", code=ExitCode.FAILED)
    assert (row["allowed"], row["acl"]) == (False, "User:* may not ALL topic orders-secret")
    (row,) = filled.rows("may", "User:root", "ALTER", "cluster", "--super-user", "User:root")
    assert row["reason"] == "super user"
    (row,) = filled.rows("may", "User:x", "ALTER", "cluster", "--allow-everyone-if-no-acl")
    assert row["allowed"] is True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("who-can", "READ", "orders"), "RESOURCE: 'orders' has no type; write topic:orders, group:orders or cluster"),
        (("who-can", "reed", "topic:orders"), "there is no operation 'reed'; did you mean READ?"),
        (("who-can", "read", "topc:orders"), "there is no type of resource 'topc'; did you mean TOPIC?"),
        (("who-can", "READ", "topic:"), "write topic:NAME"),
        (("who-can", "WRITE", "group:g"), "clients do no WRITE on a GROUP"),
        (("who-can", "ALL", "topic:a"), "clients do no ALL"),
        (("may", "shop", "READ", "topic:a"), "write one, such as User:alice"),
        (("list", "--principal", "alice"), "--principal alice: write its type too: User:alice"),
        (("delete", "--principal", "alice"), "--principal alice: write its type too: User:alice"),
    ],
)
def test_questions_that_mean_nothing_are_wrong_usage(acls: Command, words: tuple[str, ...], message: str) -> None:
    acls.text(*words, code=ExitCode.USAGE)
    assert message in acls.err


def test_super_users_that_brokers_hide_are_asked_for(filled: Command) -> None:
    filled.text("may", "User:root", "READ", "topic:a", code=ExitCode.FAILED)
    assert "the brokers do not show super.users; give --super-user" in filled.err
    filled.text("may", "User:root", "READ", "topic:a", "--super-user", "User:root")
    assert filled.err == ""


def test_a_review_names_the_causes(filled: Command) -> None:
    filled.text("create", "--topic", "orders", "--principal", "User:billing", "--operation", "read")
    filled.text("create", "--topic", "orders-secret", "--principal", "User:shop", "--operation", "write")
    found = {(row["principal"], row["operation"], row["resource_name"]): row for row in filled.rows("review")}
    redundant = found["User:billing", "READ", "orders"]
    assert redundant["causes"] == ["User:billing may READ topics with prefix ord"]
    assert {row["finding"] for row in filled.rows("review", "--kind", "shadowed")} == {"shadowed"}
    assert "detached" in {row["finding"] for row in filled.rows("review")}


def test_a_minimal_set_goes_to_delete(filled: Command, tmp_path: Path) -> None:
    removed = filled.text("minimise", "-o", "jsonl")
    assert "which is proven" in filled.err
    (tmp_path / "removed").write_text(removed, "utf-8")
    count = len(removed.splitlines())
    assert len(filled.rows("delete", "--from", f"{tmp_path / 'removed'}", "--yes")) == count > 0
    assert "no decision changes" in filled.err
    assert filled.rows("minimise") == []


def test_a_list_without_the_right_to_it_names_no_values_of_filters(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker(AUTHORIZER) as broker:
        acls = Command("acls", broker.bootstrap_servers, capsys)
        acls.text("list", "--topic", "orders", code=ExitCode.FAILED)
    assert acls.err.startswith("kafkawire: ACLs: CLUSTER_AUTHORIZATION_FAILED (31)")


def test_a_broker_without_an_authorizer_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker() as running:
        acls = Command("acls", running.bootstrap_servers, capsys)
        acls.text("list", code=ExitCode.FAILED)
    assert acls.err.startswith("kafkawire: ACLs: SECURITY_DISABLED (54): No Authorizer is configured on the broker")
