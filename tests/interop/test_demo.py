"""The demonstration shows a real broker if the user names one; Kafka administers its broker and reads its log."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.apache_kafka.broker import Broker

from kafkawire.cli.app import main

pytestmark = pytest.mark.interop


@pytest.mark.nightly
def test_demo_shows_the_methods_and_the_nodes_of_a_real_broker(
    kafka_broker: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--broker", f"{kafka_broker.host}:{kafka_broker.port}", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "Kafka's own kafka-acls, called for one user, took" in shown
    assert re.search(r"^ACCESS_CONTROL_ENTRY_RECORD +2,014$", shown, re.MULTILINE)
    assert re.search(r"^CLIENT_QUOTA_RECORD +3,002$", shown, re.MULTILINE)
    assert "ended early" not in shown
    yours = shown.partition("8. Your broker")[2].partition("What you have seen")[0]
    assert f"{kafka_broker.host}:{kafka_broker.port} is a broker of cluster" in yours
    assert re.search(r"Of the \d+ methods of the admin client, node \d+ supports \d+", yours)
    assert len(yours.strip().splitlines()) <= 26
