"""The quorum where time or a restart matter; other tests compare the rest with Apache Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.admin import AdminClient, RaftEndpoint
from kafkawire.broker import EmbeddedBroker, ManualClock
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol.errors import UnsupportedVersionError


async def test_the_node_is_the_only_voter_and_each_start_begins_an_epoch(tmp_path: Path) -> None:
    clock = ManualClock()
    async with EmbeddedBroker({"node.id": "7"}, data_dir=tmp_path, clock=clock) as broker:
        async with AdminClient(broker.bootstrap_servers) as admin:
            first = await admin.describe_metadata_quorum()
        await broker.restart()
        async with AdminClient(broker.bootstrap_servers) as admin:
            second = await admin.describe_metadata_quorum()
    (voter,) = second.voters
    assert (first.leader, second.leader, voter.replica_id) == (7, 7, 7)
    assert second.leader_epoch == first.leader_epoch + 1
    assert second.high_watermark == voter.log_end_offset
    assert second.high_watermark > first.high_watermark
    assert voter.last_caught_up_timestamp_ms == clock.now_ms()
    assert second.observers == ()


async def test_voters_cannot_be_changed() -> None:
    directory, endpoint = Uuid(bytes(15) + b"\1"), RaftEndpoint("CONTROLLER", "127.0.0.1", 9093)
    async with EmbeddedBroker() as broker, AdminClient(broker.bootstrap_servers) as admin:
        with pytest.raises(UnsupportedVersionError, match=r"kraft\.version feature is 0"):
            await admin.add_raft_voter(2, directory, [endpoint])
        with pytest.raises(UnsupportedVersionError, match=r"kraft\.version feature is 0"):
            await admin.remove_raft_voter(2, directory)
