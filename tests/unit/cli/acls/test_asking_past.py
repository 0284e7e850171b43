"""``kafkawire acls who-could`` on a log of Apache Kafka, and beside ``who-can`` at a twin of the same date."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from tests.made.operator_command import Command

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    BlockingAdminClient,
    PatternType,
    ResourceType,
)
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
LOGS = Path(__file__).parents[3] / "fixtures" / "kafka-4.3.1" / "logs"
DURING = "2026-11-21T08:37:23.700Z"
"""While User:py had a right and a denial."""


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert main(["acls", "who-could", *words, "--log", str(LOGS), "-o", "json"]) == ExitCode.DONE
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["acls", "who-could", *words]) == ExitCode.USAGE
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("operation", "resource"),
    [
        ("READ", "topic:py.topic"),
        ("DESCRIBE", "topic:audit.events"),
        ("ALTER", "topic:inventory.events"),
        ("ALTER", "topic:billing.events"),
        ("DELETE", "group:grp-72"),
        ("IDEMPOTENT_WRITE", "cluster"),
    ],
)
@pytest.mark.parametrize("date", [DURING, "2026-11-21T08:36:32.900Z"])
def test_at_a_date_the_answer_is_that_of_who_can_at_a_twin_of_it(
    operation: str, resource: str, date: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (operation, resource, "--super-user", "User:admin")
    with ThreadedBroker(from_log=LOGS, as_of=datetime.fromisoformat(date)) as twin:
        there = Command("acls", twin.bootstrap_servers, capsys).rows("who-can", *words)
    past = rows(capsys, *words, "--as-of", date)
    assert len(there) > 1 or resource == "topic:py.topic"
    assert [{name: row[name] for name in there[0]} for row in past] == there


def test_a_right_has_the_interval_of_its_acl(capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = rows(capsys, "READ", "topic:py.topic")
    assert (row["principal"], row["acl"]) == ("User:py", "User:py may READ topic py.topic")
    assert (row["valid_from"], row["valid_to"]) == ("2026-11-21T08:37:23.685000Z", "2026-11-21T08:37:23.808000Z")
    assert rows(capsys, "READ", "topic:py.topic", "--as-of", DURING) == [row]
    assert rows(capsys, "READ", "topic:py.topic", "--from-time", "2026-11-21T08:37:24Z") == []
    assert rows(capsys, "READ", "topic:py.topic", "--until-time", DURING) == [row]


def test_what_was_denied_is_listed_on_request_with_both_acls(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reading = AclBinding(ResourceType.TOPIC, "ord", "User:ann", AclOperation.READ, pattern_type=PatternType.PREFIXED)
    denial = AclBinding(ResourceType.TOPIC, "orders", "User:*", AclOperation.ALL, AclPermissionType.DENY)
    with (
        ThreadedBroker(PROPERTIES, data_dir=tmp_path) as broker,
        BlockingAdminClient(broker.bootstrap_servers) as admin,
    ):
        admin.create_acls([reading, denial]).all()
    words = ("acls", "who-could", "READ", "topic:orders", "--log", str(tmp_path), "-o", "json")
    assert main([*words]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == []
    assert main([*words, "--denied"]) == ExitCode.DONE
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["principal"], row["allowed"], row["reason"]) == ("User:ann", False, "an ACL denies it")
    assert (row["acl"], row["denied_by"]) == (
        "User:ann may READ topics with prefix ord",
        "User:* may not ALL topic orders",
    )


def test_a_resource_without_acls_is_open_to_everyone_until_its_first_one(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys, "WRITE", "topic:late.topic", "--allow-everyone-if-no-acl")
    assert found[-1]["principal"] == "User:*"
    assert rows(capsys, "WRITE", "topic:late.topic") == []


def test_a_log_does_not_have_super_users_which_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["acls", "who-could", "READ", "topic:nothing", "--log", str(LOGS)]) == ExitCode.DONE
    said = capsys.readouterr().err
    assert "give --super-user" in said
    assert "no principal could do it" in said
    assert rows(capsys, "READ", "topic:nothing", "--super-user", "User:admin")[0]["reason"] == "super user"


def test_wrong_questions_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    asked = ("READ", "topic:orders", "--log", str(LOGS))
    assert "write topic:orders" in refusal(capsys, "READ", "orders", "--log", str(LOGS))
    assert "known since" in refusal(capsys, *asked, "--as-of", "2020-01-01")
    assert "--as-of is one time" in refusal(capsys, *asked, "--as-of", DURING, "--until-time", DURING)
    earlier = ("--from-time", DURING, "--until-time", "2026-11-21T08:37:23Z")
    assert "--until-time is before --from-time" in refusal(capsys, *asked, *earlier)
    assert "not a time" in refusal(capsys, *asked, "--from-time", "yesterday")
    assert "write its type too" in refusal(capsys, *asked, "--super-user", "admin")
    assert "no segment" in refusal(capsys, "READ", "topic:orders", "--log", str(tmp_path))
