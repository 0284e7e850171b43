"""Rules of a user: what their conditions find, in each way to read alerts, and which files are refused."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from tests.made.logs import METADATA_LOG, Step, write_segment
from tests.unit.logs.alert_rules.test_rules import acl, config, deleted, of_broker, removed, scram, topic

from kafkawire.logs import (
    ALERT_RULES,
    AlertFinder,
    AlertSeverity,
    OptionError,
    ReadOptions,
    read_alert_rules,
    read_alerts,
    read_changes,
    read_table,
    table_named,
)
from kafkawire.model.acls.bindings import AclOperation, AclPermissionType
from kafkawire.wire import Message

HISTORIES = ("acl_history", "config_history", "scram_history", "topic_history")


def file(folder: Path, when: str, history: str = "config_history", rule_id: str = "own") -> Path:
    """A file with one rule; ``when`` has the lines of its conditions."""
    path = folder / f"{rule_id}.toml"
    path.write_text(
        f'[[rules]]\nid = "{rule_id}"\ntitle = "A title."\nseverity = "medium"\nhistory = "{history}"\n'
        f'remedy = "look"\n[rules.when]\n{when}\n',
        "utf-8",
    )
    return path


def log_of(folder: Path, *records: Message) -> Path:
    write_segment(folder / METADATA_LOG, 0, [Step(1000 * at, (each,)) for at, each in enumerate(records, 1)])
    return folder


@pytest.mark.parametrize(
    ("history", "when", "records", "messages"),
    [
        (
            "config_history",
            'change = "lowered"\nresource_type = "TOPIC"\nname = "min.insync.replicas"',
            [
                *(config(value, "min.insync.replicas") for value in ("2", "3", "2", None, "1")),
                *(of_broker(value, "min.insync.replicas") for value in ("3", "1")),
                *(config(value, "segment.bytes") for value in ("3", "1")),
            ],
            ["min.insync.replicas of topic orders: 3 → 2"],
        ),
        (
            "config_history",
            'change = "set"\nname = "min.insync.replicas"\nafter = { below = 2 }',
            [
                config("2", "min.insync.replicas"),
                config("1", "min.insync.replicas"),
                config("x", "min.insync.replicas"),
            ],
            ["min.insync.replicas of topic orders: 2 → 1"],
        ),
        (
            "config_history",
            'before = { above = 5 }\nchange = ["unset", "raised"]',
            [config(value, "max.message.bytes") for value in ("5", "6", "7", None, "9", "8")],
            ["max.message.bytes of topic orders: 6 → 7", "max.message.bytes of topic orders: 7 → not set"],
        ),
        (
            "topic_history",
            'change = "deleted"\nname = { matches = "ord.*" }',
            [topic(name="reorder"), deleted(), topic(), deleted()],
            ["topic orders was deleted"],
        ),
        ("topic_history", 'change = "created"', [topic()], ["topic orders was created"]),
        (
            "acl_history",
            'change = "added"\noperation = ["ALL", "WRITE"]\nprincipal = { none_of = ["User:ann"] }',
            [acl(operation=AclOperation.ALL), acl("User:bob", number=2), acl("User:bob", AclOperation.WRITE, number=3)],
            ["added: User:bob may WRITE topic orders"],
        ),
        (
            "acl_history",
            'change = "removed"\npermission = "ALLOW"\nhost = "*"\npattern_type = "LITERAL"',
            [acl(), acl(permission=AclPermissionType.DENY, number=2), removed(), removed(2)],
            ["removed: User:ann may READ topic orders"],
        ),
        (
            "scram_history",
            'change = "set"\nmechanism = "SCRAM_SHA_256"\nafter = { below = 8192 }',
            [scram(4096), scram(4097), scram(8192)],
            ["SCRAM-SHA-256 of user ann: 4096 → 4097 iterations"],
        ),
    ],
)
def test_conditions_choose_changes(
    history: str, when: str, records: list[Message], messages: list[str], tmp_path: Path
) -> None:
    rules = read_alert_rules(file(tmp_path, when, history))
    found = read_alerts(log_of(tmp_path, *records), rules=rules)
    assert [each.message for each in found] == messages
    assert {(each.rule, each.severity) for each in found} == {("own", AlertSeverity.MEDIUM)}


def test_the_value_of_a_sensitive_config_is_in_no_message_and_in_no_condition(tmp_path: Path) -> None:
    log = log_of(tmp_path, *(of_broker(value, "ssl.key.password") for value in ("12", "11")))
    rules = [
        *read_alert_rules(file(tmp_path, 'name = "ssl.key.password"', rule_id="named")),
        *read_alert_rules(file(tmp_path, "after = { below = 12 }", rule_id="seen")),
    ]
    assert [(each.rule, each.message) for each in read_alerts(log, rules=rules)] == [
        ("named", "ssl.key.password of all brokers: not set → [hidden]"),
        ("named", "ssl.key.password of all brokers: [hidden] → [hidden]"),
    ]


def test_the_table_its_changes_and_rows_of_histories_have_the_same_alerts(tmp_path: Path) -> None:
    log = log_of(tmp_path, topic(), config("5"), acl("User:*"), deleted())
    rules = read_alert_rules(file(tmp_path, 'change = "deleted"', "topic_history"))
    options = ReadOptions(alert_rules=pickle.loads(pickle.dumps(rules)))  # noqa: S301 as workers of Spark get them
    everything = [*ALERT_RULES.values(), *rules]
    expected = [(each.rule, each.message) for each in read_alerts(log, rules=everything)]
    assert [rule for rule, _ in expected].count("own") == 1 < len(expected)
    read = [row for batch in read_table("alerts", log, options) for row in batch.to_pylist()]
    assert [(row["rule"], row["message"]) for row in read] == expected
    changes = read_changes("alerts", log, tmp_path / "state", options)
    assert [(row["rule"], row["message"]) for batch in changes for row in batch.to_pylist()] == expected
    histories = {
        name: [row for batch in read_table(name, log, ReadOptions()) for row in batch.to_pylist()] for name in HISTORIES
    }
    assert [(each.rule, each.message) for each in AlertFinder(everything).find_in_rows(histories)] == expected


@pytest.mark.parametrize(
    ("when", "history", "rule_id", "reason"),
    [
        ('chnage = "set"', "config_history", "own", r"rule own: there is no fact 'chnage'; did you mean change\?"),
        ('change = "sat"', "config_history", "own", r"rule own: there is no change 'sat'; did you mean set"),
        ('operation = ["READ", "REED"]', "acl_history", "own", r"no operation 'REED'; did you mean READ\?"),
        ('permission = { none_of = ["NO"] }', "acl_history", "own", "no permission 'NO'; there are UNKNOWN"),
        ('name = "t"', "topics", "own", r"no history 'topics'; did you mean topic_history\?"),
        ("name = { matches = '(' }", "topic_history", "own", r"rule own, name: '\(' is no expression"),
        ("name = {}", "topic_history", "own", "rule own, name: give one_of, none_of, matches, below or above"),
        ("name = { like = 'a' }", "topic_history", "own", "unknown field `like`"),
        ("name = 3", "topic_history", "own", "got `int`"),
        ("", "topic_history", "own", "rule own: give a condition in when"),
        ('name = "t"', "topic_history", "Own rule", "id 'Own rule': give small letters"),
        ('name = "t"', "topic_history", "deny-removed", "id 'deny-removed' is that of another rule"),
        ("name = ", "topic_history", "own", "Invalid value"),
    ],
)
def test_what_is_no_rule_is_refused_with_the_reason(
    when: str, history: str, rule_id: str, reason: str, tmp_path: Path
) -> None:
    path = file(tmp_path, when, history, rule_id)
    with pytest.raises(OptionError, match=reason) as refused:
        read_alert_rules(path)
    assert str(refused.value).startswith(f"option 'alert_rules': {path}: ")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"gone\.toml: No such file"):
        read_alert_rules(tmp_path / "gone.toml")


def test_rules_are_for_the_table_of_alerts_alone(tmp_path: Path) -> None:
    rules = read_alert_rules(file(tmp_path, 'name = "t"', "topic_history"))
    with pytest.raises(OptionError, match="it is for table 'alerts', not for 'records'"):
        table_named("records", ReadOptions(alert_rules=rules))
