"""The reference page of the command."""

from __future__ import annotations

import shlex
from itertools import pairwise
from pathlib import Path

import pytest
from tests.pages.page import blocks

from kafkawire.broker import ThreadedBroker
from kafkawire.cli.app import main
from kafkawire.cli.kafka_configs.kafka_words import OF_OLDER_RELEASES, OPTIONS
from kafkawire.cli.kafka_configs.kip_248_words import OPTIONS as OPTIONS_OF_KIP_248

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "kafka-configs.md"


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    shown = [block for block in blocks(PAGE.read_text("utf-8")) if block.language in {"sh", "text"}]
    outputs = [(commands.text, output.text) for commands, output in pairwise(shown) if output.language == "text"]
    assert len(outputs) == 2
    for commands, output in outputs:
        with ThreadedBroker() as broker:
            for line in commands.splitlines():
                _, *words = shlex.split(line.replace("localhost:9092", broker.bootstrap_servers))
                assert main(words) == 0
        assert capsys.readouterr().out == output


def test_the_page_has_all_options() -> None:
    page = PAGE.read_text("utf-8")
    options = {f"--{option.name}" for option in (*OPTIONS, *OF_OLDER_RELEASES)} | OPTIONS_OF_KIP_248
    assert [option for option in sorted(options) if f"{option}`" not in page and f"{option} " not in page] == []
