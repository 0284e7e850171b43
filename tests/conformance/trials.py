"""The trials of Kafka's classes: the versions of each release that are compared, and the values."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache

import pytest
from _pytest.mark import ParameterSet
from tests.apache_kafka.releases import BROKER, REPOSITORY, generation, releases_with
from tests.made.example_messages import extreme_instances, random_instance

from kafkawire.codegen.merge.released_versions import ReleasedVersion, read_released_versions
from kafkawire.protocol import message_class
from kafkawire.wire import Message

RANDOM_INSTANCES = 20
"""Random values of each version without unknown tagged fields, which Kafka's JSON form does not have."""

EXTREME_INSTANCES = 4
"""Defaults, nulls, least and greatest values of each version."""

RANDOM_INSTANCES_WITH_UNKNOWN_TAGS = 5
"""Further random values of each version."""


@cache
def released_versions() -> tuple[ReleasedVersion, ...]:
    """All versions of all messages of all releases, except retired messages, which have no bytes."""
    return tuple(row for row in read_released_versions(REPOSITORY / "specs") if row.version >= 0)


@cache
def trials() -> Mapping[str, Sequence[ReleasedVersion]]:
    """The trials of each message: the versions of every release, except those that a newer release changed in place.

    Where releases of one generation (3, 4) have the same layout of a version, the newest of them is compared.
    """
    compared = releases_with(BROKER)
    chosen: dict[tuple[str, str, int, str], ReleasedVersion] = {}
    for row in released_versions():
        if row.relation != "replaced" and row.release in compared:
            chosen[generation(row.release), row.merged_message, row.merged_version, row.layout] = row
    by_message: defaultdict[str, list[ReleasedVersion]] = defaultdict(list)
    for row in chosen.values():
        by_message[row.merged_message].append(row)
    return by_message


def of_each_layout(rows: Sequence[ReleasedVersion]) -> Sequence[ReleasedVersion]:
    """One trial for each pair of our layout and a release's own: the last, which is of the newest release."""
    layouts = message_class(rows[0].merged_message).layouts()
    return list({(layouts.by_version[row.merged_version], row.layout): row for row in rows}.values())


def by_message(*, without: Collection[str] = ()) -> list[ParameterSet]:
    """The trials as parameters of a test, two for a message: one trial for each layout, and the others for
    ``make test-ci``.
    """
    parameters = []
    for name, rows in sorted(trials().items()):
        if name not in without:
            first = of_each_layout(rows)
            parameters.append(pytest.param(first, id=name))
            if others := [row for row in rows if row not in first]:
                parameters.append(pytest.param(others, id=f"{name}-other versions", marks=pytest.mark.extended))
    return parameters


def values(message: type[Message], version: int, *, unknown_tags: bool) -> Iterator[tuple[str, Message]]:
    """Values of a version, each with the call that makes it again.

    Args:
        message: the class.
        version: the version.
        unknown_tags: whether the values may have unknown tagged fields.
    """
    layout = message.layouts().of_version(version)
    if not unknown_tags:
        yield from extreme_instances(message, layout).items()
    for number in range(RANDOM_INSTANCES_WITH_UNKNOWN_TAGS if unknown_tags else RANDOM_INSTANCES):
        seed = f"{message.NAME} {version} {number}"
        made = random_instance(random.Random(seed), message, layout, unknown_tags=unknown_tags)
        yield f"random_instance(random.Random({seed!r}), ..., unknown_tags={unknown_tags})", made
