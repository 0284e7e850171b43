"""Commands beside Apache Kafka's tools and the command line of kafka-python, whole processes at one broker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.apache_kafka.broker import AUTHORIZER, running_broker
from tests.apache_kafka.java_program import java_command, loaded_classes
from tests.apache_kafka.releases import config_command, newest_broker_release

from benchmarks.command_start import PYTHON_COMMAND
from benchmarks.processes import KAFKAWIRE, whole_process
from benchmarks.results import KAFKA, KAFKA_PYTHON, OURS, DisagreementError, Measurement, Target
from benchmarks.sampling import Waiting, interleave_waiting
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

KIND: Final = "command describe"
TUNED: Final = "Apache Kafka, tuned"
"""The same tool with options of Java that make it start fast."""

OTHERS: Final = (KAFKA, TUNED, KAFKA_PYTHON)
HEAP: Final = "256M"
"""Of Kafka's scripts for tools."""

SCRIPT_OPTIONS: Final = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
"""The options of Java in Kafka's ``kafka-run-class.sh``, except those of JMX and of log files."""

_TARGETS: Final = (Target(KAFKA, 3),)


class Job(NamedTuple):
    """A job, as each contender does it.

    Attributes:
        tool: main class and options of Kafka's tool.
        ours: words after ``kafkawire``.
        shown: what the output of each contender has.
        python: words after ``kafka-python admin``; empty where it has no such command.
    """

    tool: Sequence[str]
    ours: Sequence[str]
    shown: Sequence[str]
    python: Sequence[str] = ()


class Extent(NamedTuple):
    """What the broker has.

    Attributes:
        topics, acls, users: how many of each.
    """

    topics: int
    acls: int
    users: int


def jobs(extent: Extent) -> Mapping[str, Job]:
    """The jobs, by name."""
    topics = [f"t-{each}" for each in range(extent.topics)]
    users = [f"u-{each}" for each in range(extent.users)]
    configs = config_command(newest_broker_release())
    return {
        "a topic": Job(
            ("org.apache.kafka.tools.TopicCommand", "--describe", "--topic", "t-1"),
            ("topics", "describe", "t-1"),
            ["t-1"],
            ("topics", "describe", "-t", "t-1"),
        ),
        f"{extent.topics} topics": Job(
            ("org.apache.kafka.tools.TopicCommand", "--describe"),
            ("topics", "describe"),
            topics,
            ("topics", "describe"),
        ),
        "configs of a topic": Job(
            (configs, "--describe", "--all", "--topic", "t-1"),
            ("configs", "describe", "--topic", "t-1", "--all"),
            ["cleanup.policy", "retention.ms"],
            ("configs", "describe", "-r", "topic", "-n", "t-1"),
        ),
        f"{extent.acls} ACLs": Job(
            ("org.apache.kafka.tools.AclCommand", "--list"), ("acls", "list"), users, ("acls", "describe")
        ),
        f"quotas of {extent.users} users": Job(
            (configs, "--describe", "--entity-type", "users"), ("quotas", "describe"), users
        ),
        "lag of a group": Job(
            ("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", "--describe", "--group", "readers"),
            ("groups", "lag", "readers"),
            ["t-1", "readers"],
        ),
    }


def fill(address: str, extent: Extent) -> None:
    """Create what the jobs describe."""
    with BlockingAdminClient(address) as client:
        topics = [f"t-{each}" for each in range(extent.topics)]
        client.create_topics([NewTopic(name, num_partitions=3) for name in topics]).all()
        client.wait_for_topics(topics).all()
        acls = [
            AclBinding(
                ResourceType.TOPIC, f"t-{each % 100}", f"User:u-{each}", AclOperation.READ, AclPermissionType.ALLOW
            )
            for each in range(extent.acls)
        ]
        client.create_acls(acls).all()
        users = [ClientQuotaEntity.of_user(f"u-{each}") for each in range(extent.users)]
        client.alter_client_quotas([ClientQuotaAlteration(user, {"producer_byte_rate": 1024}) for user in users]).all()
        client.alter_consumer_group_offsets("readers", {TopicPartition("t-1", each): 0 for each in range(3)}).all()


def run(rounds: int, extent: Extent, folder: Path) -> Iterator[Measurement]:
    """Measure each job.

    Raises:
        DisagreementError: a contender does not print what it should describe.
    """
    release = newest_broker_release()
    if not loaded_classes(release).is_file():
        with running_broker(release, folder / "first", properties=AUTHORIZER):
            pass  # writes the file when it stops
    scripted, tuned = java_command(release, HEAP, options=SCRIPT_OPTIONS), java_command(release, HEAP)
    with running_broker(release, folder / "filled", properties=AUTHORIZER) as broker:
        fill(broker.address, extent)
        at = ["--bootstrap-server", broker.address]
        for name, job in jobs(extent).items():
            commands = {
                OURS: [KAFKAWIRE, *job.ours, *at],
                KAFKA: [*scripted, job.tool[0], *at, *job.tool[1:]],
                TUNED: [*tuned, job.tool[0], *at, *job.tool[1:]],
            }
            if job.python:
                commands[KAFKA_PYTHON] = [PYTHON_COMMAND, "admin", "-b", broker.address, *job.python]
            contenders = {
                contender: _described(contender, words, name, job.shown) for contender, words in commands.items()
            }
            yield Measurement(KIND, name, interleave_waiting(contenders, rounds), _TARGETS)


def _described(contender: str, words: Sequence[str], name: str, shown: Sequence[str]) -> Waiting:
    def seconds() -> float:
        ended = whole_process(words)
        missing = [each for each in shown if each not in ended.output]
        if missing:
            raise DisagreementError(f"{contender} describes {name} without {missing[0]}")
        return ended.seconds

    return Waiting(seconds)
