"""The memory that the described ACLs of a large cluster take: at the peak of the call, and while they are kept.

Each number of ACLs is measured in two processes: in one Python counts its allocations, which slows it down and takes
memory itself; in the other the system counts the pages.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from tests.apache_kafka.loading import load_acls

from benchmarks.admin import loaded_broker
from benchmarks.processes import run_process

COUNTS = (62_500, 125_000, 250_000)
SMALL_COUNTS = (110, 220)
BYTES_OF_AN_ACL = 1024
"""The most bytes that an ACL may take at any time."""

GROWTH = 1.1
"""The most that an ACL may take among many, as a multiple of an ACL among few: memory is linear."""

_PROGRAM = """
import gc, json, sys, tracemalloc
from pathlib import Path
from kafkawire.model.acls.bindings import AclBindingFilter
from kafkawire.admin.client import BlockingAdminClient

def pages():
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return [int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM")]

address, traced = sys.argv[1], sys.argv[2] == "traced"
with BlockingAdminClient(address) as admin:
    admin.describe_acls([AclBindingFilter(principal="User:absent")])  # connects, and imports everything
    gc.collect()
    if traced:
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
    else:
        before, _ = pages()
    (acls,) = admin.describe_acls([AclBindingFilter()]).all().values()
    gc.collect()
    kept, peak = tracemalloc.get_traced_memory() if traced else pages()
    print(json.dumps([len(acls), kept - before, peak - before]))
"""


@dataclass(frozen=True)
class Memory:
    """The memory of some ACLs, in bytes.

    Attributes:
        acls: number of ACLs.
        kept, peak: allocations counted by Python, after the call and at their peak.
        resident, resident_peak: the same for the whole process, counted by the system.
    """

    acls: int
    kept: int
    peak: int
    resident: int
    resident_peak: int


def run(counts: tuple[int, ...] = COUNTS) -> Iterator[Memory]:
    """Measure each count, smallest first."""
    with loaded_broker(counts[0]) as broker:
        for count in counts:
            load_acls(broker, count)  # existing ACLs are kept
            yield Memory(count, *_measured(broker.address, "traced", count), *_measured(broker.address, "pages", count))


def table(measured: list[Memory]) -> list[str]:
    """The lines of a Markdown table: bytes for each ACL."""
    lines = [
        "| | allocated, kept | allocated, at most | resident, kept | resident, at most | target |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for one in measured:
        figures = [f"{value / one.acls:.0f} B" for value in (one.kept, one.peak, one.resident, one.resident_peak)]
        mark = "✓" if is_small(one) else "✗"
        lines.append(
            f"| {one.acls:,} ACLs".replace(",", " ") + f" | {' | '.join(figures)} | {mark} below 1 KiB an ACL |"
        )
    return lines


def is_small(measured: Memory) -> bool:
    """Whether an ACL takes less than the limit, at any time and in both counts."""
    return max(measured.peak, measured.resident_peak) < BYTES_OF_AN_ACL * measured.acls


def is_linear(measured: list[Memory]) -> bool:
    """Whether an ACL among many takes as much as one among few."""
    few, many = measured[0], measured[-1]
    return many.peak / many.acls <= GROWTH * few.peak / few.acls


def _measured(address: str, how: str, expected: int) -> tuple[int, int]:
    acls, kept, peak = json.loads(run_process(_PROGRAM, address, how))
    if acls != expected:
        raise RuntimeError(f"{acls} ACLs are described, and there are {expected}")
    return kept, peak
