"""Kill -9 takes no commit of a group away that was acknowledged, and no member that has its assignment."""

from __future__ import annotations

import random
import socket
import struct
import sys
from pathlib import Path
from typing import Final

from tests.apache_kafka.connection import connected_to
from tests.embedded.groups import opened_groups
from tests.embedded.process import STARTER, running, started
from tests.hostile.broker.crashing import LoadClient, kill_9

from kafkawire.protocol import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafkawire.rpc import decode_response, encode_request

KILLS: Final = 6
CLIENTS: Final = 4
TOPIC: Final = "orders"


class Committer(LoadClient):
    """Commits for one group offsets that count up."""

    IN_FLIGHT = 8

    def __init__(self, port: int, group: str, offset: int) -> None:
        super().__init__(port, offset)
        self.group = group

    def frame(self, number: int) -> bytes:
        partition = OffsetCommitRequest.OffsetCommitRequestPartition(0, number)
        topics = (OffsetCommitRequest.OffsetCommitRequestTopic(TOPIC, partitions=(partition,)),)
        return encode_request(OffsetCommitRequest(self.group, topics=topics), 9, correlation_id=number)

    def number_of(self, answer: bytes) -> int:
        number, answered = decode_response(answer, OffsetCommitResponse, 9)
        assert not answered.topics[0].partitions[0].error_code
        return number


def create_topic(port: int) -> None:
    request = CreateTopicsRequest((CreateTopicsRequest.CreatableTopic(TOPIC, 1, 1),), 10_000)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client, client.makefile("rb") as answers:
        client.sendall(encode_request(request, 7, correlation_id=1))
        content = answers.read(struct.unpack(">i", answers.read(4))[0])
        assert not decode_response(content, CreateTopicsResponse, 7)[1].topics[0].error_code


async def committed(data_dir: Path) -> dict[str, int]:
    """What the directory holds."""
    async with opened_groups(data_dir) as (coordinator, _):
        return {group.group_id: group.commits[TOPIC, 0].offset for group in coordinator.state.by_id.values()}


async def test_kill_9_loses_no_commit_that_was_acknowledged(tmp_path: Path) -> None:
    chosen = random.Random(7)
    offsets = {f"group-{number}": 0 for number in range(CLIENTS)}
    with running([sys.executable, "-c", STARTER]) as process:
        for kill in range(KILLS):
            pid, port = started(process, tmp_path, {})
            if not kill:
                create_topic(port)
            clients = [Committer(port, group, offset) for group, offset in offsets.items()]
            for _ in range(chosen.randrange(1, 60)):
                for client in clients:
                    client.run(answers=1)
            kill_9(process, pid)
            for client in clients:
                client.take_answers()
            found = await committed(tmp_path)
            assert all(client.acknowledged <= found[client.group] <= client.sent for client in clients)
            offsets = found
    assert min(offsets.values()) > KILLS


def test_kill_9_takes_no_member_away_that_has_its_assignment(tmp_path: Path) -> None:
    """It sends its next heartbeat as if nothing had happened, and each rebalance has a generation of its own."""
    properties = {"group.initial.rebalance.delay.ms": "0"}
    protocols = (JoinGroupRequest.JoinGroupRequestProtocol("range"),)
    member_id, generation = "", 0
    with running([sys.executable, "-c", STARTER]) as process:
        for _ in range(KILLS):
            pid, port = started(process, tmp_path, properties)
            with connected_to("127.0.0.1", port) as client:
                if member_id:
                    beat = HeartbeatRequest("members", generation, member_id)
                    assert client.ask(beat, 3, HeartbeatResponse).error_code == 0
                join = JoinGroupRequest("members", 60_000, 60_000, member_id, None, "consumer", protocols)
                joined = client.ask(join, 3, JoinGroupResponse)
                assert (joined.error_code, joined.generation_id) == (0, generation + 1)
                member_id, generation = joined.member_id, joined.generation_id
                assigned = (SyncGroupRequest.SyncGroupRequestAssignment(member_id, str(generation).encode()),)
                sync = SyncGroupRequest("members", generation, member_id, assignments=assigned)
                assert client.ask(sync, 3, SyncGroupResponse).assignment == str(generation).encode()
                kill_9(process, pid)
