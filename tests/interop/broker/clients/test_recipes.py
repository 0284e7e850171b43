"""The programs of the page of recipes, each at an embedded broker: all print the record that they wrote."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.apache_kafka.prerequisites import java
from tests.apache_kafka.releases import class_path, newest_broker_release
from tests.pages.page import blocks

from kafkawire.admin import BlockingAdminClient, TopicPartition
from kafkawire.broker import ThreadedBroker

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "recipes-for-clients.md"
PROGRAMS = {block.title: block.text for block in blocks(PAGE.read_text("utf-8")) if block.title}
FRANZ_GO = "github.com/twmb/franz-go/pkg/kgo@v1.22.3"
SECONDS = 300

pytestmark = pytest.mark.interop


@pytest.fixture
def broker() -> Iterator[ThreadedBroker]:
    with ThreadedBroker({"group.initial.rebalance.delay.ms": "0"}, topics=["orders"]) as broker:
        yield broker


def printed(command: Sequence[str | Path], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(PROGRAMS[name], "utf-8")
    return path


def committed(broker: ThreadedBroker) -> int | None:
    with BlockingAdminClient(broker.bootstrap_servers) as admin:
        offset = admin.list_consumer_group_offsets(["billing"])["billing"][TopicPartition("orders", 0)]
    return None if offset is None else offset.offset


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("with_confluent_kafka.py", "confluent_kafka"),
        ("with_aiokafka.py", "aiokafka"),
        ("with_kafka_python.py", "kafka"),
        pytest.param(
            "with_faststream.py",
            "faststream",
            marks=pytest.mark.skipif(
                importlib.util.find_spec("faststream") is None, reason="needs faststream[kafka] to be installed"
            ),
        ),
    ],
)
def test_a_program_in_python(broker: ThreadedBroker, tmp_path: Path, name: str, module: str) -> None:
    path = written(tmp_path, name)
    assert f"import {module}" in PROGRAMS[name] or f"from {module}" in PROGRAMS[name]
    assert "paid" in printed([sys.executable, path, broker.bootstrap_servers], tmp_path).splitlines()
    assert committed(broker) == 1


@pytest.mark.extended
def test_a_program_in_java(broker: ThreadedBroker, tmp_path: Path) -> None:
    path = written(tmp_path, "WithJava.java")
    jars = os.pathsep.join(map(str, class_path(newest_broker_release())))
    assert printed([java(), "-cp", jars, path, broker.bootstrap_servers], tmp_path) == "paid\n"
    assert committed(broker) == 1


@pytest.mark.extended
def test_a_program_in_go(broker: ThreadedBroker, tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("needs Go (Debian: apt-get install golang)")
    written(tmp_path, "main.go")
    printed([go, "mod", "init", "recipe"], tmp_path)
    fetched = subprocess.run([go, "get", FRANZ_GO], cwd=tmp_path, capture_output=True, text=True, check=False)
    if fetched.returncode:
        pytest.skip(f"needs the Go module {FRANZ_GO}, which cannot be fetched: {fetched.stderr.strip()}")
    assert printed([go, "run", ".", broker.bootstrap_servers], tmp_path) == "paid\n"
    assert committed(broker) == 1
