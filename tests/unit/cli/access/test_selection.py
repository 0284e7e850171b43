"""Which cluster a command works on, and what its messages say of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.access.client_of import ClusterAccess
from kafkawire.cli.access.selection import CONTEXT_VARIABLE, SERVER_VARIABLE, NamedCluster, select
from kafkawire.cli.app import main
from kafkawire.cli.outcome import CommandError, ExitCode

CONFIG = """\
current = "mine"
[contexts.mine]
bootstrap_servers = "mine:1"
[contexts.other]
bootstrap_servers = "other:1"
timeout = 7
"""


@pytest.fixture
def contexts(config_file: Path) -> Path:
    config_file.parent.mkdir(parents=True)
    config_file.write_text(CONFIG)
    return config_file


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with ThreadedBroker() as broker:
        yield broker.bootstrap_servers


def nodes_of(named: NamedCluster) -> object:
    return ClusterAccess(select(named)).client_arguments().bootstrap_servers


@pytest.mark.usefixtures("contexts")
def test_the_order_is_options_context_environment_current(monkeypatch: pytest.MonkeyPatch) -> None:
    assert nodes_of(NamedCluster()) == "mine:1"
    monkeypatch.setenv(SERVER_VARIABLE, "variable:1")
    assert nodes_of(NamedCluster()) == "variable:1"
    monkeypatch.setenv(CONTEXT_VARIABLE, "other")
    assert nodes_of(NamedCluster()) == "other:1"
    assert nodes_of(NamedCluster(context="mine")) == "mine:1"
    assert nodes_of(NamedCluster(bootstrap_server="option:1")) == "option:1"
    assert nodes_of(NamedCluster(bootstrap_server="option:1", context="mine")) == "option:1"


def test_options_that_name_the_cluster_need_no_file(contexts: Path) -> None:
    contexts.write_text("[")
    assert nodes_of(NamedCluster(bootstrap_server="option:1")) == "option:1"


def test_controllers_of_a_context(contexts: Path) -> None:
    contexts.write_text("[contexts.quorum]\nbootstrap_controllers = 'c:1'\n")
    given = ClusterAccess(select(NamedCluster(context="quorum"))).client_arguments()
    assert (given.bootstrap_servers, given.bootstrap_controllers) == (None, "c:1")


@pytest.mark.usefixtures("contexts")
def test_a_context_and_a_properties_file_contradict() -> None:
    with pytest.raises(CommandError, match="both name properties"):
        select(NamedCluster(context="mine", command_config="x.properties"))


def test_servers_and_controllers_contradict() -> None:
    with pytest.raises(CommandError, match="give one of them"):
        select(NamedCluster(bootstrap_server="a:1", bootstrap_controller="b:1"))


@pytest.mark.usefixtures("config_file")
def test_nothing_names_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "list"]) == ExitCode.USAGE
    message = capsys.readouterr().err
    assert all(said in message for said in ("--bootstrap-server", "--context", "kafkawire context set NAME"))


@pytest.mark.parametrize(
    ("properties", "given", "seconds"),
    [("", None, 30.0), ("default.api.timeout.ms=45000", None, 45.0), ("default.api.timeout.ms=45000", 3.0, 3.0)],
)
def test_the_timeout_is_that_of_the_option_or_the_properties_or_30_seconds(
    properties: str, given: float | None, seconds: float, tmp_path: Path
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(f"bootstrap.servers=a:1\n{properties}\n")
    access = ClusterAccess(select(NamedCluster(command_config=str(file))), given)
    settings = access.client_arguments().settings
    assert settings is not None
    assert (access.timeout, settings.call_timeout) == (seconds, seconds)
    assert settings.request_timeout == min(30, seconds)


@pytest.mark.usefixtures("contexts")
def test_the_timeout_of_a_context() -> None:
    assert ClusterAccess(select(NamedCluster(context="other"))).timeout == 7
    assert ClusterAccess(select(NamedCluster(context="other")), 2.0).timeout == 2


def test_paths_of_a_context_begin_at_its_file(contexts: Path) -> None:
    contexts.write_text(
        "[contexts.a]\nproperties_file = 'a.properties'\n[contexts.a.properties]\n'security.protocol' = 'SSL'\n"
        "'ssl.truststore.type' = 'PEM'\n'ssl.truststore.location' = 'ca.pem'\n"
    )
    (contexts.parent / "a.properties").write_text("bootstrap.servers=a:1\nclient.id=nightly\n")
    given = ClusterAccess(select(NamedCluster(context="a"))).client_arguments()
    assert given.settings is not None
    assert (given.bootstrap_servers, given.settings.client_id) == ("a:1", "nightly")
    assert given.tls is not None
    assert getattr(given.tls, "ca", None) == str(contexts.parent / "ca.pem")


def test_errors_say_which_context_was_used(contexts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contexts.write_text("current = 'mine'\n[contexts.mine]\nbootstrap_servers = 'no-such-host.invalid:1'\n")
    assert main(["topics", "list", "--timeout", "1"]) == ExitCode.FAILED
    assert "the current context mine" in capsys.readouterr().err
    assert main(["topics", "list", "-b", "no-such-host.invalid:1", "--timeout", "1"]) == ExitCode.FAILED
    assert "context" not in capsys.readouterr().err


def test_a_refused_connection_says_how_long_it_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "list", "-b", "localhost:1", "--timeout", "0.5"]) == ExitCode.FAILED
    first, *_ = capsys.readouterr().err.splitlines()
    assert first.startswith("kafkawire: localhost:1: ")
    assert first.endswith("connection refused; the client tries again until the timeout of the call, 0.5 s")


@pytest.mark.usefixtures("contexts")
def test_a_command_runs_with_the_current_context(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "set", "real", "-b", servers, "--use"]) == ExitCode.DONE
    capsys.readouterr()
    assert main(["cluster", "nodes", "-o", "json"]) == ExitCode.DONE
    [node] = json.loads(capsys.readouterr().out)
    assert f"{node['host']}:{node['port']}" == servers


def test_verbose_traces_requests_on_standard_error(servers: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topics", "list", "-b", servers, "--verbose", "-o", "name"]) == ExitCode.DONE
    printed = capsys.readouterr()
    assert printed.out == ""
    versions, *_, last = printed.err.splitlines()
    assert versions.startswith("> ApiVersions v")
    assert last.startswith("> Metadata v")
    assert f" {servers}" in last
    assert " bytes sent, " in last
    assert last.endswith(" ms")
