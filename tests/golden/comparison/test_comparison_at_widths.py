"""A comparison as terminals of three widths show it; no line is wider, and marks and values stay in their columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len

from kafkawire.admin import acl_effects
from kafkawire.cli.state.comparison_text import comparison_lines, folded
from kafkawire.declared.comparison import compare_states
from kafkawire.declared.log_state import read_log_state
from kafkawire.declared.state import ClusterState, TopicState

HERE = Path(__file__).parent
RIGHT = "log:/var/lib/kafka/data/__cluster_metadata-0@2026-11-20"
LOG = HERE.parents[1] / "fixtures" / "kafka-4.3.1" / "logs"

LONG = TopicState(
    partitions=3, configs={"leader.replication.throttled.replicas": ",".join(f"{each}:1" for each in range(60))}
)
WIDE = TopicState(partitions=1, configs={"retention.ms": "1", "cleanup.policy": ""})
UNSAFE = TopicState(configs={"retention.ms": "\x1b[31mred\n"})


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_comparison_fits(width: int, update_golden: bool) -> None:
    before = ClusterState(topics={"long": TopicState(partitions=2), "wide": WIDE})
    after = read_log_state(LOG)
    topics = {**after.topics, "long": LONG, "wide": TopicState(partitions=1), "unsafe": UNSAFE}
    items = compare_states(
        before, ClusterState(topics=topics, configs=after.configs, acls=after.acls, quotas=after.quotas)
    )
    lines = [
        part
        for line in comparison_lines("prod", RIGHT, items, acl_effects(before.acls, after.acls).sentences())
        for part in folded(line, width)
    ]
    assert max(map(cell_len, lines)) <= width
    text = "\n".join([*lines, ""])
    golden = HERE / f"{width}.txt"
    if update_golden:
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8"), "pytest tests/golden --update-golden writes the file; read its diff"
