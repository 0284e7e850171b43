"""``kafkawire context``: what it writes, what stays, and what it shows."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path

import pytest

from kafkawire.cli.access.config_file import CONFIG_VARIABLE
from kafkawire.cli.access.selection import CONTEXT_VARIABLE, SERVER_VARIABLE
from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

WRITTEN_BY_HAND = """\
# Clusters of the team.
current = "test"

[contexts.test]   # on this machine
bootstrap_servers = "localhost:9092"

# Ask Erika before you change it.
[contexts.prod]
bootstrap_servers = "broker-1:9093"
production = true

[contexts.prod.properties]
"security.protocol" = "SASL_SSL"
"request.timeout.ms" = 5000
"""


def written(path: Path, text: str = WRITTEN_BY_HAND) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def rows_of(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return rows


def test_a_context_is_made_and_the_first_is_current(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["context", "set", "prod", "-b", "a:1,b:2", "--property", "security.protocol=SASL_SSL", "--production"]
    words += ["--mechanism", "SCRAM-SHA-512", "--username", "alice", "--secret", "password=command:pass show 'a b'"]
    assert main([*words, "--secret", "ssl.key.password=env:KEY"]) == ExitCode.DONE
    assert config_file.read_text() == (
        'current = "prod"\n\n'
        '[contexts.prod]\nbootstrap_servers = "a:1,b:2"\nproduction = true\n\n'
        '[contexts.prod.properties]\n"security.protocol" = "SASL_SSL"\n"ssl.key.password" = {env = "KEY"}\n\n'
        '[contexts.prod.login]\nmechanism = "SCRAM-SHA-512"\nusername = "alice"\n'
        'password = {command = ["pass", "show", "a b"]}\n'
    )
    assert stat.S_IMODE(config_file.stat().st_mode) == 0o600
    assert [*config_file.parent.iterdir()] == [config_file]
    assert "which is the current one" in capsys.readouterr().out


def test_a_change_keeps_comments_and_all_else(config_file: Path) -> None:
    written(config_file)
    assert main(["context", "set", "test", "--timeout", "5", "-b", "localhost:9999"]) == ExitCode.DONE
    expected = WRITTEN_BY_HAND.replace("localhost:9092", "localhost:9999")
    assert config_file.read_text() == expected.replace('9999"\n', '9999"\ntimeout = 5.0\n')


def test_a_setting_stands_before_the_tables_of_its_context(config_file: Path) -> None:
    written(config_file)
    assert main(["context", "set", "prod", "--timeout", "5", "--property", "client.id=x"]) == ExitCode.DONE
    assert config_file.read_text().endswith(
        'production = true\ntimeout = 5.0\n\n[contexts.prod.properties]\n"security.protocol" = "SASL_SSL"\n'
        '"request.timeout.ms" = 5000\n"client.id" = "x"\n'
    )


def test_controllers_take_the_place_of_servers(config_file: Path) -> None:
    written(config_file)
    assert main(["context", "set", "test", "--bootstrap-controller", "localhost:9093"]) == ExitCode.DONE
    assert 'bootstrap_controllers = "localhost:9093"' in config_file.read_text()
    assert "localhost:9092" not in config_file.read_text()


def test_a_link_stays_a_link(config_file: Path, tmp_path: Path) -> None:
    target = written(tmp_path / "dotfiles" / "kafka.toml")
    config_file.parent.mkdir(parents=True)
    config_file.symlink_to(target)
    assert main(["context", "use", "prod"]) == ExitCode.DONE
    assert config_file.is_symlink()
    assert 'current = "prod"' in target.read_text()


def test_use_and_delete(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(config_file)
    assert main(["context", "use", "prod"]) == ExitCode.DONE
    assert capsys.readouterr().out == "the current context is prod (broker-1:9093, production)\n"
    assert main(["context", "current"]) == ExitCode.DONE
    assert capsys.readouterr().out == "prod\n"
    assert main(["context", "delete", "prod"]) == ExitCode.DONE
    assert "no context is current" in capsys.readouterr().out
    text = config_file.read_text()
    assert "prod" not in text
    assert "# Clusters of the team." in text
    assert main(["context", "current"]) == ExitCode.USAGE


def test_use_says_that_the_environment_wins(
    config_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(config_file)
    monkeypatch.setenv(CONTEXT_VARIABLE, "test")
    assert main(["context", "use", "prod"]) == ExitCode.DONE
    assert "KAFKAWIRE_CONTEXT=test wins" in capsys.readouterr().out


def test_current_needs_a_context(
    config_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(config_file)
    monkeypatch.setenv(SERVER_VARIABLE, "localhost:1")
    assert main(["context", "current"]) == ExitCode.FAILED
    assert "KAFKAWIRE_BOOTSTRAP_SERVER names the cluster" in capsys.readouterr().err


def test_the_list_has_all_contexts(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "list"]) == ExitCode.DONE
    assert "kafkawire context set NAME" in capsys.readouterr().err
    written(config_file)
    assert main(["context", "list", "-o", "json"]) == ExitCode.DONE
    prod, test = rows_of(capsys)
    assert (prod["name"], prod["is_current"], prod["production"]) == ("prod", False, True)
    assert (test["name"], test["is_current"], test["nodes"]) == ("test", True, "localhost:9092")


def test_show_hides_secrets_and_says_where_a_setting_is(
    config_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = tmp_path / "client.properties"
    properties.write_text(
        "sasl.mechanism=PLAIN\nclient.id=nightly\nrequest.timeout.ms=1\nssl.truststore.password=hunter2\n"
        "sasl.jaas.config=org.apache.kafka.PlainLoginModule required password=hunter2;\nhunter2==\n"
    )
    written(config_file)
    words = ["context", "set", "prod", "--command-config", str(properties), "--secret", "ssl.key.password=file:/k"]
    assert main(words) == ExitCode.DONE
    capsys.readouterr()
    assert main(["context", "show", "prod", "-o", "json"]) == ExitCode.DONE
    shown = {row["setting"]: (row["value"], row["source"]) for row in rows_of(capsys)}
    assert shown["client.id"] == ("nightly", str(properties))
    assert shown["request.timeout.ms"] == ("5000", str(config_file))
    assert shown["ssl.key.password"] == ("file:/k", str(config_file))
    assert shown["sasl.jaas.config"][0] == shown["ssl.truststore.password"][0] == "(hidden)"
    assert "hunter2" not in json.dumps([value for value, _ in shown.values()])


@pytest.mark.parametrize(
    ("words", "value", "source"),
    [
        ([], "30", "default"),
        (["--timeout", "5"], "5", "{file}"),
        (["--property", "default.api.timeout.ms=7000"], "7", "{file}"),
        (["--command-config", "{properties}"], "9", "{properties}"),
    ],
)
def test_show_says_where_the_timeout_is_set(
    words: list[str], value: str, source: str, config_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    properties = written(config_file.with_suffix(".properties"), "default.api.timeout.ms=9000\n")
    places = {"file": config_file, "properties": properties}
    assert main(["context", "set", "dev", "-b", "a:1", *(each.format(**places) for each in words)]) == ExitCode.DONE
    capsys.readouterr()
    assert main(["context", "show", "dev", "-o", "json"]) == ExitCode.DONE
    shown = {row["setting"]: (row["value"], row["source"]) for row in rows_of(capsys)}
    assert shown["timeout"] == (value, source.format(**places))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["set", "-x", "-b", "a:1"], "there is no option -x"),
        (["set", "a\nb", "-b", "a:1"], "printable"),
        (["set", "a", "-b", ""], "--bootstrap-server is empty; give HOST:PORT"),
        (["set", "a", "-b", "a:1", "--bootstrap-controller", "b:1"], "give one of them"),
        (["set", "a", "--property", "client.id"], "NAME=VALUE"),
        (["set", "a", "--property", "ssl.keystore.password=hunter2"], "every process of this machine can read"),
        (["set", "a", "--secret", "password=hunter2"], "never the secret itself"),
        (["set", "a", "--secret", "password=env:"], "is empty"),
        (
            ["set", "a", "--mechanism", "GSSAPI", "--username", "u", "--secret", "password=env:P"],
            "there is no 'GSSAPI'",
        ),
        (["set", "a", "--mechanism", "PLAIN"], "username: is missing"),
        (["set", "a", "--mechanism", "OAUTHBEARER"], "token: is missing"),
        (["use", "pro"], "did you mean prod"),
        (["delete", "prod", "nothing"], "there is no context 'nothing'"),
        (["show", "nothing"], "there is no context 'nothing'"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_wrong_usage_writes_nothing(
    words: list[str], said: str, config_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(config_file)
    assert main(["context", *words]) == ExitCode.USAGE
    printed = capsys.readouterr()
    assert said in printed.err
    assert "hunter2" not in printed.out + printed.err
    assert config_file.read_text() == WRITTEN_BY_HAND


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[contexts", "this is not TOML"),
        ("a = " + "[" * 100_000, "this is not TOML"),
        ("#" * (1 << 20) + "\n", "larger than 1 MiB"),
        ("contexts = 3", "no context"),
        ("[contexts.test]\nbootstrap_server = 'a:1'", "unknown field bootstrap_server"),
        ("[contexts.test]\ntimeout = 'long'", "timeout"),
        ("[contexts.test]\ntimeout = nan", "timeout"),
        ("[contexts.test]\nbootstrap_servers = 'a:1'\nbootstrap_controllers = 'a:1'", "write one of them"),
        ("[contexts.test]\nbootstrap_servers = ','", "no bootstrap server is given; give host:port"),
        ("[contexts.test]\nbootstrap_servers = 'kafka'", "'kafka' has no port: write host:port, kafka:9092"),
        ("[contexts.test.properties]\n'sasl.jaas.config' = 'hunter2'", "is a secret; write where it is"),
        ("[contexts.test.properties]\n'ssl.key.password' = {env = 'A', file = 'B'}", "exactly one of"),
        ("[contexts.test.login]\nmechanism = 'PLAIN'\nusername = 'a'\npassword = 'hunter2'", "password"),
        ("[contexts.test]\n[contexts.test.properties]\na = [1]", "properties"),
    ],
)
def test_a_malformed_file_is_a_message(
    text: str, said: str, config_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(config_file, text)
    assert main(["topics", "list", "--context", "test"]) in {ExitCode.USAGE, ExitCode.FAILED}
    message = capsys.readouterr().err
    assert said in message
    assert "hunter2" not in message


def test_bytes_that_are_no_text_are_a_message(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(config_file).write_bytes(b"\xff\xfe")
    assert main(["context", "list"]) == ExitCode.USAGE
    assert "not UTF-8" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="rights of folders")
def test_a_file_that_cannot_be_written_leaves_a_way(
    config_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(config_file)
    monkeypatch.setenv(CONFIG_VARIABLE, "/proc/self/config.toml")
    assert main(["context", "set", "a", "-b", "b:1"]) == ExitCode.FAILED
    assert "choose a context by KAFKAWIRE_CONTEXT or --context" in capsys.readouterr().err


def test_settings_are_removed_and_comments_stay(config_file: Path) -> None:
    written(config_file)
    assert main(["context", "unset", "prod", "security.protocol", "production"]) == ExitCode.DONE
    removed = WRITTEN_BY_HAND.replace('"security.protocol" = "SASL_SSL"\n', "").replace("production = true\n", "")
    assert config_file.read_text() == removed


def test_the_last_property_takes_its_heading_along_but_no_comment(config_file: Path) -> None:
    written(config_file)
    words = ["context", "unset", "prod", "security.protocol", "request.timeout.ms"]
    assert main(words) == ExitCode.DONE
    assert "properties" not in config_file.read_text()
    written(config_file, WRITTEN_BY_HAND + "# slow network\n")
    assert main(words) == ExitCode.DONE
    assert config_file.read_text().endswith("[contexts.prod.properties]\n# slow network\n")


def test_a_login_is_removed_whole_and_not_in_part(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    login = '[contexts.prod.login]\nmechanism = "PLAIN"\nusername = "alice"\npassword = {env = "KEY"}\n'
    written(config_file, WRITTEN_BY_HAND + login)
    assert main(["context", "unset", "prod", "login.password"]) == ExitCode.USAGE
    assert "password: is missing, which PLAIN needs" in capsys.readouterr().err
    assert config_file.read_text() == WRITTEN_BY_HAND + login
    assert main(["context", "unset", "prod", "login"]) == ExitCode.DONE
    assert config_file.read_text() == WRITTEN_BY_HAND


def test_a_setting_that_a_context_does_not_have(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(config_file)
    assert main(["context", "unset", "prod", "security.protocl"]) == ExitCode.USAGE
    assert "context prod has no setting 'security.protocl' of its own; did you mean" in capsys.readouterr().err
    assert main(["context", "unset", "test", "x"]) == ExitCode.USAGE
    assert "it has bootstrap_servers" in capsys.readouterr().err
    assert main(["context", "unset", "nowhere", "x"]) == ExitCode.USAGE
    assert config_file.read_text() == WRITTEN_BY_HAND


def test_a_context_is_renamed_in_its_place_and_stays_current(config_file: Path) -> None:
    written(config_file)
    assert main(["context", "rename", "prod", "eu.prod"]) == ExitCode.DONE
    assert main(["context", "rename", "test", "local"]) == ExitCode.DONE
    renamed = WRITTEN_BY_HAND.replace("contexts.prod", 'contexts."eu.prod"').replace("contexts.test", "contexts.local")
    assert config_file.read_text() == renamed.replace('current = "test"', 'current = "local"')


def test_a_context_is_not_renamed_onto_another(config_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(config_file)
    assert main(["context", "rename", "prod", "test"]) == ExitCode.USAGE
    assert "there is a context 'test'" in capsys.readouterr().err
    assert main(["context", "rename", "prod", ""]) == ExitCode.USAGE
    assert main(["context", "rename", "nowhere", "x"]) == ExitCode.USAGE
    assert config_file.read_text() == WRITTEN_BY_HAND


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("[contexts]\na = {timeout = 4}\n", {"timeout": 4}),
        ("contexts.a.timeout = 4\n", {"timeout": 4}),
        ('[contexts."a".login]\nmechanism="PLAIN"\n', {"login": {"mechanism": "PLAIN"}}),
    ],
)
def test_a_context_is_renamed_however_it_is_written(config_file: Path, text: str, renamed: dict[str, object]) -> None:
    written(config_file, text)
    assert main(["context", "rename", "a", "b"]) == ExitCode.DONE
    assert tomllib.loads(config_file.read_text()) == {"contexts": {"b": renamed}}
