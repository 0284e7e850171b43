"""The page has partitions only while something is wrong with them, so its size follows what went wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.browser.report_data import data_of, rows_of
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.cli.app import main
from kafkawire.layout import Uuid
from kafkawire.protocol import PartitionChangeRecord, PartitionRecord, TopicRecord

_ID = Uuid(b"t" * 16)
_PARTITIONS = 500


def _write(folder: Path, *, shrunk: int) -> None:
    """A topic whose leaders move once; then the first partitions lose a replica, which comes back."""
    created = [PartitionRecord(each, _ID, (1, 2), (1, 2), leader=1, leader_epoch=0) for each in range(_PARTITIONS)]
    moved = [PartitionChangeRecord(each, _ID, leader=2) for each in range(_PARTITIONS)]
    lost = [PartitionChangeRecord(each, _ID, isr=(2,)) for each in range(shrunk)]
    back = [PartitionChangeRecord(each, _ID, isr=(1, 2)) for each in range(1, shrunk)]
    steps = [Step(1000, (TopicRecord("orders", _ID), *created)), Step(2000, tuple(moved))]
    steps += [Step(time, tuple(records)) for time, records in ((3000, lost), (4000, back)) if records]
    write_segment(folder / METADATA_LOG, 0, steps)


@pytest.mark.parametrize("most", [100_000, 20])
def test_only_unhealthy_partitions_are_on_the_page(tmp_path: Path, most: int) -> None:
    _write(tmp_path / "logs", shrunk=50)
    page = tmp_path / "report.html"
    assert main(["report", "logs", str(tmp_path / "logs"), "--out", str(page), "--max-rows", str(most)]) == 0
    data = data_of(page)
    rows = rows_of(data, "partitions")
    assert len(rows) == 1 + min(most, 49)
    assert {row["state"] for row in rows} == {"under-replicated"}
    (still,) = (row for row in rows if row["to"] is None)
    assert [still[name] for name in ("topic", "partition", "leader", "isr", "replicas", "from")] == [
        *("orders", 0, "2", "2", "1, 2"),
        3000,
    ]
    (numbers,) = data["sections"]["partitions"]["numbers"]
    assert (numbers["rows"], numbers["things"]) == (50, 50)


def test_healthy_partitions_do_not_make_the_page_larger(tmp_path: Path) -> None:
    sizes = []
    for name, shrunk in (("healthy", 0), ("one", 1)):
        _write(tmp_path / name, shrunk=shrunk)
        page = tmp_path / f"{name}.html"
        assert main(["report", "logs", str(tmp_path / name), "--out", str(page)]) == 0
        sizes.append(page.stat().st_size)
    healthy, one = sizes
    assert 0 < one - healthy < 1000
