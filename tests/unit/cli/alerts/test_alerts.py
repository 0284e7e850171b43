"""``kafkawire alerts`` on a log of Apache Kafka and on one of the embedded broker: forms, codes, rules, SARIF."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.made.sarif import run_of

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    BlockingAdminClient,
    ConfigChange,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.logs import ALERT_RULES

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
LOGS = Path("tests/fixtures/kafka-4.3.1/logs").resolve()


def rows(capsys: pytest.CaptureFixture[str], *words: str, log: Path = LOGS) -> list[dict[str, Any]]:
    code = main(["alerts", "--log", str(log), *words, "-o", "json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert code == (ExitCode.FAILED if found else ExitCode.DONE)
    return found


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["alerts", *words]) == ExitCode.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_rows_of_a_log_of_apache_kafka(capsys: pytest.CaptureFixture[str]) -> None:
    found = rows(capsys)
    assert [(row["log_offset"], row["severity"], row["rule"]) for row in found] == [
        (69, "low", "retention-unset"),
        (70, "high", "retention-shortened"),
        (73, "high", "retention-shortened"),
        (99, "high", "retention-shortened"),
        (111, "medium", "every-resource-granted"),
        (128, "high", "everyone-granted"),
        (132, "high", "cluster-control-granted"),
        (140, "high", "everyone-granted"),
        (202, "medium", "scram-iterations-lowered"),
        (350, "high", "deny-removed"),
        (366, "medium", "acl-of-deleted-topic"),
    ]
    assert found[-2] == {
        "time": "2026-11-21T08:37:23.808000Z",
        "severity": "high",
        "rule": "deny-removed",
        "resource_type": "TOPIC",
        "resource_name": "py.",
        "principal": "User:py",
        "message": "removed: User:py may not WRITE topics with prefix py. from 10.0.0.1",
        "log_offset": 350,
    }


def test_times_and_rules_choose(capsys: pytest.CaptureFixture[str]) -> None:
    assert [row["log_offset"] for row in rows(capsys, "--from-time", "2026-11-21T08:37")] == [350, 366]
    assert [row["log_offset"] for row in rows(capsys, "--until-time", "2026-11-21T08:36:31.700")] == [69, 70]
    assert [row["log_offset"] for row in rows(capsys, "--rule", "deny-removed", "--rule", "acl-of-deleted-topic")] == [
        350,
        366,
    ]
    all_of_them = len(rows(capsys))
    assert len(rows(capsys, "--ignore", "retention-shortened")) == all_of_them - 3


def test_no_alert_is_said_and_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["alerts", "--log", str(LOGS), "--rule", "acl-inherited"]) == ExitCode.DONE
    assert capsys.readouterr() == ("", "no alerts\n")


def test_what_administrators_do_at_a_broker_alerts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    topic, orders = ResourceType.TOPIC, ConfigResource.topic("orders")
    denial = AclBinding(topic, "orders", "User:eve", AclOperation.READ, AclPermissionType.DENY)
    grant = AclBinding(topic, "orders", "User:*", AclOperation.READ)
    with (
        ThreadedBroker(PROPERTIES, data_dir=tmp_path) as broker,
        BlockingAdminClient(broker.bootstrap_servers) as admin,
    ):
        admin.create_topics([NewTopic("orders", configs={"retention.ms": "60000"})]).all()
        admin.create_acls([denial, grant]).all()
        admin.delete_acls([denial.to_filter()]).all()
        admin.incremental_alter_configs({orders: [ConfigChange.set("retention.ms", "50000")]}).all()
        admin.incremental_alter_configs({orders: [ConfigChange.delete("retention.ms")]}).all()
        admin.delete_topics(["orders"]).all()
        admin.create_topics([NewTopic("orders")]).all()
    assert [(row["rule"], row["message"]) for row in rows(capsys, log=tmp_path)] == [
        ("everyone-granted", "added: User:* may READ topic orders"),
        ("deny-removed", "removed: User:eve may not READ topic orders"),
        ("retention-shortened", "retention.ms of topic orders: 60000 → 50000"),
        ("retention-unset", "retention.ms of topic orders: 50000 → not set"),
        ("acl-of-deleted-topic", "topic orders was deleted, and this is left: User:* may READ topic orders"),
        ("acl-inherited", "topic orders was created again, and inherits this: User:* may READ topic orders"),
    ]


def test_sarif_has_the_alerts_their_rules_and_their_places(capsys: pytest.CaptureFixture[str]) -> None:
    expected = rows(capsys)
    assert main(["alerts", "--log", str(LOGS), "-o", "sarif"]) == ExitCode.FAILED
    run = run_of(capsys.readouterr().out)
    assert [each.rule_id for each in run.results] == [row["rule"] for row in expected]
    levels = {"high": "error", "medium": "warning", "low": "note"}
    assert [each.level for each in run.results] == [levels[row["severity"]] for row in expected]
    assert [each.properties["logOffset"] for each in run.results] == [row["log_offset"] for row in expected]
    for rule in run.tool.driver.rules:
        assert rule.short_description.text == ALERT_RULES[rule.id].title
    (place,) = run.results[-1].locations
    assert place.physical_location is not None
    assert place.physical_location.artifact_location.uri.endswith("tests/fixtures/kafka-4.3.1/logs")
    assert place.logical_locations[0].fully_qualified_name == "TOPIC/payments.events"


def test_with_a_state_each_run_has_new_alerts_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected, log, state = rows(capsys), tmp_path / "__cluster_metadata-0", tmp_path / "state"
    segments = sorted((LOGS / log.name).glob("*.log"))
    shutil.copytree(LOGS / log.name, log, ignore=shutil.ignore_patterns(segments[-1].name, "*315*.checkpoint"))
    words = ("alerts", "--log", str(log), "--state", str(state), "-o", "json")
    assert main(list(words)) == ExitCode.FAILED
    first = capsys.readouterr()
    assert json.loads(first.out) == expected[:-2]
    assert first.err == f"All alerts, not only new ones: there is no state at {state} yet.\n"
    assert main(list(words)) == ExitCode.DONE
    assert capsys.readouterr() == ("[]\n", "")
    shutil.copy(segments[-1], log)
    assert main([*words, "--rule", "deny-removed"]) == ExitCode.FAILED
    assert json.loads(capsys.readouterr().out) == expected[-2:-1]
    assert main(list(words)) == ExitCode.DONE


OWN = """
[[rules]]
id = "topic-deleted"
title = "A topic of payments was deleted."
severity = "low"
history = "topic_history"
remedy = "ask its owners"
[rules.when]
change = "deleted"
name = { matches = 'payments\\..*' }
"""


def test_rules_of_a_file_are_beside_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(OWN, "utf-8")
    words = ("--alert-rules", str(file))
    found = rows(capsys, *words)
    assert [row for row in found if row["rule"] != "topic-deleted"] == rows(capsys)
    assert [row["message"] for row in rows(capsys, *words, "--rule", "topic-deleted")] == [
        "topic payments.events was deleted"
    ]
    assert main(["alerts", "--list-rules", *words, "-o", "name"]) == ExitCode.DONE
    assert capsys.readouterr().out.split() == [*ALERT_RULES, "topic-deleted"]
    assert main(["alerts", "--log", str(LOGS), *words, "--state", str(tmp_path / "state"), "-o", "sarif"]) == 1
    run = run_of(capsys.readouterr().out)
    assert [each.rule_id for each in run.results] == [row["rule"] for row in found]
    assert run.tool.driver.rules[-1].short_description.text == "A topic of payments was deleted."
    file.write_text(OWN.replace("deleted", "gone", 1).replace('"deleted"', '"gone"'), "utf-8")
    assert f"--alert-rules: {file}: rule topic-gone: there is no change 'gone'" in refusal(capsys, *words)


def test_sarif_of_new_alerts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["alerts", "--log", str(LOGS), "-o", "sarif"]) == ExitCode.FAILED
    expected = capsys.readouterr().out
    words = ["alerts", "--log", str(LOGS), "--state", str(tmp_path / "state"), "-o", "sarif"]
    assert main(words) == ExitCode.FAILED
    assert capsys.readouterr().out == expected
    assert main(words) == ExitCode.DONE
    assert not run_of(capsys.readouterr().out).results


def test_a_state_that_does_not_fit_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--log", str(LOGS), "--state", str(tmp_path / "state"))
    said = refusal(capsys, *words, "--from-time", "2026-11-22")
    assert "--from-time: changes have all rows" in said
    assert not (tmp_path / "state").exists()
    for name in ("one", "two"):
        shutil.copytree(LOGS / "__cluster_metadata-0", tmp_path / name / "__cluster_metadata-0")
    assert "there are several metadata logs" in refusal(capsys, "--log", str(tmp_path), *words[2:])


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["alerts", "--list-rules", "-o", "json"]) == ExitCode.DONE
    listed = json.loads(capsys.readouterr().out)
    assert [row["rule"] for row in listed] == list(ALERT_RULES)
    assert main(["alerts", "--list-rules", "--rule", "deny-removed", "-o", "name"]) == ExitCode.DONE
    assert capsys.readouterr().out == "deny-removed\n"


def test_wrong_words_are_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = ("--log", str(LOGS))
    assert "--log is missing" in refusal(capsys)
    assert "--rule: there is no rule 'deny-remove'; did you mean deny-removed?" in refusal(
        capsys, *log, "--rule", "deny-remove"
    )
    assert "--list-rules lists them" in refusal(capsys, *log, "--ignore", "nothing")
    assert "leave no rule" in refusal(capsys, *log, "--rule", "acl-inherited", "--ignore", "acl-inherited")
    assert "known since" in refusal(capsys, *log, "--from-time", "2020-01-01")
    assert "is before" in refusal(capsys, *log, "--from-time", "2026-11-22", "--until-time", "2026-11-21")
    assert "not a time" in refusal(capsys, *log, "--until-time", "yesterday")
    assert "no segment" in refusal(capsys, "--log", str(tmp_path))
    assert "rules are no findings" in refusal(capsys, "--list-rules", "-o", "sarif")
