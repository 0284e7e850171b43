"""Apache Kafka's console consumer of share groups, for topics with a number in each record."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Final

from tests.apache_kafka.java_program import java_command
from tests.apache_kafka.releases import newest_broker_release

_TOOL: Final = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"


def console_share_consumer(address: str, topic: str, group: str, *options: str, most: int) -> Sequence[int]:
    """The numbers that the console prints of a topic until it has some records, or gets none for three seconds.

    Raises:
        AssertionError: it failed.
    """
    where = ("--bootstrap-server", address, "--topic", topic, "--group", group)
    limits = ("--max-messages", str(most), "--timeout-ms", "3000")
    command = [*java_command(newest_broker_release(), "512m", ()), _TOOL, *where, *limits, *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0 or "TimeoutException" in ended.stderr, ended.stderr
    return [int(line) for line in ended.stdout.split()]
