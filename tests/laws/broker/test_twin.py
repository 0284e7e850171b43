"""A twin at a date has the state that the tables of histories have at that date: two readers of logs agree."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pytest
from tests.kafka_logs.dumps import FIXTURES
from tests.made.logs import METADATA_LOG, Step, write_segment

from kafkawire.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    BlockingAdminClient,
    PatternType,
    ResourceType,
)
from kafkawire.broker import EmbeddedBroker, ThreadedBroker
from kafkawire.declared.log_state import read_log_state
from kafkawire.declared.reading import read_cluster
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import AccessControlEntryRecord, FeatureLevelRecord
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


@pytest.mark.extended
@pytest.mark.usefixtures("one_engine")
async def test_a_quarter_of_a_million_acls_are_ready_within_ten_seconds(tmp_path: Path) -> None:
    acls = (
        AccessControlEntryRecord(
            id=Uuid(number.to_bytes(16, "big")),
            resource_type=ResourceType.TOPIC,
            resource_name=f"topic-{number // 5}",
            pattern_type=PatternType.LITERAL,
            principal=f"User:{number % 997}",
            host="*",
            operation=AclOperation.READ,
            permission_type=AclPermissionType.ALLOW,
        )
        for number in range(250_000)
    )
    version = Step(1000, (FeatureLevelRecord("metadata.version", 30),))
    batches = [Step(2000, batch) for batch in iter(lambda: tuple(islice(acls, 100)), ())]
    write_segment(tmp_path / METADATA_LOG, 0, [version, *batches])
    began = time.process_time()  # other tests run at the same time
    async with EmbeddedBroker(from_log=tmp_path) as broker:
        assert time.process_time() - began < 10
        async with AdminClient(broker.bootstrap_servers) as admin:
            found = (await admin.describe_acls([AclBindingFilter(principal="User:7")])).union()
            assert len(found) == len(range(7, 250_000, 997))
