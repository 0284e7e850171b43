"""``kafkawire export`` writes what can be read again: one file or one for each kind, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.embedded.filled_state import AUTHORIZER, PROPERTIES, fill

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient, NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode
from kafkawire.declared.comparison import compare_states
from kafkawire.declared.documents.reading import read_documents
from kafkawire.declared.planned import Kind
from kafkawire.declared.reading import read_cluster
from kafkawire.declared.selection import StateSelection
from kafkawire.declared.state import ClusterState


@pytest.fixture(autouse=True)
def _no_contexts(config_file: Path) -> None:
    assert not config_file.exists()


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker(PROPERTIES) as running, BlockingAdminClient(running.bootstrap_servers) as admin:
        fill(admin)
        admin.create_topics([NewTopic("__consumer_offsets", 1, 1)]).all()
        yield running


@pytest.fixture(scope="module")
def state(broker: ThreadedBroker) -> ClusterState:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        return StateSelection().of(admin.run(read_cluster).state)


def declared(*paths: Path) -> ClusterState:
    found = read_documents(paths)
    assert not found.problems
    return found.state


def test_what_is_written_is_read_again(broker: ThreadedBroker, state: ClusterState, tmp_path: Path) -> None:
    out = tmp_path / "cluster.yaml"
    assert main(["export", "-b", broker.bootstrap_servers, "--assignments", "--out", str(out)]) == ExitCode.DONE
    assert declared(out) == state
    assert "__consumer_offsets" not in out.read_text()


def test_a_plan_after_it_is_empty_also_where_everything_else_may_be_deleted(
    broker: ThreadedBroker, tmp_path: Path
) -> None:
    cluster = ["-b", broker.bootstrap_servers]
    assert main(["export", *cluster, "--out", f"{tmp_path}/"]) == ExitCode.DONE
    scope = [word for kind in Kind for word in ("--prune-kind", kind)]
    assert main(["plan", str(tmp_path), *cluster, "--exit-code"]) == ExitCode.DONE
    assert main(["plan", str(tmp_path), *cluster, "--exit-code", "--prune", *scope]) == ExitCode.DONE


def test_replicas_are_not_bound_to_brokers_unless_asked_for(
    broker: ThreadedBroker, state: ClusterState, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["export", "-b", broker.bootstrap_servers])
    out = tmp_path / "cluster.yaml"
    out.write_text(capsys.readouterr().out)
    read = declared(out)
    assert {topic.assignments for topic in read.topics.values()} == {None}
    assert compare_states(state, read) == ()


def test_the_same_state_gives_the_same_text(broker: ThreadedBroker, capsys: pytest.CaptureFixture[str]) -> None:
    texts = set()
    for _ in range(2):
        main(["export", "-b", broker.bootstrap_servers])
        texts.add(capsys.readouterr().out)
    assert len(texts) == 1


def test_a_folder_gets_a_file_for_each_kind(broker: ThreadedBroker, state: ClusterState, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "cluster"
    words = ["export", "-b", broker.bootstrap_servers, "--assignments"]
    assert main([*words, "--out", f"{folder}/"]) == ExitCode.DONE
    assert {file.name for file in folder.iterdir()} == {f"{kind}.yaml" for kind in Kind}
    assert declared(folder) == state
    before = (folder / "acls.yaml").read_bytes()
    assert main([*words, "--only", "topics", "--topic-prefix", "pay", "--out", str(folder)]) == ExitCode.DONE
    assert set(declared(folder / "topics.yaml").topics) == {"payments"}
    assert (folder / "acls.yaml").read_bytes() == before


def test_a_kind_without_items_leaves_no_older_file_behind(tmp_path: Path) -> None:
    old = tmp_path / "topics.yaml"
    old.write_text("topics:\n  gone: {}\n")
    with ThreadedBroker(PROPERTIES) as empty:
        assert main(["export", "-b", empty.bootstrap_servers, "--only", "topics", "--out", str(tmp_path)]) == 0
    assert declared(tmp_path).topics == {}


def test_only_the_selected_part_is_written(
    broker: ThreadedBroker, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    main(["export", "-b", broker.bootstrap_servers, "--only", "users,acls", "--principal", "User:alice"])
    out = tmp_path / "some.yaml"
    out.write_text(capsys.readouterr().out)
    read = declared(out)
    assert {user for user, _ in read.credentials} == {"alice"}
    assert (read.topics, read.acls, read.quotas) == ({}, frozenset(), {})
    assert "Passwords cannot be read back" in out.read_text()


def test_a_cluster_without_authorizer_has_no_acls_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadedBroker(topics=["orders"]) as plain:
        assert main(["export", "-b", plain.bootstrap_servers]) == ExitCode.DONE
    said = capsys.readouterr()
    assert "# Not read: ACLs: No Authorizer is configured on the broker" in said.out
    assert said.err == "kafkawire: not read: ACLs: No Authorizer is configured on the broker\n"


def test_an_export_without_all_rights_says_so_and_is_no_success(capsys: pytest.CaptureFixture[str]) -> None:
    open_until_acls_are_there = {**AUTHORIZER, "allow.everyone.if.no.acl.found": "true"}
    with ThreadedBroker(open_until_acls_are_there, topics=["orders"]) as broker:
        with BlockingAdminClient(broker.bootstrap_servers) as admin:
            admin.create_acls([AclBinding.of_cluster("User:admin", AclOperation.ALL)]).all()
        assert main(["export", "-b", broker.bootstrap_servers]) == ExitCode.SOME_FAILED
        said = capsys.readouterr()
        assert "topics:\n  orders:" in said.out
        assert "# Not read: SCRAM users: to describe users needs the right to DESCRIBE the cluster" in said.out
        assert "Cluster authorization failed" in said.err
        assert main(["export", "-b", broker.bootstrap_servers, "--only", "topics"]) == ExitCode.DONE


def test_a_failure_leaves_the_old_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "cluster.yaml"
    out.write_text("topics: {}\n")
    words = ["export", "-b", "127.0.0.1:1", "--timeout", "0.2", "--out", str(out)]
    assert main(words) == ExitCode.FAILED
    assert "timed out" in capsys.readouterr().err
    assert out.read_text() == "topics: {}\n"
    assert [*tmp_path.iterdir()] == [out]


def test_a_place_that_cannot_be_written_is_named(
    broker: ThreadedBroker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "file" / "cluster.yaml"
    out.parent.touch()
    assert main(["export", "-b", broker.bootstrap_servers, "--out", str(out)]) != ExitCode.DONE
    assert main(["export", "-b", broker.bootstrap_servers, "--out", f"{out.parent}/"]) != ExitCode.DONE
    said = capsys.readouterr().err
    assert str(out.parent) in said
    assert "Traceback" not in said
