"""``plan`` and ``apply`` where resources without ACLs are open to everyone, and what a saved plan says again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedded.filled_state import AUTHORIZER

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient, ResourceType
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

OPEN = {**AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
OF_A_TOPIC = 'acls: [{principal: "User:billing", topic: orders, operation: read}]'
OF_THE_CLUSTER = 'acls: [{principal: "User:billing", cluster: true, operation: describe}]'


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config_file: Path) -> Iterator[ThreadedBroker]:
    assert not config_file.exists()
    monkeypatch.chdir(tmp_path)
    with ThreadedBroker(OPEN) as running:
        yield running


def run(broker: ThreadedBroker, document: str, *words: str) -> int:
    Path("cluster.yaml").write_text(document)
    return main([*words, "-b", broker.bootstrap_servers])


def test_the_first_acl_of_a_topic_closes_it(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("plan", "cluster.yaml", "--allow-everyone-if-no-acl", "--super-user", "User:root")
    assert run(broker, OF_A_TOPIC, *words) == ExitCode.DONE
    output = capsys.readouterr().out
    assert "topic orders: open to everyone without ACLs; after this only to principals whom an ACL allows" in output
    assert "every user except User:billing can no longer READ and DESCRIBE topic orders" in output
    assert "every user can no longer WRITE, CREATE, DELETE, ALTER, DESCRIBE_CONFIGS and ALTER_CONFIGS topic" in output


def test_the_last_acl_of_a_topic_opens_it(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        admin.create_acls([AclBinding(ResourceType.TOPIC, "orders", "User:billing", AclOperation.READ)]).all()
    words = ("plan", "cluster.yaml", "--allow-everyone-if-no-acl", "--prune", "--prune-kind", "acls")
    assert run(broker, "topics: {other: {partitions: 1}}", *words) == ExitCode.DONE
    assert "topic orders: without ACLs after this, and so open to everyone" in capsys.readouterr().out


def test_the_first_acl_of_the_cluster_does_not_lock_its_caller_out(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("apply", "cluster.yaml", "--allow-everyone-if-no-acl", "--yes")
    assert run(broker, OF_THE_CLUSTER, *words) == ExitCode.FAILED
    assert "User:ANONYMOUS, who calls, would lose CREATE, ALTER, ALTER_CONFIGS" in capsys.readouterr().out
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        assert admin.describe_acls().union() == ()


def test_a_saved_plan_says_again_what_it_means(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("plan", "cluster.yaml", "--allow-everyone-if-no-acl", "--super-user", "User:root", "--out", "saved.plan")
    assert run(broker, OF_A_TOPIC, *words) == ExitCode.DONE
    planned = capsys.readouterr().out
    saved = json.loads(Path("saved.plan").read_text())
    assert saved["authority"] == {"super_users": ["User:root"], "allow_everyone_if_no_acl": True, "ranges": True}
    assert run(broker, OF_A_TOPIC, "apply", "saved.plan", "--yes") == ExitCode.DONE
    assert capsys.readouterr().out == planned + "1 done\n"
