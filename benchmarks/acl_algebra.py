"""Time and memory of what can be said of a cluster's ACLs: ``python -m benchmarks.acl_algebra [ACLS]``.

Prints effects of changes, a review and a minimal set of ACLs as organisations have them; by default of 250 000.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tests.made.acl_sets import APPLICATIONS, TEAMS, TOPICS, changed, organisation

from benchmarks.processes import peak_memory
from kafkawire.model.acls.bindings import AclBinding, AclOperation, AclPermissionType, PatternType, ResourceType
from kafkawire.model.acls.effects import acl_effects
from kafkawire.model.acls.minimal_set import minimise_acls
from kafkawire.model.acls.review import review_acls

_ACLS = 250_000
_OF_A_CHANGE = 1_000
_RUNS = 3
"""Printed are the least processor time of these runs, and the memory and the clock of the first."""


def _one_thousand(acls: list[AclBinding]) -> str:
    found = acl_effects(acls, changed(acls, _OF_A_CHANGE))
    return f"{len(found.effects)} effects, {len(found.sentences())} sentences"


def _everyone(acls: list[AclBinding]) -> str:
    added = AclBinding(ResourceType.TOPIC, "*", "User:*", AclOperation.READ)
    return f"{len(acl_effects(acls, [*acls, added]).effects)} effects"


def _prefixes(acls: list[AclBinding]) -> str:
    added = [
        AclBinding(ResourceType.TOPIC, f"team{n:03}-", "User:*", AclOperation.WRITE, pattern_type=PatternType.PREFIXED)
        for n in range(TEAMS)
    ]
    return f"{len(acl_effects(acls, [*acls, *added]).effects)} effects"


def _denial(acls: list[AclBinding]) -> str:
    added = AclBinding(ResourceType.TOPIC, "*", "User:*", AclOperation.DELETE, AclPermissionType.DENY)
    return f"{len(acl_effects(acls, [*acls, added]).effects)} effects"


def _denial_from_a_host(acls: list[AclBinding]) -> str:
    added = AclBinding(ResourceType.TOPIC, "*", "User:*", AclOperation.ALL, AclPermissionType.DENY, "10.0.0.3")
    return f"{len(acl_effects(acls, [*acls, added]).effects)} effects"


def _each_user(acls: list[AclBinding]) -> str:
    users = {acl.principal for acl in acls} - {"User:*"}
    added = [AclBinding(ResourceType.TOPIC, "*", user, AclOperation.READ) for user in users]
    return f"{len(acl_effects(acls, [*acls, *added]).effects)} effects"


def _reviewed(acls: list[AclBinding]) -> str:
    topics = {f"team{team:03}-topic{topic}" for team in range(TEAMS) for topic in range(TOPICS * 3 // 4)}
    users = {f"User:team{team:03}-app{app}" for team in range(TEAMS) for app in range(APPLICATIONS * 9 // 10)}
    return f"{len(review_acls(acls, topics=topics, users=users))} findings"


def _minimised(acls: list[AclBinding]) -> str:
    smallest = minimise_acls(acls)
    return f"{len(smallest.acls)} are enough, the smallest choice: {smallest.is_smallest}"


CHANGE = f"effects of a change of {_OF_A_CHANGE}"
REVIEW = "review"

WORK: Mapping[str, Callable[[list[AclBinding]], str]] = {
    CHANGE: _one_thousand,
    "effects: everyone may read all topics": _everyone,
    f"effects: everyone may write to {TEAMS} prefixes": _prefixes,
    "effects: no one may delete topics": _denial,
    "effects: no one may do anything from a host": _denial_from_a_host,
    "effects: each user may read all topics": _each_user,
    REVIEW: _reviewed,
    "minimal set, with its proof": _minimised,
}


class Worked(NamedTuple):
    """What some work took.

    Attributes:
        seconds, processor_seconds: elapsed, and of the processor.
        memory: bytes at most, beside the ACLs themselves.
        found: what it found, in words.
    """

    seconds: float
    processor_seconds: float
    memory: int
    found: str


def worked(name: str, count: int) -> Worked:
    """Measure some work in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.acl_algebra", str(count), name]
    return Worked(*json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure each, and print a line for it; with a name only that one in this process, and print JSON."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    count = int(words[0]) if words else _ACLS
    if len(words) > 1:
        print(json.dumps(_measured(words[1], count)))
        return
    for name in WORK:
        one = worked(name, count)
        print(
            f"{name:45} {one.seconds:7.2f} s ({one.processor_seconds:.2f} s of CPU) "
            f"{one.memory / 1024 / 1024:7.0f} MiB  {one.found}",
            flush=True,
        )


def _measured(name: str, count: int) -> Worked:
    acls = organisation(count)
    before = peak_memory()
    begin, begin_cpu = time.perf_counter(), time.process_time()
    found = WORK[name](acls)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    for _ in range(_RUNS - 1):
        again = time.process_time()
        WORK[name](acls)
        cpu = min(cpu, time.process_time() - again)
    return Worked(seconds, cpu, peak_memory() - before, found)


if __name__ == "__main__":
    main()
