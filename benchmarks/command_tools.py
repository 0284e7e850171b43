"""Commands beside Apache Kafka's tools, whole processes at one broker: ``python -m benchmarks.command_tools [ROUNDS]``.

Prints the median time of each side, the ratio, and the lowest and highest ratio of a round. Both sides take turns.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.apache_kafka.broker import AUTHORIZER, running_broker
from tests.apache_kafka.java_program import java_command
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    BlockingAdminClient,
    ClientQuotaAlteration,
    ClientQuotaEntity,
    NewTopic,
    ResourceType,
    TopicPartition,
)

_COMMAND = str(Path(sys.executable).with_name("kafkawire"))
_USUAL_HEAP = "256M"
"""Of Kafka's scripts for tools."""


class Job(NamedTuple):
    """A job, as each side does it.

    Attributes:
        tool: main class and options of Kafka's tool.
        ours: words after ``kafkawire``.
        most: the largest share of the tool's time that is acceptable.
    """

    tool: Sequence[str]
    ours: Sequence[str]
    most: float = 1 / 3


JOBS: Mapping[str, Job] = {
    "describe a topic": Job(
        ("org.apache.kafka.tools.TopicCommand", "--describe", "--topic", "t-1"), ("topics", "describe", "t-1")
    ),
    "describe 100 topics": Job(("org.apache.kafka.tools.TopicCommand", "--describe"), ("topics", "describe")),
    "describe the configs of a topic": Job(
        ("kafka.admin.ConfigCommand", "--describe", "--all", "--topic", "t-1"),
        ("configs", "--describe", "--all", "--topic", "t-1"),
    ),
    "list 1 000 ACLs": Job(("org.apache.kafka.tools.AclCommand", "--list"), ("acls", "list")),
    "describe the quotas of 1 000 users": Job(
        ("kafka.admin.ConfigCommand", "--describe", "--entity-type", "users"),
        ("configs", "--describe", "--entity-type", "users"),
    ),
    "lag of a group": Job(
        ("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--describe", "--group", "readers"),
        ("groups", "lag", "readers"),
    ),
}


def fill(address: str) -> None:
    """Create what the jobs describe."""
    with BlockingAdminClient(address) as client:
        client.create_topics([NewTopic(f"t-{each}", num_partitions=3) for each in range(100)]).all()
        client.wait_for_topics([f"t-{each}" for each in range(100)]).all()
        acls = [
            AclBinding(
                ResourceType.TOPIC, f"t-{each % 100}", f"User:u-{each}", AclOperation.READ, AclPermissionType.ALLOW
            )
            for each in range(1000)
        ]
        client.create_acls(acls).all()
        users = [ClientQuotaEntity.of_user(f"u-{each}") for each in range(1000)]
        client.alter_client_quotas([ClientQuotaAlteration(user, {"producer_byte_rate": 1024}) for user in users]).all()
        client.alter_consumer_group_offsets("readers", {TopicPartition("t-1", each): 0 for each in range(3)}).all()


def measured(address: str, release: str, rounds: int) -> Mapping[str, tuple[list[float], list[float]]]:
    """Seconds of Kafka's tool and of ours, of each job in each round, after a round that does not count."""
    java = java_command(release, _USUAL_HEAP)
    seconds: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in JOBS}
    for number in range(rounds + 1):
        for name, job in JOBS.items():
            theirs = _seconds([*java, job.tool[0], "--bootstrap-server", address, *job.tool[1:]])
            ours = _seconds([_COMMAND, *job.ours, "--bootstrap-server", address])
            if number:
                seconds[name][0].append(theirs)
                seconds[name][1].append(ours)
    return seconds


def _seconds(words: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(words, capture_output=True, check=True)
    return time.perf_counter() - begin


def main() -> int:
    """Print a line for each job; 1 if one takes too large a share of the tool's time."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    release = newest_broker_release()
    is_fine = True
    with (
        tempfile.TemporaryDirectory() as folder,
        running_broker(release, Path(folder), properties=AUTHORIZER) as broker,
    ):
        fill(broker.address)
        for name, (theirs, ours) in measured(broker.address, release, rounds).items():
            ratios = [one / other for one, other in zip(theirs, ours, strict=True)]
            ratio = statistics.median(theirs) / statistics.median(ours)
            is_fine = is_fine and ratio >= 1 / JOBS[name].most
            print(
                f"{name:<36}{statistics.median(theirs):6.2f} s {statistics.median(ours):6.2f} s "
                f"{ratio:5.1f} times ({min(ratios):.1f} to {max(ratios):.1f})"
            )
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
