"""The page of results: the measurements, the machine, and whether the targets are met."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from benchmarks.results import FLOORS, JAVA, KAFKA_PYTHON, KIO, OURS, PEERS, Alone, Measurement, Spread, Target

SECTIONS = {
    "decode": "Decoding",
    "encode": "Encoding",
    "decode floor": "Decoding beside the generated Python and Java",
    "encode floor": "Encoding beside the generated Python, Java, another format and a copy",
    "import": "Import in a fresh process",
    "generate": "Generating the protocol",
    "compare": "Comparing two releases",
}

OTHER_PAGES = """\
These are the benchmarks of the codec. See also: [the admin client](admin.md), [the embedded broker](broker.md),
[tables of logs](logs.md), [the command line](commands.md) and [Spark](spark.md)."""

METHOD = f"""\
All contenders process the same bytes in the same process, in turn (A B C A B C ...). Before a case is measured, a
check verifies that each contender decodes our bytes and encodes them to the same bytes. Times are medians of all
rounds: processor time where one process does the work, elapsed time where each round starts a new one. *Speed-up* is
the peer's time divided by ours, computed for each round: above 1 {OURS} is faster. The quartiles of the rounds are in
parentheses. The garbage collector is on; the cost of a contender's own objects is part of its time. The cost of the
measuring loop, measured with an empty call beside each slice, is subtracted.

{KIO}'s decoder is native code (Rust), its encoder is Python. {KAFKA_PYTHON} compiles Python functions for each
version. {OURS} runs its native engine (C), which interprets the layouts of messages; two sections have the generated
Python and {JAVA} too: Apache Kafka's own classes, warm, in a process whose thread measures its own time. Their garbage
collector does not count."""


def page(
    measurements: Sequence[Measurement], facts: Sequence[tuple[str, str]], charts: Sequence[tuple[str, str]]
) -> str:
    """The whole page in Markdown.

    Args:
        measurements: all results.
        facts: label and value of each fact that the figures depend on.
        charts: file and alternative text of each picture.
    """
    parts = [
        "# Benchmarks",
        "`make bench` wrote this page. The figures depend on the machine, the ratios much less so.",
    ]
    parts.append(OTHER_PAGES)
    parts.append("\n".join(f"* {label}: {value}" for label, value in facts))
    parts += [f"![{text}]({file})" for file, text in charts]
    parts.append(METHOD)
    for kind, title in SECTIONS.items():
        chosen = [measurement for measurement in measurements if measurement.kind == kind]
        if chosen:
            peers = peers_of(kind)
            parts += [f"## {title}", in_words(chosen, peers), "\n".join(table(chosen, peers)), *notes(chosen)]
    return "\n\n".join(parts) + "\n"


def peers_of(kind: str) -> Sequence[str]:
    """All peers of a section."""
    return FLOORS if kind.endswith(" floor") else PEERS


def in_words(measurements: Sequence[Measurement], candidates: Sequence[str] = PEERS) -> str:
    """The result of a table in a line: the speed-up over each peer, and whether the targets are met.

    Args:
        measurements: the rows.
        candidates: all peers.
    """
    parts = []
    for peer in candidates:
        ratios = [one.speed_up(peer).median for one in measurements if peer in one.seconds]
        if ratios:
            low, high = _rounded(min(ratios)), _rounded(max(ratios))
            faster = sum(ratio > 1 for ratio in ratios)
            often = f" (above 1 in {faster} of {len(ratios)} cases)" if len(ratios) > 1 else ""
            parts.append(f"{low if low == high else f'{low} to {high}'} over {peer}{often}")
    missed = any(one.missed() for one in measurements)
    targets = "Missed targets have a ✗." if missed else "All targets are met."
    return textwrap.fill(f"The speed-up is {', '.join(parts)}. {targets}", 120) if parts else targets


def _rounded(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.2g}"


def table(measurements: Sequence[Measurement], candidates: Sequence[str] = PEERS, own: str = OURS) -> list[str]:
    """The lines of a Markdown table, one row for each measurement.

    Args:
        measurements: the rows.
        candidates: all peers; each has columns if a row has it.
        own: the heading of our column.
    """
    peers = [peer for peer in candidates if any(peer in one.seconds for one in measurements)] or list(candidates)
    heads = ["", own, *peers, *(f"speed-up over {peer}" for peer in peers), "target"]
    lines = [f"|{'|'.join(f' {head} ' if head else ' ' for head in heads)}|"]
    lines.append(f"| --- |{' ---: |' * (1 + 2 * len(peers))} --- |")
    for one in measurements:
        times = [_time(one.time(name).median) if name in one.seconds else "-" for name in (OURS, *peers)]
        ratios = [_ratio(one.speed_up(peer)) if peer in one.seconds else "-" for peer in peers]
        lines.append(f"| {' | '.join([one.case, *times, *ratios, verdict(one)])} |")
    return lines


def alone_table(measurements: Sequence[Alone]) -> list[str]:
    """The lines of a Markdown table of times and memory, one row for each measurement."""
    lines = [f"| | {OURS} | quartiles | memory | target |", "| --- | ---: | ---: | ---: | --- |"]
    for one in measurements:
        taken = one.time(OURS)
        memory = "-" if one.peak is None else f"{one.peak / 1024 / 1024:.0f} MiB"
        cells = [one.case, _time(taken.median), f"{_time(taken.low)} to {_time(taken.high)}", memory, verdict(one)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def verdict(measurement: Measurement) -> str:
    """The targets of a measurement, each with a mark."""
    words = []
    for target in measurement.targets:
        reached = measurement.reaches(target)
        if reached is not None:
            words.append(f"{'✓' if reached else '✗'} {_goal(target)}")
    return ", ".join(words)


def _goal(target: Target) -> str:
    if target.peer is None:
        return f"at most {target.bound:g} s"
    return f"{target.bound:.3g} x {target.peer}"


def _time(seconds: float) -> str:
    if seconds >= 1000:
        return f"{_figure(seconds)} s"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _ratio(ratio: Spread) -> str:
    return f"**{_figure(ratio.median)}** ({_figure(ratio.low)} to {_figure(ratio.high)})"


def _figure(value: float) -> str:
    """Three digits, or all of a whole number that has more."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def notes(measurements: Iterable[Measurement]) -> list[str]:
    """The notes of measurements, a paragraph each."""
    return [f"{one.case}: {note}." for one in measurements for note in one.notes]
