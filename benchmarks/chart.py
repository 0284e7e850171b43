"""A picture of the speed-ups: a row for each message, a dot for each library, on a logarithmic axis.

Plain SVG, readable on light and dark pages: it has no background, and its colours follow the reader's scheme.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from benchmarks.results import OURS, PEERS, Measurement

WIDTH = 760
LEFT = 290
RIGHT = 60
ROW = 48
TOP = 74
BOTTOM = 40
TICKS = (0.125, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128)

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 15px }
.small { font-size: 11px; fill: #656d76 }
.value { font-size: 11px }
.grid { stroke: #d0d7de; stroke-width: 1 }
.base { stroke: #1a7f37; stroke-width: 2 }
.kafkawire { fill: #1a7f37 }
.kio { fill: #bc4c00 }
.kafka-python { fill: #0969da }
.confluent-kafka { fill: #8250df }
.aiokafka { fill: #bf3989 }
.Java { fill: #bc4c00 }
.span { stroke-width: 2; stroke: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .small { fill: #9198a1 }
  .grid { stroke: #3d444d }
  .base { stroke: #3fb950 }
  .kafkawire { fill: #3fb950 }
  .kio { fill: #f0883e }
  .kafka-python { fill: #58a6ff }
  .confluent-kafka { fill: #bc8cff }
  .aiokafka { fill: #f778ba }
  .Java { fill: #f0883e }
}
"""


def speed_up_chart(title: str, measurements: Sequence[Measurement], candidates: Sequence[str] = PEERS) -> str:
    """The picture as SVG text.

    Args:
        title: of the picture.
        measurements: a row for each one that has peers.
        candidates: all peers; the figure of the first one in a row stands above its dot.
    """
    rows = [one for one in measurements if any(peer in one.seconds for peer in candidates)]
    peers = [peer for peer in candidates if any(peer in one.seconds for one in rows)]
    ticks = _ticks(rows, peers)
    bottom = TOP + ROW * len(rows)
    height = bottom + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<text class="title" x="12" y="24">{escape(title)}</text>',
        *_legend(peers),
    ]
    for tick in ticks:
        x = _position(tick, ticks)
        parts.append(f'<line class="{"base" if tick == 1 else "grid"}" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="small" x="{x}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    parts.append(
        f'<text class="small" x="{WIDTH - RIGHT}" y="{bottom + 33}" text-anchor="end">'
        f"time taken, {OURS} = 1 (logarithmic; further left is faster)</text>"
    )
    for number, one in enumerate(rows):
        parts += _row(one, peers, TOP + ROW * number + ROW // 2, ticks)
    return "\n".join([*parts, "</svg>\n"])


def _row(one: Measurement, peers: Sequence[str], y: int, ticks: Sequence[float]) -> list[str]:
    name, _, size = one.case.partition(": ")
    parts = [
        f'<text x="12" y="{y - 2}">{escape(name)}</text>',
        f'<text class="small" x="12" y="{y + 13}">{escape(size)}</text>',
    ]
    ratios = {OURS: 1.0} | {peer: one.speed_up(peer).median for peer in peers if peer in one.seconds}
    places = {contender: _position(ratio, ticks) for contender, ratio in ratios.items()}
    parts.append(
        f'<line class="span" x1="{min(places.values())}" x2="{max(places.values())}" y1="{y + 5}" y2="{y + 5}"/>'
    )
    for contender, x in places.items():
        parts.append(f'<circle class="{contender}" cx="{x}" cy="{y + 5}" r="6"/>')
        if contender != OURS:
            above = peers.index(contender) % 2 == 0
            parts.append(_label(ratios[contender], x, y - 6 if above else y + 24))
    return parts


def _label(ratio: float, x: float, top: int) -> str:
    """The ratio: above the dot for one peer and below for the next, and never on the line of 1."""
    anchor = "middle" if not 0.85 < ratio < 1.15 else "end" if ratio < 1 else "start"
    return f'<text class="value" x="{x}" y="{top}" text-anchor="{anchor}">{ratio:.2g}</text>'


def _legend(peers: Sequence[str]) -> list[str]:
    parts = []
    x = LEFT
    for contender in (OURS, *peers):
        parts.append(f'<circle class="{contender}" cx="{x}" cy="48" r="6"/>')
        parts.append(f'<text x="{x + 12}" y="52">{contender}</text>')
        x += 26 + 8 * len(contender)
    return parts


def _ticks(rows: Sequence[Measurement], peers: Sequence[str]) -> list[float]:
    ratios = [one.speed_up(peer).median for one in rows for peer in peers if peer in one.seconds]
    low, high = min([1.0, *ratios]), max([1.0, *ratios])
    first = max((tick for tick in TICKS if tick <= low), default=TICKS[0])
    last = min((tick for tick in TICKS if tick >= high), default=TICKS[-1])
    return [tick for tick in TICKS if first <= tick <= last]


def _position(ratio: float, ticks: Sequence[float]) -> float:
    share = math.log(ratio / ticks[0]) / math.log(ticks[-1] / ticks[0])
    return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)
