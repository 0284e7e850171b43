"""``kafkawire plan`` and ``apply`` as a whole: texts, rows, exit codes, saved plans, protections, interruption."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apache_kafka.eventually import eventually
from tests.embedded.filled_state import PROPERTIES

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    ConfigChange,
    ConfigResource,
)
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.protocol import AlterClientQuotasRequest, IncrementalAlterConfigsRequest
from kafkawire.protocol.errors import ClusterAuthorizationFailedError

DOCUMENT = """
topics:
  orders: {partitions: 6, configs: {retention.ms: 604800000}}
configs:
  brokers:
    default: {log.retention.ms: 86400000}
acls:
  - {principal: "User:billing", topic: orders, operation: read}
quotas:
  - {user: billing, producer_byte_rate: 1048576}
users:
  billing: {SCRAM-SHA-512: {password: {env: BILLING_PASSWORD}}}
"""
WITHOUT_CONFIGS = DOCUMENT.replace("configs:\n  brokers:\n    default: {log.retention.ms: 86400000}\n", "")


@pytest.fixture(autouse=True)
def _surroundings(config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not config_file.exists()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLING_PASSWORD", "s3cret")
    declare(WITHOUT_CONFIGS)


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES) as running:
        yield running


@pytest.fixture
def admin(broker: ThreadedBroker) -> Iterator[BlockingAdminClient]:
    with BlockingAdminClient(broker.bootstrap_servers) as client:
        yield client


def declare(text: str) -> None:
    Path("cluster.yaml").write_text(text)


def run(broker: ThreadedBroker, *words: str) -> int:
    return main([*words, "-b", broker.bootstrap_servers])


def test_a_plan_lists_what_would_be_done_and_what_it_means(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(broker, "plan", "cluster.yaml", "--exit-code") == ExitCode.CHANGES
    output = capsys.readouterr().out
    assert output.startswith("Topics\n  + create orders\n      partitions: 6\n      retention.ms: 604800000\n")
    assert "User:billing may READ and DESCRIBE topic orders for the first time" in output
    assert "user billing: producer_byte_rate no limit → 1048576 (its own)" in output
    assert "4 to create, 0 to change, 0 to delete, 0 impossible, 0 unchanged" in output
    assert "validated by the brokers: 1 topic, 1 quota; simulated: 1 acl, 1 user" in output
    assert "s3cret" not in output
    assert "\x1b" not in output


def test_a_plan_has_rows(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broker, "plan", "cluster.yaml", "-o", "json", "--only", "quotas,acls") == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == [
        {
            "kind": "quotas",
            "item": "user billing",
            "action": "create",
            "changes": [{"name": "producer_byte_rate", "before": None, "after": "1048576"}],
            "reason": None,
            "check": "validated by the brokers",
            "error": None,
            "where": "cluster.yaml:7:5",
        },
        {
            "kind": "acls",
            "item": "User:billing may READ topic orders",
            "action": "create",
            "changes": [],
            "reason": None,
            "check": "simulated",
            "error": None,
            "where": "cluster.yaml:5:5",
        },
    ]


def test_a_plan_has_rows_of_what_it_means(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broker, "plan", "cluster.yaml", "-o", "jsonl", "--show", "access") == ExitCode.DONE
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["change"], row["principal"], row["operation"], row["resource_name"]) for row in rows] == [
        ("gained", "User:billing", "READ", "orders"),
        ("gained", "User:billing", "DESCRIBE", "orders"),
    ]
    assert run(broker, "plan", "cluster.yaml", "-o", "json", "--show", "quotas") == ExitCode.DONE
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["key"], row["user"], row["before"], row["after"]) == ("producer_byte_rate", "billing", None, 1048576)


def test_what_a_plan_means_is_a_text_of_its_own(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broker, "plan", "cluster.yaml", "--show", "access") == ExitCode.DONE
    sentence = "User:billing may READ and DESCRIBE topic orders for the first time"
    assert capsys.readouterr().out == f"What this means for access\n  {sentence}\n\n"


def test_the_plan_after_an_apply_is_empty(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broker, "apply", "cluster.yaml", "--yes") == ExitCode.DONE
    assert capsys.readouterr().out.endswith("4 done\n")
    assert run(broker, "plan", "cluster.yaml", "--exit-code") == ExitCode.DONE
    assert capsys.readouterr().out == "0 to create, 0 to change, 0 to delete, 0 impossible, 4 unchanged\n"
    assert run(broker, "plan", "cluster.yaml", "--unchanged", "-o", "name") == ExitCode.DONE
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_the_plan_after_an_export_is_empty(broker: ThreadedBroker) -> None:
    run(broker, "apply", "cluster.yaml", "--yes")
    assert run(broker, "export", "--out", "exported.yaml") == ExitCode.DONE
    assert run(broker, "plan", "exported.yaml", "--exit-code") == ExitCode.DONE


def test_a_dry_run_changes_nothing(broker: ThreadedBroker, admin: BlockingAdminClient) -> None:
    assert run(broker, "apply", "cluster.yaml", "--dry-run") == ExitCode.DONE
    assert admin.list_topics() == {}


def test_without_a_terminal_it_needs_yes(
    broker: ThreadedBroker, admin: BlockingAdminClient, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(broker, "apply", "cluster.yaml") == ExitCode.USAGE
    assert "there is no terminal to ask on; give --yes, or --dry-run to look" in capsys.readouterr().err
    assert admin.list_topics() == {}


def test_a_failed_item_gives_exit_code_3_and_the_next_apply_does_the_rest(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    with broker.faults.refuse(AlterClientQuotasRequest, error=ClusterAuthorizationFailedError):
        assert run(broker, "apply", "cluster.yaml", "--yes", "-o", "json") == ExitCode.SOME_FAILED
    rows = {row["kind"]: row for row in json.loads(capsys.readouterr().out)}
    assert (rows["quota"]["status"], rows["quota"]["error"]) == ("failed", "CLUSTER_AUTHORIZATION_FAILED")
    assert rows["acl"]["status"] == "done"
    assert run(broker, "apply", "cluster.yaml", "--yes", "-o", "json") == ExitCode.DONE
    assert [row["kind"] for row in json.loads(capsys.readouterr().out)] == ["quota"]


def test_a_secret_that_is_missing_is_noticed_before_anything_is_changed(
    broker: ThreadedBroker,
    admin: BlockingAdminClient,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("BILLING_PASSWORD")
    assert run(broker, "plan", "cluster.yaml") == ExitCode.DONE
    assert run(broker, "apply", "cluster.yaml", "--yes") == ExitCode.FAILED
    assert "the environment variable BILLING_PASSWORD is not set" in capsys.readouterr().err
    assert admin.list_topics() == {}


def test_a_config_that_kafka_does_not_have_is_checked_by_the_brokers(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    declare("topics: {orders: {configs: {retention.mss: 4}}}")
    assert run(broker, "plan", "cluster.yaml") == ExitCode.DONE
    output = capsys.readouterr().out
    assert "retention.mss: 4\n      fails: INVALID_CONFIG: Unknown topic config name: retention.mss" in output
    assert run(broker, "apply", "cluster.yaml", "--yes") == ExitCode.FAILED
    assert "Unknown topic config name" in capsys.readouterr().out


def test_a_config_of_a_plug_in_is_set_and_never_shown(
    broker: ThreadedBroker, admin: BlockingAdminClient, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may be a secret."""
    declare("configs: {brokers: {default: {my.plug.in: tulip}}}")
    assert run(broker, "plan", "cluster.yaml", "--out", "saved.plan") == ExitCode.FAILED
    assert not Path("saved.plan").exists()
    assert run(broker, "apply", "cluster.yaml", "--yes") == ExitCode.DONE
    output = capsys.readouterr().out
    assert "my.plug.in: not set → (hidden)" in output
    assert "tulip" not in output
    resource = ConfigResource.broker_default()
    assert "my.plug.in" in admin.describe_configs([resource])[resource]


