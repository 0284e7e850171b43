"""The history of an embedded broker's log has every change that was applied, in order."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from tests.kafka_logs.histories import Row, history, still_open
from tests.made.logs import METADATA_LOG

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from kafkawire.broker import EmbeddedBroker
from kafkawire.logs import ReadOptions

Span: TypeAlias = tuple[datetime, datetime]
"""Just before and just after something."""

PROPERTIES = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
SNAPSHOTS = {**PROPERTIES, "metadata.log.max.record.bytes.between.snapshots": "1000"}


def _now() -> datetime:
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def _acl(row: Row) -> AclBinding:
    return AclBinding(
        ResourceType[row["resource_type"]],
        row["resource_name"],
        row["principal"],
        AclOperation[row["operation"]],
        host=row["host"],
    )


async def _change_acls(
    properties: dict[str, str], folder: Path
) -> tuple[dict[AclBinding, Span], dict[AclBinding, Span]]:
    """Thirty ACLs come one by one over two lives of the broker, and every other one goes, the last first."""
    acls = [AclBinding(ResourceType.TOPIC, f"t{each}", "User:ann", AclOperation.READ) for each in range(30)]
    created: dict[AclBinding, Span] = {}
    deleted: dict[AclBinding, Span] = {}
    for part in (acls[:15], acls[15:]):
        async with (
            EmbeddedBroker(properties, data_dir=folder) as broker,
            AdminClient(broker.bootstrap_servers) as admin,
        ):
            for acl in part:
                before = _now()
                (await admin.create_acls([acl])).all()
                created[acl] = (before, datetime.now(UTC))
            for acl in part[::-2]:
                before = _now()
                (await admin.delete_acls([acl.to_filter()])).all()
                deleted[acl] = (before, datetime.now(UTC))
    return created, deleted


async def test_acls(tmp_path: Path) -> None:
    created, deleted = await _change_acls(PROPERTIES, tmp_path)
    rows = history("acl_history", tmp_path)
    assert [_acl(row) for row in rows if row["valid_to"]] == list(deleted)
    assert [_acl(row) for row in still_open(rows)] == [acl for acl in created if acl not in deleted]
    for row in rows:
        begin, end = created[_acl(row)], deleted.get(_acl(row))
        assert begin[0] <= row["valid_from"] <= begin[1]
        assert end is None if row["valid_to"] is None else end is not None and end[0] <= row["valid_to"] <= end[1]


async def test_acls_when_snapshots_replace_old_segments(tmp_path: Path) -> None:
    """What is known then begins with the oldest snapshot that is left; of what ended before it, only the end is."""
    created, deleted = await _change_acls(SNAPSHOTS, tmp_path)
    assert [*(tmp_path / METADATA_LOG).glob("*-*.checkpoint")]
    rows = history("acl_history", tmp_path)
    assert {_acl(row) for row in still_open(rows)} == created.keys() - deleted.keys()
    assert any(row["added_by_snapshot"] for row in rows)
    for row in rows:
        if row["principal"] is None:
            assert row["valid_from"] is None
            assert row["valid_to"] is not None
            continue
        begin = created[_acl(row)]
        assert row["valid_from"] is None if row["added_by_snapshot"] else begin[0] <= row["valid_from"] <= begin[1]


async def test_everything_else(tmp_path: Path) -> None:
    async with EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        for partitions in (1, 3):
            (await admin.create_topics([NewTopic("orders", partitions, 1, configs={"retention.ms": "1"})])).all()
            if partitions == 1:
                (await admin.delete_topics(["orders"])).all()
        alice = ClientQuotaEntity({"user": "alice", "client-id": None})
        for value in (1.0, 2.0, None):
            (await admin.alter_client_quotas([ClientQuotaAlteration(alice, {"producer_byte_rate": value})])).all()
        unset = [ConfigChange("retention.ms", ConfigOperation.DELETE)]
        (await admin.incremental_alter_configs({ConfigResource.topic("orders"): unset})).all()
    topics = [row for row in history("topic_history", tmp_path) if row["name"] == "orders"]
    assert [(row["partitions"], row["deleted_at"] is None) for row in topics] == [(1, False), (3, True)]
    configs = history("config_history", tmp_path)
    assert [(row["value"], row["valid_to"] is None) for row in configs if row["resource_name"] == "orders"] == [
        ("1", False),
        ("1", False),
        (None, True),
    ]
    quotas = history("quota_history", tmp_path)
    assert [(row["user"], row["client_id"], row["ip"], row["value"]) for row in quotas] == [
        ("alice", "<default>", None, 1.0),
        ("alice", "<default>", None, 2.0),
    ]
    assert quotas[0]["valid_to"] == quotas[1]["valid_from"]


async def test_as_of_between_two_changes(tmp_path: Path) -> None:
    read, write = (AclBinding(ResourceType.TOPIC, "t", f"User:{user}", AclOperation.READ) for user in ("ann", "bob"))
    async with EmbeddedBroker(PROPERTIES, data_dir=tmp_path) as broker, AdminClient(broker.bootstrap_servers) as admin:
        (await admin.create_acls([read])).all()
        between = datetime.now(UTC)
        while _now() <= between:  # the log has milliseconds
            pass
        (await admin.create_acls([write])).all()
    rows = history("acl_history", tmp_path, options=ReadOptions(as_of=between))
    assert [_acl(row) for row in rows] == [read]
