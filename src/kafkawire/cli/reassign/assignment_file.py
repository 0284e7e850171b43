"""The file of assignments that Kafka's own tool reads and writes: version 1, partitions, replicas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from kafkawire.cli.destination import opened_destination
from kafkawire.cli.given_text import given_text, shown_path
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.model.partitions import TopicPartition

_ANY_DIRECTORY = "any"


class _Partition(msgspec.Struct):
    topic: str
    partition: int
    replicas: Sequence[int]
    log_dirs: Sequence[str] = ()


class _File(msgspec.Struct):
    version: int
    partitions: Sequence[_Partition]


def read_assignment(path: Path) -> dict[TopicPartition, tuple[int, ...]]:
    """The brokers of each partition.

    Raises:
        CommandError: the file cannot be read, is not such a file, has a partition twice, or places replicas in
            directories.
    """
    name = shown_path(path)
    try:
        file = msgspec.json.decode(given_text(path), type=_File)
    except (msgspec.DecodeError, RecursionError) as error:
        raise CommandError(
            f"{name}: it is no file of assignments: {error}; kafkawire reassign plan --out writes one", ExitCode.USAGE
        ) from None
    if file.version != 1:
        raise CommandError(f"{name}: version {file.version} of such files is unknown; there is only 1", ExitCode.USAGE)
    found: dict[TopicPartition, tuple[int, ...]] = {}
    for each in file.partitions:
        partition = TopicPartition(each.topic, each.partition)
        _check(path, partition, each, found)
        found[partition] = tuple(each.replicas)
    return found


def _check(path: Path, partition: TopicPartition, given: _Partition, found: Iterable[TopicPartition]) -> None:
    problem = None
    if partition in found:
        problem = "it is there twice; leave one out"
    elif not given.replicas or len(set(given.replicas)) < len(given.replicas):
        problem = f"its replicas are {list(given.replicas)}; name at least one broker, and each once"
    elif set(given.log_dirs) - {_ANY_DIRECTORY}:
        problem = 'it places replicas in directories; write "any", and move them with alter_replica_log_dirs after'
    if problem is not None:
        raise CommandError(f"{shown_path(path)}: {partition}: {problem}", ExitCode.USAGE)


def write_assignment(path: Path | None, assignment: Mapping[TopicPartition, Sequence[int]]) -> None:
    """Write the file whole or not at all; None is standard output."""
    partitions = [
        {"topic": each.topic, "partition": each.partition, "replicas": replicas}
        for each, replicas in sorted(assignment.items())
    ]
    lines = b",\n".join(b"  " + msgspec.json.encode(each) for each in partitions)
    with opened_destination(path) as stream:
        stream.write(b'{"version": 1, "partitions": [\n' + lines + b"\n]}\n")
