"""What ``tokens`` refuses before it reaches a cluster."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kafkawire.cli.app import main
from kafkawire.cli.outcome import ExitCode

SERVERS = ["-b", "127.0.0.1:9"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--owner", "alice"], "--owner: 'alice': write TYPE:NAME, such as User:alice"),
        (["--renewer", "User:"], "--renewer: 'User:': write TYPE:NAME, such as User:alice"),
        (["--max-lifetime", "soon"], "--max-lifetime: 'soon' is not a duration"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_token_that_cannot_be_made_is_wrong_usage(
    words: list[str], message: str, dry: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create = ["tokens", "create", "--hmac-out", str(tmp_path / "hmac"), *words, *dry, *SERVERS]
    assert main(create) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith(f"kafkawire: {message}")


def test_the_file_of_the_secret_must_be_new_and_writable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, absent = tmp_path / "old", tmp_path / "no" / "hmac"
    old.touch()
    assert main(["tokens", "create", "--hmac-out", str(old), "--dry-run", *SERVERS]) == ExitCode.USAGE
    assert capsys.readouterr().err == f"kafkawire: --hmac-out: {old} exists; give the name of a new file\n"
    assert main(["tokens", "create", "--hmac-out", str(absent), *SERVERS]) == ExitCode.USAGE
    assert f"{tmp_path / 'no'} is no folder that you can write to" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["renew", "expire"])
def test_tokens_are_counted_in_the_question(
    verb: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'[{"token_id": "a"}, {"token_id": "b"}]')))
    assert main(["tokens", verb, "b", "c", "--from", "-", "--timeout", "0.2", *SERVERS]) != ExitCode.DONE
    if verb == "expire":
        assert "expire 3 tokens: there is no terminal to ask on" in capsys.readouterr().err
    assert main(["tokens", verb, *SERVERS]) == ExitCode.USAGE
    assert "no token is named; give arguments or --from FILE" in capsys.readouterr().err