def test_a_saved_plan_without_a_secret_is_refused(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broker, "plan", "cluster.yaml", "--out", "saved.plan") == ExitCode.DONE
    saved = json.loads(Path("saved.plan").read_text())
    Path("saved.plan").write_text(json.dumps({**saved, "secrets": []}))
    assert run(broker, "apply", "saved.plan", "--yes") == ExitCode.FAILED
    assert "is not known" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plan", "apply", "diff"])
def test_an_empty_name_is_not_the_current_folder(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert run(broker, command, "") == ExitCode.USAGE
    assert "name" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_reader_that_leaves_keeps_nothing_from_being_done(broker: ThreadedBroker, admin: BlockingAdminClient) -> None:
    declare("topics:" + "".join(f"\n  a-topic-with-a-long-name-{n}: {{partitions: 1}}" for n in range(2000)))
    folder = Path(sys.executable).parent
    commands = "kafkawire plan cluster.yaml --out saved.plan --exit-code", "kafkawire apply cluster.yaml --yes"
    codes = []
    for command in commands:
        script = f"set -o pipefail; PATH={folder}:$PATH; {command} -b {broker.bootstrap_servers} | head -1"
        codes.append(subprocess.run(["bash", "-c", script], capture_output=True, check=False).returncode)
    assert codes == [ExitCode.CHANGES, ExitCode.DONE]
    assert Path("saved.plan").exists()
    assert len(admin.list_topics()) == 2000


def test_a_saved_plan_is_no_document(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(broker, "plan", "cluster.yaml", "--out", "saved.plan") == ExitCode.DONE
    for words in ["plan", "saved.plan"], ["apply", "cluster.yaml", "saved.plan"], ["diff", "saved.plan"]:
        capsys.readouterr()
        assert run(broker, *words) == ExitCode.USAGE
        message = "saved.plan is a saved plan, not a document; carry it out alone with kafkawire apply saved.plan"
        assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plan", "apply"])
def test_documents_that_are_not_there_are_wrong_usage(
    command: str, broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("folder").mkdir()
    assert run(broker, command, "absent.yaml") == ExitCode.USAGE
    assert run(broker, command, "folder") == ExitCode.USAGE
    assert "the folder has no file" in capsys.readouterr().err


def test_passwords_are_set_again_if_asked(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    run(broker, "apply", "cluster.yaml", "--yes")
    capsys.readouterr()
    assert run(broker, "plan", "cluster.yaml", "--set-secrets") == ExitCode.DONE
    assert "  ~ change billing SCRAM-SHA-512\n      password: set again\n" in capsys.readouterr().out
    assert run(broker, "apply", "cluster.yaml", "--set-secrets", "--yes") == ExitCode.DONE


def test_a_saved_plan_is_carried_out_without_secrets_in_it(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(broker, "plan", "cluster.yaml", "--out", "saved.plan") == ExitCode.DONE
    assert "s3cret" not in Path("saved.plan").read_text()
    assert run(broker, "apply", "saved.plan", "--yes") == ExitCode.DONE
    assert run(broker, "plan", "cluster.yaml", "--exit-code") == ExitCode.DONE
    capsys.readouterr()
    assert run(broker, "apply", "saved.plan", "--yes") == ExitCode.DONE
    assert capsys.readouterr().out.endswith("nothing to do\n")


def test_a_saved_plan_is_refused_if_the_cluster_has_drifted(
    broker: ThreadedBroker, admin: BlockingAdminClient, capsys: pytest.CaptureFixture[str]
) -> None:
    run(broker, "plan", "cluster.yaml", "--out", "saved.plan")
    admin.alter_client_quotas([ClientQuotaAlteration(ClientQuotaEntity(user="billing"), {"producer_byte_rate": 7})])
    capsys.readouterr()
    assert run(broker, "apply", "saved.plan", "--yes") == ExitCode.FAILED
    error = capsys.readouterr().err
    assert "  quota user billing\n      producer_byte_rate: planned from not set, now 7\n" in error
    assert "the cluster has changed since the plan was made" in error
    assert admin.list_topics() == {}


def test_a_saved_plan_is_refused_by_another_cluster(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    run(broker, "plan", "cluster.yaml", "--out", "saved.plan")
    with ThreadedBroker(PROPERTIES) as other:
        assert run(other, "apply", "saved.plan", "--yes") == ExitCode.FAILED
    assert "the plan is for the cluster" in capsys.readouterr().err


def test_a_saved_plan_takes_no_options_that_would_change_it(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    run(broker, "plan", "cluster.yaml", "--out", "saved.plan")
    assert run(broker, "apply", "saved.plan", "--only", "acls") == ExitCode.USAGE
    assert "is a saved plan, carried out as it is" in capsys.readouterr().err


def test_a_broken_saved_plan_is_an_error(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    Path("saved.plan").write_text('{"format": "kafkawire plan", "version": 1, "items": 3}')
    assert run(broker, "apply", "saved.plan", "--yes") == ExitCode.FAILED
    assert "saved.plan: not a plan that kafkawire has saved" in capsys.readouterr().err


def test_pruning_deletes_within_its_scope_only(broker: ThreadedBroker, admin: BlockingAdminClient) -> None:
    run(broker, "apply", "cluster.yaml", "--yes")
    declare("topics: {other: {partitions: 1}}")
    assert (
        run(broker, "apply", "cluster.yaml", "--prune", "--prune-principal", "User:billing", "--yes") == ExitCode.DONE
    )
    assert set(admin.list_topics()) == {"orders", "other"}
    assert admin.describe_acls().union() == ()
    assert admin.describe_client_quotas().union() == {}
    assert run(broker, "apply", "cluster.yaml", "--prune", "--prune-prefix", "ord", "--yes") == ExitCode.DONE
    assert set(admin.list_topics()) == {"other"}


def test_the_scope_of_deletions_may_be_in_a_document(broker: ThreadedBroker, admin: BlockingAdminClient) -> None:
    run(broker, "apply", "cluster.yaml", "--yes")
    declare("prune: {kinds: [topics], topic_prefix: [ord]}\ntopics: {other: {partitions: 1}}")
    assert run(broker, "apply", "cluster.yaml", "--yes") == ExitCode.DONE
    assert set(admin.list_topics()) == {"orders", "other"}
    assert run(broker, "apply", "cluster.yaml", "--prune", "--yes") == ExitCode.DONE
    assert set(admin.list_topics()) == {"other"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--prune",), "neither the documents nor options say what may be deleted"),
        (("--prune-prefix", "x"), "a scope of deletions is given without --prune"),
        (("--prune", "--prune-principal", "etl"), "--prune-principal etl: write its type too: User:etl"),
        (("--only", "topcis"), "there is no kind 'topcis'"),
    ],
)
def test_wrong_usage_is_explained(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    assert run(broker, "plan", "cluster.yaml", *words) == ExitCode.USAGE
    assert message in capsys.readouterr().err


def test_the_acls_of_the_caller_are_not_deleted(
    broker: ThreadedBroker, admin: BlockingAdminClient, capsys: pytest.CaptureFixture[str]
) -> None:
    own = AclBinding.of_cluster("User:ops", AclOperation.ALTER)
    other = AclBinding.of_cluster("User:old", AclOperation.ALTER)
    admin.create_acls([own, other]).all()
    declare("topics: {other: {partitions: 1}}")
    words = ("apply", "cluster.yaml", "--prune", "--prune-kind", "acls", "--caller", "User:ops", "--yes")
    assert run(broker, *words) == ExitCode.SOME_FAILED
    assert "User:ops, who calls, has its own rights by it" in capsys.readouterr().out
    assert admin.describe_acls().union() == (own,)


def test_a_saved_plan_is_refused_to_a_caller_who_would_lose_its_own_rights(
    broker: ThreadedBroker, admin: BlockingAdminClient, capsys: pytest.CaptureFixture[str]
) -> None:
    own = AclBinding.of_cluster("User:ops", AclOperation.ALTER)
    admin.create_acls([own]).all()
    declare("topics: {other: {partitions: 1}}")
    prune = ("--prune", "--prune-kind", "acls")
    assert run(broker, "plan", "cluster.yaml", *prune, "--out", "saved.plan") == ExitCode.DONE
    capsys.readouterr()
    assert run(broker, "apply", "saved.plan", "--caller", "User:ops", "--yes") == ExitCode.FAILED
    error = capsys.readouterr().err
    assert "acl User:ops may ALTER the cluster: User:ops, who calls, has its own rights by it" in error
    assert "nothing was done" in error
    assert admin.describe_acls().union() == (own,)
    words = ("--caller", "User:ops", "--super-user", "User:ops", "--yes")
    assert run(broker, "apply", "saved.plan", *words) == ExitCode.DONE


def test_an_authorizer_that_is_missing_makes_acls_impossible(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker() as broker:
        assert run(broker, "apply", "cluster.yaml", "--yes") == ExitCode.SOME_FAILED
    assert "not read: No Authorizer is configured" in capsys.readouterr().out


@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupted_apply_says_what_was_done_and_the_next_one_does_the_rest(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(DOCUMENT)
    run(broker, "plan", "cluster.yaml", "--out", "saved.plan")
    capsys.readouterr()
    command = str(Path(sys.executable).with_name("kafkawire"))
    words = [command, "apply", "saved.plan", "--yes", "-o", "json", "-b", broker.bootstrap_servers]
    with broker.faults.delay(IncrementalAlterConfigsRequest, seconds=60) as delay:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        eventually(lambda: delay.hits or process.poll() is not None, bool)
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=30)
    assert process.returncode == ExitCode.INTERRUPTED
    assert {row["kind"]: row["status"] for row in json.loads(output)} == {
        "topic": "done",
        "config": "unknown",
        "quota": "not tried",
        "user": "not tried",
        "acl": "not tried",
    }
    assert "interrupted; run it again for the rest" in error
    assert run(broker, "apply", "cluster.yaml", "--yes") == ExitCode.DONE
    assert run(broker, "plan", "cluster.yaml", "--exit-code") == ExitCode.DONE


def test_a_config_that_is_not_declared_stays(broker: ThreadedBroker, admin: BlockingAdminClient) -> None:
    run(broker, "apply", "cluster.yaml", "--yes")
    orders = ConfigResource.topic("orders")
    admin.incremental_alter_configs({orders: [ConfigChange.set("segment.ms", "3600000")]}).all()
    assert run(broker, "plan", "cluster.yaml", "--exit-code") == ExitCode.DONE
