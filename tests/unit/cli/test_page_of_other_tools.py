"""The page for people who come from other tools: its commands work, in the order of the page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "come-from-other-tools.md"
OURS = re.compile(r"\| `kafkawire ([^`]+)` \|$", re.MULTILINE)

SECURED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


def test_the_commands_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They use the context that the page sets first; the group of the page gets its offsets when it has its topic."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    lines = OURS.findall(PAGE.read_text("utf-8"))
    assert len(lines) > 30
    with ThreadedBroker(SECURED) as broker, BlockingAdminClient(broker.bootstrap_servers) as client:
        for line in lines:
            words = shlex.split(line.replace("localhost:9092", broker.bootstrap_servers))
            assert (line, main(words)) == (line, 0)
            if words[:2] == ["topics", "create"]:
                client.alter_consumer_group_offsets("billing", {TopicPartition("orders", 0): 0}).all()
