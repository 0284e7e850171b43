"""The deliveries of share groups, combined by Apache Kafka's share coordinator and by the history."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.apache_kafka.releases import newest_broker_release

from kafkawire.logs.histories.share_deliveries import Deliveries, combined, deliveries, times_and_state
from kafkawire.protocol import ShareUpdateValue

pytestmark = pytest.mark.conformance

_SOURCES: Final = Path(__file__).parent / "share_deliveries"
_TRIALS: Final = 3000
_Batch: TypeAlias = tuple[int, int, int, int]
"""First and last offset, state, number of deliveries."""


class _Trial(msgspec.Struct, frozen=True):
    before: tuple[_Batch, ...]
    now: tuple[_Batch, ...]
    start_offset: int


def test_deliveries_are_combined_as_by_kafka(tmp_path: Path) -> None:
    dice = random.Random(932)
    trials = [_trial(dice) for _ in range(_TRIALS)]
    file = tmp_path / "questions.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines(trials))
    release = newest_broker_release()
    answers = run_tool(release, "ShareDeliveries", str(file), plugins=[compiled(release, _SOURCES)]).splitlines()
    for trial, answer in zip(trials, answers, strict=True):
        ours = combined(_ours(trial.before), _ours(trial.now), trial.start_offset)
        theirs = combined((), _ours(msgspec.json.decode(answer, type=list[_Batch])), -1)
        assert ours == theirs, trial
        assert _by_offset(answer) == {
            at: times_and_state(delivery) for first, last, delivery in ours for at in range(first, last + 1)
        }, trial


def _trial(dice: random.Random) -> _Trial:
    def batches(most: int) -> tuple[_Batch, ...]:
        found = []
        for _ in range(dice.randrange(most)):
            first = dice.randrange(20)
            found.append((first, first + dice.randrange(8), dice.choice((0, 2, 4)), dice.randrange(1, 4)))
        return tuple(found)

    return _Trial(batches(6), batches(6), dice.choice((-1, -1, 0, 3, 10, 40)))


def _ours(batches: Iterable[_Batch]) -> Deliveries:
    return deliveries(ShareUpdateValue.StateBatch(*batch) for batch in batches)


def _by_offset(answer: str) -> dict[int, tuple[int, int]]:
    """No batch of the answer overlaps another."""
    found: dict[int, tuple[int, int]] = {}
    for first, last, state, count in msgspec.json.decode(answer, type=list[_Batch]):
        for at in range(first, last + 1):
            assert at not in found
            found[at] = (count, state)
    return found
