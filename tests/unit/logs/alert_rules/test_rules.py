"""Each rule: the changes that it finds, and similar ones that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.kafka_logs.histories import time
from tests.made.logs import METADATA_LOG, Step, write_checkpoint, write_segment

from kafkawire.logs import ALERT_RULES, Alert, AlertSeverity, BeforeKnowledgeError, LogReadError, read_alerts
from kafkawire.model.acls.bindings import AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.protocol import (
    AbortTransactionRecord,
    AccessControlEntryRecord,
    BeginTransactionRecord,
    ConfigRecord,
    EndTransactionRecord,
    RemoveAccessControlEntryRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UserScramCredentialRecord,
)
from kafkawire.wire import Message, Uuid

TOPIC, GROUP, CLUSTER = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLUSTER
ALLOW, DENY = AclPermissionType.ALLOW, AclPermissionType.DENY
ONE, OTHER = Uuid(b"1" * 16), Uuid(b"2" * 16)
_BROKER, _TOPIC_CONFIG = 4, 2


def acl(  # noqa: PLR0917 the fields of the record
    principal: str = "User:ann",
    operation: AclOperation = AclOperation.READ,
    name: str = "orders",
    permission: AclPermissionType = ALLOW,
    host: str = "*",
    resource_type: ResourceType = TOPIC,
    pattern_type: PatternType = PatternType.LITERAL,
    number: int = 1,
) -> AccessControlEntryRecord:
    codes = resource_type.value, name, pattern_type.value, principal, host, operation.value, permission.value
    return AccessControlEntryRecord(Uuid(bytes([number]) * 16), *codes)


def removed(number: int = 1) -> RemoveAccessControlEntryRecord:
    return RemoveAccessControlEntryRecord(Uuid(bytes([number]) * 16))


def topic(topic_id: Uuid = ONE, name: str = "orders") -> TopicRecord:
    return TopicRecord(name, topic_id)


def deleted(topic_id: Uuid = ONE) -> RemoveTopicRecord:
    return RemoveTopicRecord(topic_id)


def config(value: str | None, name: str = "retention.ms", resource: str = "orders") -> ConfigRecord:
    return ConfigRecord(_TOPIC_CONFIG, resource, name, value)


def of_broker(value: str | None, name: str = "log.retention.ms", broker: str = "") -> ConfigRecord:
    return ConfigRecord(_BROKER, broker, name, value)


def scram(iterations: int, salt: bytes = b"s", mechanism: int = 1) -> UserScramCredentialRecord:
    return UserScramCredentialRecord("ann", mechanism, salt, b"stored", b"server", iterations)


def alerts(folder: Path, *records: Message | tuple[Message, ...]) -> list[Alert]:
    """What a log with a batch for each record, or for several together, has; a second lies between them."""
    steps = [
        Step(1000 * number, each if isinstance(each, tuple) else (each,)) for number, each in enumerate(records, 1)
    ]
    write_segment(folder / METADATA_LOG, 0, steps)
    return read_alerts(folder)


@pytest.mark.parametrize(
    ("rule", "records"),
    [
        ("deny-removed", [acl(permission=DENY), removed()]),
        ("everyone-granted", [acl("User:*")]),
        ("every-resource-granted", [acl(name="*")]),
        ("every-resource-granted", [acl(name="*", resource_type=GROUP)]),
        ("cluster-control-granted", [acl(operation=AclOperation.ALTER, resource_type=CLUSTER, name="kafka-cluster")]),
        ("cluster-control-granted", [acl(operation=AclOperation.ALL, resource_type=CLUSTER, name="kafka-cluster")]),
        ("acl-of-deleted-topic", [topic(), acl(), deleted()]),
        ("acl-of-deleted-topic", [acl(), (topic(), deleted())]),
        ("acl-of-deleted-topic", [topic(), acl(permission=DENY), deleted()]),
        ("retention-shortened", [topic(), config("604799999")]),
        ("retention-shortened", [topic(), config("-1"), config("604800000")]),
        ("retention-shortened", [topic(), config("700000000"), config("604800001")]),
        ("retention-shortened", [topic(), config("1000000000", "retention.bytes")]),
        ("retention-shortened", [(topic(), config("9", "local.retention.ms")), config("8", "local.retention.ms")]),
        ("retention-shortened", [of_broker("3600000")]),
        ("retention-shortened", [of_broker("3600000", broker="1")]),
        ("retention-shortened", [of_broker("1", "log.retention.bytes", "1")]),
        ("retention-unset", [(topic(), config("1")), config(None)]),
        ("retention-unset", [of_broker("604800001"), of_broker(None)]),
        ("scram-iterations-lowered", [scram(8192), scram(4096, b"t")]),
    ],
)
def test_what_a_rule_finds(rule: str, records: list[Message], tmp_path: Path) -> None:
    (alert,) = alerts(tmp_path, *records)
    assert alert.rule == rule
    assert alert.severity is ALERT_RULES[rule].severity
    assert alert.time == time(1000 * len(records))


@pytest.mark.parametrize(
    "records",
    [
        [acl(), removed()],
        [acl(permission=DENY), acl(permission=DENY)],
        [acl("User:*", permission=DENY)],
        [acl(name="*", pattern_type=PatternType.PREFIXED)],
        [acl(operation=AclOperation.ALTER, resource_type=CLUSTER, name="kafka-cluster", host="10.0.0.1")],
        [acl(operation=AclOperation.CREATE, resource_type=CLUSTER, name="kafka-cluster")],
        [acl(operation=AclOperation.ALTER, resource_type=GROUP)],
        [topic(), acl(), removed(), deleted()],
        [topic(), acl(pattern_type=PatternType.PREFIXED), deleted()],
        [topic(), acl(resource_type=GROUP), deleted()],
        [topic(), acl(name="payments"), deleted()],
        [(topic(), config("1"))],
        [topic(), config("604800000")],
        [topic(), config("-1")],
        [topic(), config("-1", "retention.bytes")],
        [topic(), config("many")],
        [topic(), config("5", "segment.ms")],
        [(topic(), config("9", "local.retention.ms")), config("-2", "local.retention.ms")],
        [(topic(), config("-2", "local.retention.ms")), config("5", "local.retention.ms")],
        [(topic(), config("1")), deleted()],
        [(topic(), config("1")), deleted(), (topic(OTHER), config("1"))],
        [of_broker("604800001", "log.segment.bytes")],
        [scram(4096), scram(8192)],
        [scram(8192), scram(8192, b"t")],
        [scram(8192), scram(4096, mechanism=2)],
        [scram(8192), RemoveUserScramCredentialRecord("ann", 1), scram(4096)],
        [removed()],
        [deleted()],
    ],
)
def test_what_no_rule_finds(records: list[Message], tmp_path: Path) -> None:
    assert alerts(tmp_path, *records) == []


def test_each_rule_is_tried_and_says_what_to_do() -> None:
    assert list(ALERT_RULES) == [rule.id for rule in ALERT_RULES.values()]
    for rule in ALERT_RULES.values():
        assert rule.title.endswith(".")
        assert rule.remedy
        assert not rule.remedy.endswith(".")


def test_a_wildcard_for_everyone_is_found_by_both_rules(tmp_path: Path) -> None:
    found = alerts(tmp_path, acl("User:*", name="*"))
    assert [(each.rule, each.principal, each.resource_name) for each in found] == [
        ("everyone-granted", "User:*", "*"),
        ("every-resource-granted", "User:*", "*"),
    ]


def test_an_alert_says_what_happened_to_what_and_where(tmp_path: Path) -> None:
    denial = acl(permission=DENY, name="ord", pattern_type=PatternType.PREFIXED, host="10.0.0.7")
    (alert,) = alerts(tmp_path, topic(), denial, (acl(number=2), removed()))
    assert alert == Alert(
        "deny-removed",
        AlertSeverity.HIGH,
        time(3000),
        3,
        "TOPIC",
        "ord",
        "User:ann",
        "removed: User:ann may not READ topics with prefix ord from 10.0.0.7",
    )


def test_a_topic_that_is_created_again_inherits_the_acls_that_were_left(tmp_path: Path) -> None:
    history = (topic(), acl(), acl("User:bob", number=2), deleted(), removed(2), acl("User:cleo", number=3))
    found = alerts(tmp_path, *history, topic(OTHER))
    assert [(each.rule, each.principal) for each in found] == [
        ("acl-of-deleted-topic", "User:ann"),
        ("acl-of-deleted-topic", "User:bob"),
        ("acl-inherited", "User:ann"),
    ]


def test_a_value_of_a_topic_is_compared_with_that_of_all_brokers(tmp_path: Path) -> None:
    found = alerts(tmp_path, of_broker("900000000"), topic(), config("800000000"))
    assert [each.message for each in found] == ["retention.ms of topic orders: 900000000 of all brokers → 800000000"]


def test_the_messages_of_retentions_have_both_values(tmp_path: Path) -> None:
    found = alerts(tmp_path, topic(), config("5"), config("4"), of_broker("3", broker="7"), config(None))
    assert [(each.message, each.resource_type, each.resource_name) for each in found] == [
        ("retention.ms of topic orders: 604800000 by Kafka's default → 5", "TOPIC", "orders"),
        ("retention.ms of topic orders: 5 → 4", "TOPIC", "orders"),
        ("log.retention.ms of broker 7: 604800000 by Kafka's default → 3", "BROKER", "7"),
        ("retention.ms of topic orders: 4 → not set", "TOPIC", "orders"),
    ]


def test_a_transaction_alerts_at_its_end_and_an_aborted_one_does_not(tmp_path: Path) -> None:
    everyone = acl("User:*")
    aborted = (BeginTransactionRecord(), everyone, AbortTransactionRecord())
    (alert,) = alerts(tmp_path, aborted, (BeginTransactionRecord(), everyone), EndTransactionRecord())
    assert (alert.time, alert.log_offset) == (time(3000), 4)


def test_a_snapshot_fills_a_gap_and_what_it_begins_with_is_no_change(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    kept = acl("User:*", number=1), acl(permission=DENY, number=2), topic(), config("800000000")
    write_checkpoint(folder, 10, kept, time=5000)
    end = write_segment(folder, 10, [Step(6000, (acl("User:bob", number=3),))])
    after = acl("User:*", number=1), topic(), config("700000000"), acl("User:*", name="new", number=4)
    write_checkpoint(folder, end + 10, after, time=9000)
    write_segment(folder, end + 10, [Step(9500, (removed(1),))])
    found = [(each.rule, each.time, each.log_offset) for each in read_alerts(folder)]
    assert found == [
        ("deny-removed", time(9000), end + 10),
        ("everyone-granted", time(9000), end + 10),
        ("retention-shortened", time(9000), end + 10),
    ]


def test_ranges_of_time_and_rules_choose_alerts(tmp_path: Path) -> None:
    all_of_them = alerts(tmp_path, acl("User:*"), acl(permission=DENY, number=2), removed(2))
    assert [each.time for each in all_of_them] == [time(1000), time(3000)]
    assert read_alerts(tmp_path, since=time(1001)) == all_of_them[1:]
    assert read_alerts(tmp_path, since=time(1000), until=time(3000)) == all_of_them[:1]
    assert read_alerts(tmp_path, rules=[ALERT_RULES["deny-removed"]]) == all_of_them[1:]


def test_a_time_before_the_log_and_a_damaged_log_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / METADATA_LOG
    write_checkpoint(folder, 10, [topic()], time=5000)
    write_segment(folder, 10, [Step(6000, (acl("User:*"),))])
    with pytest.raises(BeforeKnowledgeError, match="the whole state is known since"):
        read_alerts(folder, since=time(4000))
    (segment,) = folder.glob("*.log")
    content = bytearray(segment.read_bytes())
    content[70] ^= 1
    segment.write_bytes(content)
    with pytest.raises(LogReadError, match="bad_crc"):
        read_alerts(folder)
