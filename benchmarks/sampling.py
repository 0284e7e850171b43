"""Time contenders in turn, so that changes in the speed of the machine affect all of them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

Call = Callable[[], object]


@dataclass(frozen=True)
class Waiting:
    """A contender that measures its own time, in another process.

    Attributes:
        seconds: runs it once and returns the seconds that it took.
    """

    seconds: Callable[[], float]


@dataclass(frozen=True)
class Effort:
    """The number of calls to measure.

    Attributes:
        rounds: rounds of all contenders (A B C A B C ...) that count, after one that does not.
        slice_seconds: least time of a contender in a round, filled with calls.
        slice_calls: least calls of a contender in a round: enough for the collector's older generations.
        keep: number of results that are held at the same time. With 1 each result is dropped before the next call.
    """

    rounds: int = 21
    slice_seconds: float = 0.05
    slice_calls: int = 5
    keep: int = 1


def interleave(contenders: Mapping[str, Call | Waiting], effort: Effort) -> dict[str, tuple[float, ...]]:
    """Seconds of processor time per call for each round and contender; one in another process measures its own.

    The garbage collector is on, as for users. It also runs between slices, outside of the measured time, so that no
    contender pays for the objects of another; the cost of a contender's own objects is part of its slice.
    """
    least = max(effort.slice_calls, effort.keep)
    calls = {
        name: max(least, _calls_to_fill(call, effort.slice_seconds))
        for name, call in contenders.items()
        if not isinstance(call, Waiting)
    }
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(effort.rounds):
        for name, call in contenders.items():
            gc.collect()
            taken = call.seconds() if isinstance(call, Waiting) else _time_slice(call, calls[name], effort.keep)
            seconds[name].append(taken)
    return {name: tuple(values) for name, values in seconds.items()}


def interleave_waiting(contenders: Mapping[str, Call | Waiting], rounds: int) -> dict[str, tuple[float, ...]]:
    """Elapsed seconds until each contender has its answer, for each round, after a round that does not count.

    For work in another process, which processor time does not include. Results are dropped, and the garbage collector
    runs, outside of the measured time.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for round_number in range(rounds + 1):
        for name, contender in contenders.items():
            gc.collect()
            taken = contender.seconds() if isinstance(contender, Waiting) else _elapsed(contender)
            if round_number > 0:
                seconds[name].append(taken)
    return {name: tuple(values) for name, values in seconds.items()}


def _elapsed(call: Call) -> float:
    begin = time.perf_counter()
    result = call()
    taken = time.perf_counter() - begin
    del result
    return taken


def _calls_to_fill(call: Call, seconds: float) -> int:
    call()
    calls = 1
    while True:
        taken = _time_calls(call, calls, 1)
        if taken >= seconds:
            return calls
        calls = max(calls * 2, int(calls * seconds / max(taken, 1e-9)))


def _time_slice(call: Call, calls: int, keep: int) -> float:
    """Seconds per call without those of the measuring loop and of an empty call; at least a nanosecond."""
    return max((_time_calls(call, calls, keep) - _time_calls(_NOTHING, calls, keep)) / calls, 1e-9)


def _nothing(entity: object) -> object:
    return entity


_NOTHING = partial(_nothing, None)
"""An empty contender: a function of one argument that is already given."""


def _time_calls(call: Call, calls: int, keep: int) -> float:
    kept: list[object] = [None] * keep
    begin = time.process_time()
    for number in range(calls):
        kept[number % keep] = None
        kept[number % keep] = call()
    return time.process_time() - begin
