"""A twin at a date has the state that the tables of histories have at that date: two readers of logs agree."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.made.logs import METADATA_LOG

from kafkawire.admin import BlockingAdminClient
from kafkawire.broker import ThreadedBroker
from kafkawire.declared.log_state import read_log_state
from kafkawire.declared.reading import read_cluster
from kafkawire.wire.batches import read_batches

LOGS = FIXTURES / "logs"


def times_of(folder: Path) -> list[int]:
    """The times of the batches of a log."""
    batches = (batch for path in sorted(folder.glob("*.log")) for batch in read_batches(path.read_bytes()))
    return sorted({batch.max_timestamp for batch in batches if not batch.is_control})


TIMES = times_of(LOGS / METADATA_LOG)


@pytest.mark.parametrize("time", [*TIMES[1:-1:9], TIMES[-1]])
def test_a_twin_has_the_state_of_the_histories(time: int) -> None:
    date = datetime.fromtimestamp(time / 1000, UTC)
    with (
        ThreadedBroker(from_log=LOGS, as_of=date) as twin,
        BlockingAdminClient(twin.bootstrap_servers) as admin,
    ):
        assert admin.run(read_cluster).state == read_log_state(LOGS, date)
