"""What commands on topics, configs, quotas and users print on terminals of three widths, and in a pipe."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from kafkawire.admin import NewTopic
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main

HERE = Path(__file__).parent
TOPIC_ID = re.compile(r"(?<![\w-])[\w-]{22}(?![\w-])")
SET_UP = [
    "quotas set --user alice --user-default producer_byte_rate=1048576 consumer_byte_rate=2097152",
    "quotas set --user alice --client-id reports request_percentage=12.5",
    "quotas set --ip-default connection_creation_rate=20",
    "users set alice --password-env SECRET --mechanism SCRAM-SHA-256 --mechanism SCRAM-SHA-512",
    "users set bob --password-env SECRET --iterations 8192",
]
SHOWN = [
    "topics list",
    "topics list --with-overrides",
    "topics describe orders payments-of-the-european-union",
    "topics create clicks views orders --partitions 2 --dry-run",
    "topics alter orders --partitions 1 --set retention.ms=1000 --dry-run",
    "topics delete payments* nope --dry-run",
    "configs describe --topic orders --broker-default",
    "configs describe --topic * retention.ms cleanup.policy --synonyms",
    "configs set --topic orders retention.ms=1000 cleanup.policy=compact --dry-run",
    "quotas list",
    "quotas effective --user alice --client-id reports",
    "quotas effective --ip 10.0.0.7",
    "quotas set --user alice --user eve producer_byte_rate=1 --dry-run",
    "users list",
    "users set alice eve --password-env SECRET --dry-run",
]


class Screen(io.StringIO):
    """A terminal, or a pipe."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    topics = [
        NewTopic("orders", num_partitions=3, configs={"retention.ms": "86400000", "cleanup.policy": "delete,compact"}),
        NewTopic("payments-of-the-european-union", num_partitions=1),
    ]
    with ThreadedBroker({}, topics=topics) as running, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET", "correct horse")
        patch.setattr(sys, "stdout", io.StringIO())
        for words in SET_UP:
            assert main([*words.split(), "-b", running.bootstrap_servers]) == 0
        yield running


@pytest.mark.parametrize("width", [60, 80, 200, None])
def test_commands_print_what_fits(
    width: int | None, broker: ThreadedBroker, update_golden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "correct horse")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width or 80))
    text = ""
    for words in SHOWN:
        out, err = Screen(is_terminal=width is not None), Screen(is_terminal=False)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        code = main([*words.split(), "-b", broker.bootstrap_servers])
        lines = TOPIC_ID.sub("A" * 22, out.getvalue()).splitlines()
        assert width is None or all(cell_len(line) <= width for line in lines), words
        text += "\n".join([f"$ kafkawire {words}", *lines, *err.getvalue().splitlines(), f"exit code {code}", "", ""])
    golden = HERE / f"{width or 'pipe'}.txt"
    if update_golden:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8"), "pytest tests/golden --update-golden writes the file; read its diff"
