"""``kafkawire diff``: clusters and logs against each other, in every form, with what could not be compared."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedded.filled_state import BILLING, PROPERTIES, fill

from kafkawire.admin import BlockingAdminClient, ConfigChange, ConfigResource, NewPartitions
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

REAL_LOG = Path("tests/fixtures/kafka-4.3.1/logs").resolve()


@pytest.fixture(autouse=True)
def _no_contexts(config_file: Path) -> None:
    assert not config_file.exists()


@pytest.fixture(scope="module")
def before() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        fill(admin)
        yield broker


@pytest.fixture(scope="module")
def after() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES) as broker, BlockingAdminClient(broker.bootstrap_servers) as admin:
        fill(admin)
        admin.create_partitions({"orders": NewPartitions(4)}).all()
        orders = ConfigResource.topic("orders")
        admin.incremental_alter_configs({orders: [ConfigChange.delete("retention.ms")]}).all()
        admin.delete_topics(["payments"]).all()
        admin.delete_acls([BILLING[0].to_filter()]).all()
        yield broker


@pytest.fixture(scope="module")
def without_authorizer() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(topics=["orders"]) as broker:
        yield broker


ROWS: list[dict[str, str | None]] = [
    {"kind": "topics", "item": "orders", "change": "changed", "name": "partitions", "left": "3", "right": "4"},
    {
        "kind": "topics",
        "item": "orders",
        "change": "changed",
        "name": "retention.ms",
        "left": "604800000",
        "right": None,
    },
    {"kind": "topics", "item": "payments", "change": "removed", "name": "partitions", "left": "1", "right": None},
    {
        "kind": "topics",
        "item": "payments",
        "change": "removed",
        "name": "replication_factor",
        "left": "1",
        "right": None,
    },
    {
        "kind": "acls",
        "item": "User:billing may READ topic orders",
        "change": "removed",
        "name": None,
        "left": None,
        "right": None,
    },
]


def test_rows_of_two_clusters(
    before: ThreadedBroker, after: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", before.bootstrap_servers, after.bootstrap_servers, "-o", "json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == ROWS
    main(["diff", before.bootstrap_servers, after.bootstrap_servers, "-o", "csv"])
    assert [row["item"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == [
        row["item"] for row in ROWS
    ]
    main(["diff", before.bootstrap_servers, after.bootstrap_servers, "-o", "name"])
    assert capsys.readouterr().out == "orders\npayments\nUser:billing may READ topic orders\n"


def test_the_text_for_people(before: ThreadedBroker, after: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    left, right = before.bootstrap_servers, after.bootstrap_servers
    assert main(["diff", left, "-b", right]) == ExitCode.DONE
    assert capsys.readouterr() == (
        f"""\
--- {left}
+++ {right}

Topics
  ~ orders
      partitions: 3 → 4
      retention.ms: 604800000 → not set
  - payments
      partitions: 1
      replication_factor: 1

ACLs
  - User:billing may READ topic orders

What the ACLs mean, from the left side to the right one
  User:billing can no longer READ topic orders

