"""Secrets are had from where documents say they are, only when they are needed, and are in no representation."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kafkawire.cli.documents.reading import problem_text
from kafkawire.declared.documents.declared import Declared
from kafkawire.declared.documents.reading import read_documents, read_texts
from kafkawire.declared.documents.secret_references import UnavailableSecretError
from kafkawire.model.configs.resources import ConfigResource
from kafkawire.model.scram import ScramMechanism

ALICE = ("alice", ScramMechanism.SCRAM_SHA_512)


def declare(reference: str) -> Declared:
    return read_texts({"a.yaml": f"users: {{alice: {{SCRAM-SHA-512: {{password: {reference}}}}}}}"})


def test_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = declare("{env: ALICE}")
    monkeypatch.setenv("ALICE", "hunter2\n")
    assert declared.state.credentials[ALICE].password is None
    state = declared.state_with_secrets()
    assert state.credentials[ALICE].password == "hunter2"
    assert "hunter2" not in repr(state)


def test_from_a_file_beside_the_document(tmp_path: Path) -> None:
    (tmp_path / "word").write_text("hunter2\n")
    (tmp_path / "a.yaml").write_text("users: {alice: {SCRAM-SHA-512: {password: {file: word}}}}")
    assert read_documents([tmp_path]).secret(ALICE) == "hunter2"


def test_from_a_command() -> None:
    assert declare(f"{{command: [{sys.executable}, -c, 'print(\"hunter2\")']}}").secret(ALICE) == "hunter2"


def test_of_a_config(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "listener.name.external.ssl.keystore.password"
    monkeypatch.setenv("STORE", "hunter2")
    declared = read_texts({"a.yaml": f"configs: {{brokers: {{1: {{{name}: {{env: STORE}}}}}}}}"})
    assert declared.state_with_secrets().configs == {ConfigResource.broker(1): {name: "hunter2"}}


def test_of_an_item_with_mistakes_is_not_kept() -> None:
    text = "{alice: {SCRAM-SHA-512: {iterations: 1, password: {env: NOT_SET}}}}"
    assert not read_texts({"a.yaml": f"users: {text}"}).state_with_secrets().credentials


def test_none_is_named() -> None:
    assert read_texts({"a.yaml": "users: {alice: {SCRAM-SHA-512: }}"}).secret(ALICE) is None


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("{env: NOT_SET}", "the environment variable NOT_SET is not set"),
        ("{file: /does/not/exist}", "No such file"),
        ("{command: [does-not-exist]}", "cannot be run"),
        (f"{{command: [{sys.executable}, -c, 'raise SystemExit(3)']}}", "exit code 3"),
        (f"{{command: [{sys.executable}, -c, '']}}", "gives an empty text"),
        (f"{{command: [{sys.executable}, -c, 'import os; os.write(1, bytes([255]))']}}", "is not UTF-8"),
    ],
)
def test_unavailable(reference: str, reason: str) -> None:
    with pytest.raises(UnavailableSecretError, match=f"alice, SCRAM-SHA-512: .*{reason}"):
        declare(reference).state_with_secrets()


@pytest.mark.parametrize(
    "text",
    [
        "users: hunter2",
        "users: [hunter2]",
        "users: {alice: hunter2}",
        "users: {alice: [hunter2]}",
        "users: {alice: {SCRAM-SHA-512: hunter2}}",
        "users: {alice: {SCRAM: hunter2}}",
        "users: {alice: {SCRAM-SHA-512: {password: hunter2}}}",
        "users: {alice: {SCRAM-SHA-512: {pasword: hunter2}}}",
        "users: {alice: {SCRAM-SHA-512: {pin: hunter2, iterations: 1}}}",
        "users: {alice: {SCRAM-SHA-512: {password: {evn: hunter2}}}}",
        "users: {alice: {SCRAM-SHA-512: {password: [hunter2, a]}}}",
        "users: {alice: {SCRAM-SHA-512: {password: {command: hunter2}}}}",
        "users:\n  alice:\n    SCRAM-SHA-512:\n      password: >\n        a\n        hunter2\n      iteration: 3\n",
        'users:\n  alice:\n    SCRAM-SHA-512:\n      passwd: "hunter2\n',
        "configs: {brokers: {1: {listener.name.external.ssl.keystore.password: hunter2}}}",
        "configs: {brokers: {1: {ssl.keystore.password: hunter2, 1: [}}}",
    ],
)
def test_plain_secrets_are_not_printed(text: str) -> None:
    declared = read_texts({"a.yaml": text})
    assert declared.errors
    assert "hunter2" not in problem_text(declared)
    assert not any("hunter2" in str(each) for each in declared.problems)
