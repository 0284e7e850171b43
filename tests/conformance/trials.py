"""What is put to Kafka's classes: which release is asked about which version, and with which values."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from tests.apache_kafka.releases import BROKER, REPOSITORY, generation, releases_with

from kafkawire.codegen.merge.released_versions import ReleasedVersion, read_released_versions
from kafkawire.wire import Message
from kafkawire.wire.examples import extreme_instances, random_instance

RANDOM_INSTANCES = 20
"""Random values of each version without unknown tagged fields, which Kafka's JSON form does not have."""

EXTREME_INSTANCES = 4
"""Defaults, nulls, least and greatest values of each version."""

RANDOM_INSTANCES_WITH_UNKNOWN_TAGS = 5
"""Further random values of each version."""


@cache
def released_versions() -> tuple[ReleasedVersion, ...]:
    """All versions of all messages of all releases that have bytes (a retired message has none)."""
    return tuple(row for row in read_released_versions(REPOSITORY / "specs") if row.version >= 0)


@cache
def trials() -> Mapping[str, Sequence[ReleasedVersion]]:
    """By message: what each release has of it, except versions that a newer release changed in place.

    Of releases of one generation (3, 4) that have the same layout of a version only the newest is asked.
    """
    asked = releases_with(BROKER)
    chosen: dict[tuple[str, str, int, str], ReleasedVersion] = {}
    for row in released_versions():
        if row.relation != "replaced" and row.release in asked:
            chosen[generation(row.release), row.merged_message, row.merged_version, row.layout] = row
    by_message: defaultdict[str, list[ReleasedVersion]] = defaultdict(list)
    for row in chosen.values():
        by_message[row.merged_message].append(row)
    return by_message


def values(message: type[Message], version: int, *, unknown_tags: bool) -> Iterator[tuple[str, Message]]:
    """Values of a version, each with what it takes to make it again.

    Args:
        message: the class.
        version: the version.
        unknown_tags: whether to give values that may have unknown tagged fields, or those that have none.
    """
    layout = message.layouts().of_version(version)
    if not unknown_tags:
        yield from extreme_instances(message, layout).items()
    for number in range(RANDOM_INSTANCES_WITH_UNKNOWN_TAGS if unknown_tags else RANDOM_INSTANCES):
        seed = f"{message.NAME} {version} {number}"
        made = random_instance(random.Random(seed), message, layout, unknown_tags=unknown_tags)
        yield f"random_instance(random.Random({seed!r}), ..., unknown_tags={unknown_tags})", made
