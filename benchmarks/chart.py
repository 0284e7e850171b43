"""Pictures of the speed-ups, drawn by Matplotlib: a block for each case with a line and a dot for each library.

A picture is as narrow as a phone's screen, where its letters are still 9 pixels high. Names and figures have columns of
their own, so that nothing overlaps.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from io import StringIO
from math import log2
from statistics import geometric_mean
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.results import AIOKAFKA, CONFLUENT, JAVA, KAFKA, KAFKA_PYTHON, KIO, OURS, PEERS, Measurement

WIDTH: Final = 400.0
"""Points. A page of 400 pixels has 368 for a picture."""

SIZE: Final = 10.5
"""Points of all letters."""

LINE: Final = 15.0
"""Points from one line to the next."""

NAMES: Final = 0.29
"""The share of the width that the names of libraries have, on the left; figures have `FIGURES` on the right."""

FIGURES: Final = 0.12
LETTERS: Final = 58
"""Letters of a case that fit into a line."""

GRAY: Final = "#777777"
COLOURS: Final = {KIO: "#d9730d", KAFKA_PYTHON: "#3b82f6", CONFLUENT: "#a371f7", AIOKAFKA: "#db61a2"} | dict.fromkeys(
    (JAVA, KAFKA), "#d9730d"
)
OTHER: Final = "#3b82f6"
OUR_COLOUR: Final = "#2da44e"

STYLE: Final = "text{fill:#24292f !important}@media(prefers-color-scheme:dark){text{fill:#e6edf3 !important}}"
"""Letters follow the scheme of the page; the other colours can be read on white and on black."""


def speed_up_chart(title: str, measurements: Sequence[Measurement], candidates: Sequence[str] = PEERS) -> str:
    """The picture as SVG text.

    Args:
        title: of the picture.
        measurements: a block for each one that has peers, those with the greatest speed-up first.
        candidates: all peers.
    """
    written = StringIO()
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": title}):
        drawn(title, measurements, candidates).savefig(
            written, format="svg", transparent=True, metadata={"Date": None, "Title": title}
        )
    # Matplotlib leaves blanks at the ends of lines.
    lines = (line.rstrip() for line in written.getvalue().splitlines())
    return "\n".join(lines).replace("<defs>", f"<style>{STYLE}</style>\n <defs>", 1) + "\n"


def drawn(title: str, measurements: Sequence[Measurement], candidates: Sequence[str] = PEERS) -> Figure:
    """The picture; see `speed_up_chart`."""
    blocks = [(one, ratios) for one in measurements if (ratios := _ratios(one, candidates))]
    blocks.sort(key=lambda block: -geometric_mean(block[1].values()))
    heads = [textwrap.wrap(one.case, LETTERS) for one, _ in blocks]
    lines = sum(len(head) + 1 + len(ratios) + 0.5 for head, (_, ratios) in zip(heads, blocks, strict=True))
    height = (lines + 5) * LINE
    figure = Figure(figsize=(WIDTH / 72, height / 72))
    axes = figure.add_axes((NAMES, 2.6 * LINE / height, 1 - NAMES - FIGURES, lines * LINE / height))
    axes.set_ylim(lines, 0)
    figure.text(0.01, 1 - 1.2 * LINE / height, title, size=SIZE + 2, weight="bold", color=GRAY, va="center")
    figure.text(0.01, 0.8 * LINE / height, f"time taken; {OURS} = 1, further left is faster", size=SIZE, color=GRAY)
    ticks = _scale(axes, [ratio for _, ratios in blocks for ratio in ratios.values()])
    y = 0.0
    for head, (_, ratios) in zip(heads, blocks, strict=True):
        for words in head:
            _write(axes, 0.01, y, words, weight="bold")
            y += 1
        axes.vlines(ticks, y, y + len(ratios) + 1, color=GRAY, alpha=0.3, linewidth=0.8)
        axes.vlines([1], y, y + len(ratios) + 1, color=OUR_COLOUR, linewidth=1.5)
        for name, ratio in ({OURS: 1.0} | ratios).items():
            _write(axes, 0.03, y, name)
            _write(axes, 0.99, y, f"{ratio:.2g}", align="right")
            colour = OUR_COLOUR if name == OURS else COLOURS.get(name, OTHER)
            axes.plot([1, ratio], [y + 0.5] * 2, color=colour, linewidth=1.5)
            axes.plot([ratio], [y + 0.5], "o", color=colour, markersize=7, gid=f"{name}: {ratio:.3g}")
            y += 1
        y += 0.5
    return figure


def _ratios(measurement: Measurement, candidates: Sequence[str]) -> dict[str, float]:
    """The time of each peer that was measured, as a multiple of ours."""
    return {peer: measurement.speed_up(peer).median for peer in candidates if peer in measurement.seconds}


def _write(axes: Axes, x: float, line: float, words: str, *, align: str = "left", weight: str = "normal") -> None:
    """Write into a line, from a share of the figure's width."""
    place = axes.figure.transFigure.transform((x, 0))[0]
    share = axes.transAxes.inverted().transform((place, 0))[0]
    axes.text(
        share, line + 0.5, words, transform=axes.get_yaxis_transform(),
        size=SIZE, color=GRAY, ha=align, va="center", weight=weight,
    )  # fmt: skip


def _scale(axes: Axes, ratios: Sequence[float]) -> list[float]:
    """Set the axis: from a quarter below the smallest ratio to a quarter above the greatest. Returns its marks."""
    low, high = min([1.0, *ratios]) / 1.25, max([1.0, *ratios]) * 1.25
    step = 1 + int(log2(high / low) // 6)
    ticks = [2.0**power for power in range(-12, 13) if low <= 2.0**power <= high and power % step == 0]
    axes.set_xscale("log", base=2)
    axes.set_xlim(low, high)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], size=SIZE, color=GRAY)
    axes.set_yticks([])
    axes.tick_params(axis="x", which="both", length=0)
    axes.minorticks_off()
    for side in axes.spines.values():
        side.set_visible(False)
    return ticks