0 added, 2 removed, 1 changed
""",
        "",
    )


def test_equal_sides(before: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    servers = before.bootstrap_servers
    assert main(["diff", servers, servers, "--exit-code"]) == ExitCode.DONE
    assert capsys.readouterr() == ("", "no differences\n")


def test_the_exit_code_says_that_sides_differ_on_request(before: ThreadedBroker, after: ThreadedBroker) -> None:
    words = ["diff", before.bootstrap_servers, after.bootstrap_servers]
    assert main(words) == 0
    assert main([*words, "--exit-code"]) == ExitCode.CHANGES
    assert main([*words, "--exit-code", "--only", "quotas,users"]) == 0


def test_a_part_is_compared(before: ThreadedBroker, after: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", before.bootstrap_servers, after.bootstrap_servers, "-o", "name"]
    main([*words, "--only", "topics", "--topic-prefix", "pay"])
    assert capsys.readouterr().out == "payments\n"
    main([*words, "--only", "acls", "--principal", "User:nobody"])
    assert capsys.readouterr() == ("", "")


def test_a_cluster_and_its_own_log_are_equal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (
        ThreadedBroker(PROPERTIES, data_dir=tmp_path) as broker,
        BlockingAdminClient(broker.bootstrap_servers) as admin,
    ):
        fill(admin)
        words = ["diff", f"log:{tmp_path}", broker.bootstrap_servers, "--internal", "--assignments"]
        assert main(words) == 0
    assert capsys.readouterr() == ("", "no differences\n")


def test_the_dates_of_a_log_may_be_options(capsys: pytest.CaptureFixture[str]) -> None:
    first, last = "2026-11-21T08:36:37", "2026-11-21T08:37:23.700"
    for sides, words in (
        ([f"log:{REAL_LOG}@{first}", f"log:{REAL_LOG}@{last}"], ["--from", first, "--to", last]),
        ([f"log:{REAL_LOG}@{first}", f"log:{REAL_LOG}"], ["--from", first]),
    ):
        assert main(["diff", *sides, "--exit-code"]) == ExitCode.CHANGES
        expected = capsys.readouterr()
        assert main(["diff", "--log", str(REAL_LOG), *words, "--exit-code"]) == ExitCode.CHANGES
        assert capsys.readouterr() == expected
    assert main(["diff", "--log", str(REAL_LOG), "--from", first, "--to", first, "--exit-code"]) == ExitCode.DONE
    assert capsys.readouterr().err == "no differences\n"


def test_a_log_at_two_dates(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["diff", f"log:{REAL_LOG}@2026-11-21T08:36:37", f"log:{REAL_LOG}", "--exit-code", "-o", "json"]
    exit_code = main(words)
    said = capsys.readouterr()
    assert exit_code == ExitCode.CHANGES, said.err
    assert {row["kind"] for row in json.loads(said.out)} <= {"topics", "configs", "acls", "quotas", "users"}


def test_what_cannot_be_read_of_one_side_is_not_compared(
    before: ThreadedBroker, without_authorizer: ThreadedBroker, capsys: pytest.CaptureFixture[str]
) -> None:
    left, right = before.bootstrap_servers, without_authorizer.bootstrap_servers
    assert main(["diff", left, right, "--only", "acls", "--exit-code"]) == ExitCode.DONE
    assert capsys.readouterr().err == (
        f"kafkawire: not read of {right}: ACLs: No Authorizer is configured on the broker\nno differences\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nothing", "127.0.0.1:1"], "'nothing' is neither a file nor a context"),
        (["127.0.0.1:1", "127.0.0.1:1", "--only", "topic"], "--only: there is no kind 'topic'; did you mean topics?"),
        (["127.0.0.1:1", "--principal", "alice", "-b", "127.0.0.1:1"], "write its type too: User:alice"),
        (["127.0.0.1:1", "127.0.0.1:2", "-b", "127.0.0.1:3"], "the options name a cluster"),
        (["127.0.0.1:1"], "no cluster is named; give --bootstrap-server"),
        ([f"log:{REAL_LOG}/nothing", "127.0.0.1:1"], "there is no such folder or file"),
        ([f"log:{REAL_LOG}@2001-01-01", "127.0.0.1:1"], "the state at 2001-01-01T00:00:00+00:00 is unknown"),
        (["context:nothing", "127.0.0.1:1"], "there is no context 'nothing'"),
        ([], "there is nothing to compare"),
        (["--log", str(REAL_LOG)], "--log needs the date to begin with; give --from"),
        (["--from", "2026-11-21"], "--from and --to are dates of --log; give it too"),
        (["--log", str(REAL_LOG), "--from", "yesterday"], "'yesterday' is not a time"),
        (["--log", str(REAL_LOG), "--from", "2001-01-01"], "the state at 2001-01-01T00:00:00+00:00 is unknown"),
        (["--log", str(REAL_LOG), "--from", "2026-11-22", "--to", "2026-11-21"], "--to is before --from"),
        (["a.yaml", "--log", str(REAL_LOG), "--from", "2026-11-22"], "leave out LEFT and RIGHT"),
        (["--log", str(REAL_LOG), "--from", "2026-11-22", "-b", "127.0.0.1:1"], "leave out the options that name"),
    ],
)
def test_wrong_words(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *words]) == ExitCode.USAGE
    said = capsys.readouterr()
    assert message in said.err
    assert said.out == ""
    assert "Traceback" not in said.err


def test_a_cluster_that_does_not_answer_is_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "127.0.0.1:1", "127.0.0.1:1", "--timeout", "0.2"]) == ExitCode.FAILED
    assert "timed out" in capsys.readouterr().err


def test_kinds_that_documents_do_not_have_are_compared_on_request(
    before: ThreadedBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = tmp_path / "topics.yaml"
    declared.write_text("topics:\n  orders:\n    partitions: 5\n  payments: {}\n")
    assert main(["diff", str(declared), before.bootstrap_servers, "-o", "jsonl"]) == ExitCode.DONE
    said = capsys.readouterr()
    rows = [json.loads(line) for line in said.out.splitlines()]
    assert {(row["kind"], row["item"], row["change"]) for row in rows} == {
        ("topics", "orders", "changed"),
        ("topics", "orders-dead", "added"),
    }
    assert said.err == (
        f"kafkawire: {declared} declares no configs, acls, quotas, users, which are not compared; "
        "--only chooses kinds\n"
    )
    main(["diff", before.bootstrap_servers, str(declared), "--only", "acls,users", "-o", "name"])
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == len(BILLING) + 2
    assert said.err == ""


def test_two_documents_need_no_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, partitions in {"a": 1, "b": 2}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "topics.yaml").write_text(f"topics:\n  orders:\n    partitions: {partitions}\n")
    assert main(["diff", str(tmp_path / "a"), str(tmp_path / "b"), "-o", "csv"]) == ExitCode.DONE
    assert list(csv.DictReader(io.StringIO(capsys.readouterr().out))) == [
        {"kind": "topics", "item": "orders", "change": "changed", "name": "partitions", "left": "1", "right": "2"}
    ]


def test_a_context_and_standard_input_are_sides(
    before: ThreadedBroker,
    config_file: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config_file.parent.mkdir(parents=True)
    config_file.write_text(f'[contexts.prod]\nbootstrap_servers = "{before.bootstrap_servers}"\n')
    out = tmp_path / "cluster.yaml"
    assert main(["export", "--context", "prod", "--out", str(out)]) == ExitCode.DONE
    for right in ("prod", "context:prod"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(out.read_bytes())))
        assert main(["diff", "-", right, "--exit-code"]) == ExitCode.DONE
    assert capsys.readouterr().err == "no differences\n" * 2


def test_no_secret_of_a_document_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = tmp_path / "secret"
    secret.write_text("dont-tell")
    declared = tmp_path / "users.yaml"
    password = f"{{password: {{file: {secret}}}, iterations: 8192}}"
    declared.write_text(f"users:\n  etl:\n    SCRAM-SHA-512: {password}\n")
    (tmp_path / "none.yaml").write_text("users: {}\n")
    assert main(["diff", str(tmp_path / "none.yaml"), str(declared), "-o", "json"]) == ExitCode.DONE
    said = capsys.readouterr()
    assert [(row["name"], row["right"]) for row in json.loads(said.out)] == [("iterations", "8192")]
    assert "dont-tell" not in said.out + said.err


def test_mistakes_in_documents_have_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    declared = tmp_path / "topics.yaml"
    declared.write_text("topics:\n  orders:\n    partitions: many\n")
    assert main(["diff", str(declared), str(declared)]) == ExitCode.FAILED
    assert f"{declared}:3:17" in capsys.readouterr().err


def test_a_config_that_must_not_be_set_is_no_difference_where_it_is_not_set(
    without_authorizer: ThreadedBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "state.yaml"
    file.write_text(
        "topics:\n  orders: {configs: {retention.ms: null, own.name: null}}\n"
        "configs:\n  groups:\n    g: {share.session.timeout.ms: null}\n"
        "  brokers:\n    default: {min.insync.replicas: 1, own.secret: null, log.cleaner.threads: null}\n"
    )
    words = ["diff", str(file), without_authorizer.bootstrap_servers, "--only", "topics,configs", "-o", "jsonl"]
    assert main(words) == ExitCode.DONE
    assert capsys.readouterr().out == ""
