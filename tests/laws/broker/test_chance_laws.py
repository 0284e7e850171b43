"""Faults by chance: one seed is one run, and nothing that the broker acknowledges is lost or doubled."""

from __future__ import annotations

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, TypeVar

import pytest
from tests.embedded.stubborn_client import GroupMember, IdempotentProducer, StubbornClient, every_value

from kafkawire.admin import AdminClient, AdminSettings, NewTopic, Results, TopicPartition
from kafkawire.broker import Chance, EmbeddedBroker, ManualClock

K = TypeVar("K")
V = TypeVar("V")

SEEDS: Final = range(6)
QUICK: Final = AdminSettings(
    retry_backoff=0.001, retry_backoff_maximum=0.01, reconnect_backoff=0.001, reconnect_backoff_maximum=0.01
)
PROPERTIES: Final = {"group.initial.rebalance.delay.ms": "0"}
ROUNDS: Final = 8


def faults_of(seed: int) -> Chance:
    """Shares of their own for each seed, so that some runs have no restarts, and some have many."""
    drawn = Random(seed)
    return Chance(
        seed,
        delays=drawn.choice([0, 0.3]),
        longest_delay=3.0,
        refusals=drawn.choice([0, 0.2]),
        cuts=drawn.choice([0, 0.1, 0.3]),
        restarts=drawn.choice([0, 0.02, 0.1]),
        slow_writes=drawn.choice([0, 0.3]),
        longest_write=1.0,
    )


@dataclass
class Run:
    """What one run has done.

    Attributes:
        outcomes: what the admin client returned, call by call.
        requests: the requests and the errors in their answers.
        seconds: where the clock ended.
        topics: the topics of which it is known whether they exist.
        committed: the offsets that were acknowledged, or that may have been committed.
        problems: what contradicts an acknowledgement.
    """

    outcomes: list[object] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    seconds: float = 0.0
    topics: dict[str, bool] = field(default_factory=dict)
    committed: list[int] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


async def run(seed: int, data_dir: Path) -> Run:
    """Records, groups and administration, one after the other, then a look at what is there."""
    done = Run()
    async with EmbeddedBroker(PROPERTIES, data_dir=data_dir, clock=ManualClock(), topics=["orders"]) as broker:
        faults = broker.faults.by_chance(faults_of(seed))
        async with (
            AdminClient(broker.bootstrap_servers, settings=QUICK) as admin,
            IdempotentProducer(broker, "producer") as producer,
            GroupMember(broker, "member") as member,
        ):
            sent: list[bytes] = []
            for number in range(ROUNDS):
                values = [b"%d.%d" % (number, at) for at in range(1 + number % 3)]
                await producer.produce("orders", values)
                sent += values
                await member.commit("billing", "orders", number)
                if (read := await member.committed("billing", "orders")) != number:
                    done.problems.append(f"committed {number}, read {read}")
                await administrate(admin, number, done)
            faults.remove()
            await broker.advance(0)  # until a restart is over
            done.seconds = broker.clock.seconds()
            done.requests = [str(request) for request in broker.requests]
            await check(broker, admin, sent, done)
    return done


async def administrate(admin: AdminClient, number: int, done: Run) -> None:
    name = f"topic-{number}"
    note(done, name, await admin.create_topics([NewTopic(name, num_partitions=2)]), exists=True)
    offsets = {TopicPartition("orders", 0): number}
    committed = await admin.alter_consumer_group_offsets("shipping", offsets)
    done.outcomes.append(names_of(committed))
    (error,) = committed.errors().values() or (None,)
    done.committed = [number] if error is None else [*done.committed, number]
    if number % 3 == 2:
        note(done, f"topic-{number - 1}", await admin.delete_topics([f"topic-{number - 1}"]), exists=False)


def note(done: Run, name: str, results: Results[K, V], *, exists: bool) -> None:
    """Remember what the answer says of a topic; what it leaves open may be either."""
    done.outcomes.append(names_of(results))
    (error,) = results.errors().values() or (None,)
    if error is None:
        done.topics[name] = exists
    elif error.outcome_unknown:
        done.topics.pop(name, None)
    else:  # nothing was changed
        done.topics.setdefault(name, False)


def names_of(results: Results[K, V]) -> dict[str, str]:
    return {str(item): type(error).__name__ for item, error in results.errors().items()}


async def check(broker: EmbeddedBroker, admin: AdminClient, sent: list[bytes], done: Run) -> None:
    async with StubbornClient(broker, "reader") as reader:
        values = await every_value(reader, "orders")
    if values != sent:
        done.problems.append(f"sent {sent}, found {values}")
    present = set(await admin.list_topics())
    done.problems += [f"{name}: {exists}" for name, exists in done.topics.items() if (name in present) is not exists]
    groups = await admin.list_consumer_group_offsets(["shipping"])
    offset = groups["shipping"].all()[TopicPartition("orders", 0)]
    if offset is None or offset.offset not in done.committed:
        done.problems.append(f"committed one of {done.committed}, found {offset}")


def outcome(seed: int) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(seed, Path(folder)))


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_acknowledged_is_kept_once(seed: int) -> None:
    assert not outcome(seed).problems


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_two_runs_of_one_seed_are_one(seed: int) -> None:
    """The same requests in the same order with the same errors, the same outcomes, at the same time of the clock."""
    first, second = outcome(seed), outcome(seed)
    assert first.requests == second.requests
    assert first.outcomes == second.outcomes
    assert first.seconds == second.seconds
