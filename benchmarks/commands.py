"""The command line: its start, descriptions beside Kafka's tools, plan and apply, and what ACLs mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks import acl_algebra, batches, command_start, command_tools, plan_apply, twin_start
from benchmarks.results import KAFKA, OURS, Alone, Measurement, Target

MEANING: Final = "meaning of ACLs"
_EXTENT: Final = command_tools.Extent(topics=100, acls=1000, users=1000)
_OF_EFFECTS: Final = (Target(None, 2),)
_OF_OTHERS: Final = (Target(None, 10),)


@dataclass(frozen=True)
class Load:
    """The size of the benchmark.

    Attributes:
        starts: rounds of each start; the other numbers of rounds are for work that takes longer.
        described: rounds of each description.
        extent: what the broker has that descriptions are about.
        loops: rounds of one apply and one loop of kafka-configs.
        users, looped: whose quotas one apply sets, and one loop.
        documents: rounds of each plan and apply of ACLs.
        new, present: ACLs that are applied, and those beside them.
        items: items of a plan.
        acls: ACLs of a cluster whose meaning is found, smallest first.
        filters: filters of a batch.
    """

    starts: int = 21
    described: int = 7
    extent: command_tools.Extent = _EXTENT
    loops: int = 5
    users: int = 1000
    looped: int = 4
    documents: int = 3
    new: int = 1000
    present: int = 80_000
    items: int = 100_000
    acls: tuple[int, ...] = (125_000, 250_000)
    filters: int = 500


SMALL: Final = Load(
    starts=1,
    described=1,
    extent=command_tools.Extent(topics=2, acls=5, users=5),
    loops=1,
    users=5,
    looped=1,
    documents=1,
    new=5,
    present=10,
    items=100,
    acls=(2000,),
    filters=5,
)
"""For a trial of the benchmark."""


def run(rounds: int, load: Load) -> Iterator[Measurement]:
    """Measure everything.

    Args:
        rounds: the most of any measurement.
        load: the size.
    """
    yield from command_start.run(min(rounds, load.starts))
    with TemporaryDirectory() as folder:
        yield from command_tools.run(min(rounds, load.described), load.extent, Path(folder) / "kafka")
    yield plan_apply.quotas(min(rounds, load.loops), load.users, load.looped)
    yield plan_apply.acls(min(rounds, load.documents), load.new, load.present)
    yield from plan_apply.items(min(rounds, load.documents), load.items)
    yield from _meanings(min(rounds, load.documents), load.acls)
    with TemporaryDirectory() as folder:
        yield from batches.run(min(rounds, load.starts), load.filters, Path(folder) / "broker")


def peers(kind: str) -> tuple[str, ...]:
    """The peers of a kind of measurement."""
    return {
        command_start.KIND: command_start.OTHERS,
        command_tools.KIND: command_tools.OTHERS,
        plan_apply.QUOTAS: (KAFKA,),
        batches.KIND: batches.OTHERS,
    }.get(kind, ())


def _meanings(rounds: int, counts: tuple[int, ...]) -> Iterator[Alone]:
    for count in counts:
        of = f"{count:,} ACLs".replace(",", " ")
        for name, targets in ((acl_algebra.CHANGE, _OF_EFFECTS), (acl_algebra.REVIEW, _OF_OTHERS)):
            worked = [acl_algebra.worked(name, count) for _ in range(rounds)]
            yield _alone(f"{of}: {name}", [one.seconds for one in worked], [one.memory for one in worked], targets)
        started = twin_start.starts(count, rounds)
        case = f"{of}: a twin is ready"
        yield _alone(case, [one.seconds for one in started], [one.memory for one in started], _OF_OTHERS)


def _alone(case: str, seconds: Sequence[float], memory: Sequence[int], targets: tuple[Target, ...]) -> Alone:
    return Alone(MEANING, case, {OURS: tuple(seconds)}, targets, peak=max(memory))
