"""``kafkawire acls`` at real brokers with Kafka's own authorizer: what it says is what clients may do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apache_kafka.eventually import eventually
from tests.apache_kafka.fixtures import SecureBrokers
from tests.apache_kafka.releases import broker_releases, is_at_least
from tests.apache_kafka.secure_broker import PASSWORDS, USER, SecureBroker
from tests.made.operator_command import Command

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    BlockingAdminClient,
    NewTopic,
    PlainCredentials,
    ResourceType,
)
from kafkawire.cli.outcome import ExitCode

pytestmark = [pytest.mark.interop, pytest.mark.extended]

PRINCIPAL = f"User:{USER}"


@pytest.fixture(params=broker_releases())
def broker(request: pytest.FixtureRequest, secure_kafka_brokers: SecureBrokers) -> SecureBroker:
    return secure_kafka_brokers(request.param)


@pytest.fixture
def admin(broker: SecureBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.broker.address) as client:
        yield client
        client.delete_acls([AclBindingFilter(principal=PRINCIPAL)]).all()
        client.delete_topics(["interop-acls-commands"])


@pytest.fixture
def acls(broker: SecureBroker, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command("acls", broker.broker.address, capsys)


def listed(acls: Command, count: int) -> list[dict[str, str]]:
    """The ACLs of the user, as soon as there is the given number: brokers apply changes a moment later."""
    return eventually(lambda: acls.rows("list", "--principal", PRINCIPAL), lambda rows: len(rows) == count)


def test_acls_are_created_explained_and_deleted(
    acls: Command, admin: BlockingAdminClient, broker: SecureBroker, tmp_path: Path
) -> None:
    name = "interop-acls-commands"
    admin.create_topics([NewTopic(name)]).all()
    options = ("--topic", "interop-acls-", "--prefix", "--principal", PRINCIPAL)
    created = acls.statuses("create", *options, "--operation", "read", "--operation", "alter")
    assert set(created.values()) == {"done"}
    assert f"{PRINCIPAL} may READ, ALTER and DESCRIBE topics with prefix interop-acls- for the first time" in acls.err
    rows = listed(acls, 2)
    (right,) = [row for row in acls.rows("who-can", "read", f"topic:{name}") if row["principal"] == PRINCIPAL]
    assert right["acl"] == f"{PRINCIPAL} may READ topics with prefix interop-acls-"
    assert "the brokers do not show super.users" in acls.err

    address = f"127.0.0.1:{broker.sasl_plaintext_port}"
    with BlockingAdminClient(address, credentials=PlainCredentials(USER, PASSWORDS[USER])) as user:
        described = user.describe_topics([name], include_authorized_operations=True)[name]
    assert described.authorized_operations is not None
    for operation in ("READ", "WRITE", "ALTER", "DESCRIBE", "DELETE", "ALTER_CONFIGS"):
        is_allowed = AclOperation.parse(operation) in described.authorized_operations
        (row,) = acls.rows(
            "may", PRINCIPAL, operation, f"topic:{name}", code=ExitCode.DONE if is_allowed else ExitCode.FAILED
        )
        assert row["allowed"] is is_allowed

    file = tmp_path / "acls.jsonl"
    file.write_text(acls.text("list", "--principal", PRINCIPAL, "-o", "jsonl"), "utf-8")
    assert set(acls.statuses("delete", "--from", f"{file}", "--dry-run").values()) == {"would be done"}
    assert set(acls.statuses("delete", "--from", f"{file}", "--yes").values()) == {"done"}
    assert f"{PRINCIPAL} can no longer READ" in acls.err
    listed(acls, 0)
    acls.statuses("create", "--from", f"{file}")
    assert listed(acls, 2) == rows


@pytest.mark.usefixtures("admin")
def test_a_review_and_a_minimal_set(acls: Command, tmp_path: Path) -> None:
    acls.statuses("create", "--producer", "--topic", "interop-none", "--principal", PRINCIPAL)
    listed(acls, 3)
    found = {row["operation"]: row["finding"] for row in acls.rows("review") if row["principal"] == PRINCIPAL}
    assert "detached" in found.values()
    unneeded = tmp_path / "unneeded.jsonl"
    unneeded.write_text(acls.text("minimise", "-o", "jsonl"), "utf-8")
    assert "which is proven" in acls.err
    acls.rows("delete", "--from", f"{unneeded}", "--yes")
    assert "no decision changes" in acls.err
    assert {row["operation"] for row in listed(acls, 2)} == {"WRITE", "CREATE"}


def test_a_range_of_addresses_is_decided_as_the_brokers_do(
    admin: BlockingAdminClient, broker: SecureBroker, acls: Command
) -> None:
    of_range = AclBinding(ResourceType.TOPIC, "interop-acls-range", PRINCIPAL, AclOperation.READ, host="10.0.0.0/8")
    admin.create_acls([of_range], allow_without_effect=True).all()
    has_ranges = is_at_least(broker.broker.release, "4.4")
    question = ("READ", "topic:interop-acls-range")
    code = ExitCode.DONE if has_ranges else ExitCode.FAILED
    (row,) = acls.rows("may", PRINCIPAL, *question, "--host", "10.0.0.5", code=code)
    assert row["allowed"] is has_ranges
    hosts = [row["host"] for row in acls.rows("who-can", *question) if row["principal"] == PRINCIPAL]
    assert hosts == (["10.0.0.0/8"] if has_ranges else [])
