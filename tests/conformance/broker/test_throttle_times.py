"""Throttle times: those of Kafka's own quota managers, on the same course of events."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Final

import msgspec
import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool

from kafkawire.broker.clock import ManualClock
from kafkawire.broker.plugins.client_quota_callback import ClientQuotaType
from kafkawire.broker.quotas.client_quotas import ClientQuotas
from kafkawire.broker.quotas.rate import QuotaWindows
from kafkawire.broker.requests import Call
from kafkawire.broker.served_apis import RELEASE
from kafkawire.broker.sessions import Principal, Session
from kafkawire.protocol import ClientQuotaRecord
from kafkawire.protocol.errors import ThrottlingQuotaExceededError

pytestmark = pytest.mark.conformance

_SOURCES: Final = Path(__file__).parent / "clocked"
_USERS: Final = ("u", "v")
_CLIENTS: Final = ("c", "d")
_ENTITIES: Final = [(u, c) for u in (None, "", *_USERS) for c in (None, "", *_CLIENTS) if (u, c) != (None, None)]
_UNIT: Final = {"PRODUCE": 1000.0, "FETCH": 1000.0, "REQUEST": 100 / 64, "CONTROLLER_MUTATION": 1.0}

Step = tuple[int, str, str | None, str | None, float | None]


class Course(msgspec.Struct):
    """What happens to one kind of quota, one step after the other."""

    kind: str
    samples: int
    window: int
    steps: list[Step]


def test_throttle_times_are_those_of_kafka(tmp_path: Path) -> None:
    """D12 to D15."""
    dice = random.Random(219)
    courses = [_course(dice, kind.name) for kind in ClientQuotaType for _ in range(60)]
    file = tmp_path / "courses.jsonl"
    file.write_bytes(msgspec.json.Encoder().encode_lines(courses))
    lines = run_tool(RELEASE, "ThrottleTimes", str(file), plugins=[compiled(RELEASE, _SOURCES)]).splitlines()
    throttled = 0
    for course, line in zip(courses, lines, strict=True):
        said = msgspec.json.decode(line, type=list[float | None])
        ours = _outcomes(course)
        for number, (mine, kafkas) in enumerate(zip(ours, said, strict=True)):
            assert mine == kafkas, (course.kind, course.samples, course.window, course.steps[: number + 1])
            throttled += bool(mine)
    assert throttled > 1000


def _course(dice: random.Random, kind: str) -> Course:
    """Bursts and pauses, with quotas that come, change and go."""
    unit = _UNIT[kind]
    steps: list[Step] = []
    uses = {"CONTROLLER_MUTATION": ("strict", "permissive"), "REQUEST": ("record",)}.get(
        kind, ("record", "record", "unrecord", "most")
    )
    for _ in range(dice.randrange(20, 120)):
        wait = dice.choice((0, 0, 1, 7, 100, 999, 1000, 1001, dice.randrange(5000), dice.randrange(60_000)))
        if dice.random() < 0.15 or not steps:
            entity = dice.choice(_ENTITIES)
            limit = None if dice.random() < 0.3 else unit * dice.choice((1, 2, 5, 0.5, 100))
            steps.append((wait, "quota", *entity, limit))
        else:
            value = unit * dice.choice((0, 1, 1, 3, 10, 50))
            steps.append((wait, dice.choice(uses), dice.choice(_USERS), dice.choice(_CLIENTS), value))
    return Course(kind, dice.choice((11, 11, 2, 5)), dice.choice((1, 1, 3)), steps)


def _outcomes(course: Course) -> Sequence[float | None]:
    clock = ManualClock()
    windows = QuotaWindows(course.samples, course.window * 1000)
    quotas = ClientQuotas(clock, windows=windows, mutation_windows=windows)
    return [_outcome(quotas, course.kind, clock, step) for step in course.steps]


def _outcome(quotas: ClientQuotas, kind: str, clock: ManualClock, step: Step) -> float | None:
    wait, what, user, client, number = step
    clock.advance(wait / 1000)
    if what == "quota":
        parts = [("user", user), ("client-id", client)]
        entity = tuple(ClientQuotaRecord.EntityData(part, name or None) for part, name in parts if name is not None)
        key = ClientQuotaType[kind].value
        quotas.apply(ClientQuotaRecord(entity, key, number or 0.0, remove=number is None))
        return 0
    session = Session(Principal(user or ""), "127.0.0.1", "PLAINTEXT")
    assert client is not None
    assert number is not None
    if what in {"strict", "permissive"}:
        return _changed(quotas, Call(19, 6 if what == "strict" else 5, client, session), int(number))
    if kind == "REQUEST":
        return quotas.request.record(session, client, number / 100)
    rates = quotas.produce if kind == "PRODUCE" else quotas.fetch
    match what:
        case "record":
            return rates.record(session, client, int(number))
        case "unrecord":
            rates.unrecord(session, client, int(number))
            return 0
        case _:
            most = rates.most(session, client)
            return None if most == inf else most


def _changed(quotas: ClientQuotas, call: Call, partitions: int) -> int:
    quota = quotas.mutations.quota_of(call, strict_since=6)
    try:
        quota.take(partitions)
    except ThrottlingQuotaExceededError:
        return -quota.throttle_time_ms
    return quota.throttle_time_ms
