"""A side is a cluster, documents or a log; a word that could be two of them is refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.state.sides import ContextSide, DocumentsSide, LogSide, ServersSide, Side, side_of


@pytest.fixture(autouse=True)
def _with_context(config_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config_file.parent.mkdir(parents=True)
    config_file.write_text('[contexts.prod]\nbootstrap_servers = "kafka:9092"\n')
    (tmp_path / "declared").mkdir()
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("localhost:9092", ServersSide("localhost:9092")),
        ("a.example.com:9092,b.example.com:9092", ServersSide("a.example.com:9092,b.example.com:9092")),
        ("[::1]:9092", ServersSide("[::1]:9092")),
        ("prod", ContextSide("prod")),
        ("context:other", ContextSide("other")),
        ("cluster.yaml", DocumentsSide(Path("cluster.yaml"))),
        ("declared", DocumentsSide(Path("declared"))),
        ("./prod", DocumentsSide(Path("prod"))),
        ("log:/data", LogSide("/data", None)),
        ("log:/data@2026-03-01", LogSide("/data", datetime(2026, 3, 1, tzinfo=UTC))),
        (
            "log:/me@home/data@2026-03-01T12:30+01:00",
            LogSide("/me@home/data", datetime(2026, 3, 1, 11, 30, tzinfo=UTC)),
        ),
        ("log:s3://bucket/logs@2026-03-01", LogSide("s3://bucket/logs", datetime(2026, 3, 1, tzinfo=UTC))),
    ],
)
def test_each_form(text: str, side: Side) -> None:
    assert side_of(text) == side


def test_a_folder_with_an_at_sign_needs_no_date(tmp_path: Path) -> None:
    folder = tmp_path / "me@home"
    folder.mkdir()
    assert side_of(f"log:{folder}") == LogSide(str(folder), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("production", "'production' is neither a file nor a context; a side is a FILE or folder of documents"),
        ("", "'' is neither a file nor a context"),
        ("log:data@yesterday", "log:data@yesterday: 'yesterday' is not a time such as 2026-03-01"),
    ],
)
def test_what_means_nothing_is_wrong_usage(text: str, message: str) -> None:
    with pytest.raises(CommandError) as raised:
        side_of(text)
    assert raised.value.message.startswith(message)
    assert raised.value.exit_code is ExitCode.USAGE


def test_a_file_with_the_name_of_a_context_is_ambiguous(tmp_path: Path) -> None:
    (tmp_path / "prod").touch()
    with pytest.raises(CommandError, match=r"'prod' is a file and a context; write \./prod or context:prod"):
        side_of("prod")
