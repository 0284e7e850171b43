"""Brokers for tests. What is declared is made once, and each broker begins with a copy of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from typing import Final, NamedTuple

from kafkawire.broker.clock import Clock
from kafkawire.broker.state_copy import StateCopy
from kafkawire.broker.threaded import ThreadedBroker
from kafkawire.declared.state import ClusterState
from kafkawire.model.partitions import TopicPartition
from kafkawire.model.topics import NewTopic

_DEFAULTS: Final = {"group.initial.rebalance.delay.ms": "0"}
"""The first members of a group get their partitions at once: a test waits for no others."""


class Begin(NamedTuple):
    """What a broker has from its start.

    Attributes:
        properties: its properties.
        topics: its topics.
        declared: what else is declared: a state, or the path of documents; None for nothing.
        groups: the offsets that groups have committed: group id to partition to offset.
        state: the state of another broker; None for an empty one.
    """

    properties: Mapping[str, str]
    topics: Iterable[NewTopic | str]
    declared: ClusterState | str | PathLike[str] | None
    groups: Mapping[str, Mapping[TopicPartition, int]]
    state: StateCopy | None

    @property
    def is_declared(self) -> bool:
        """Whether there is anything that must be made at a broker that runs."""
        return self.declared is not None or bool(self.groups)

    def is_same(self, other: Begin) -> bool:
        """Whether both have the same objects, as those that fixtures of a wider scope return."""
        return all(one is another for one, another in zip(self, other, strict=True))


class BrokersOfTests:
    """Starts the brokers of one run of tests."""

    def __init__(self) -> None:
        self._made: list[tuple[Begin, Begin]] = []

    @contextmanager
    def running(
        self, begin: Begin, data_dir: str | PathLike[str] | None, clock: Clock | None, release: str | None
    ) -> Iterator[ThreadedBroker]:
        """A broker that runs while the context is open.

        Args:
            begin: what it has from its start.
            data_dir: its data directory; None for a broker in memory.
            clock: its clock; None for the system's.
            release: the release whose versions it offers; None for the newest.

        Raises:
            DeclarationError: a document is wrong, or the broker refuses what is declared.
            ValueError: something is declared for a broker with a data directory.
        """
        if data_dir is not None and begin.is_declared:
            raise ValueError(
                "kafka_broker_declared and kafka_broker_groups are for brokers in memory: leave kafka_broker_data_dir "
                "out, or make what is declared in the test"
            )
        made = self._once_made(begin) if begin.is_declared else begin
        with ThreadedBroker(
            {**_DEFAULTS, **made.properties},
            data_dir=data_dir,
            clock=clock,
            topics=made.topics,
            state=made.state,
            release=release,
        ) as broker:
            yield broker

    def _once_made(self, begin: Begin) -> Begin:
        for known, made in self._made:
            if known.is_same(begin):
                return made
        from kafkawire.pytest_plugin.declaration import bring_about, declared_state, properties_with  # noqa: PLC0415

        declared = ClusterState() if begin.declared is None else declared_state(begin.declared)
        properties = properties_with(declared, begin.properties)
        with ThreadedBroker(properties, topics=begin.topics, state=begin.state) as broker:
            bring_about(broker, declared, begin.groups)
            made = begin._replace(properties=properties, topics=(), state=broker.copy_state())
        self._made.append((begin, made))
        return made
