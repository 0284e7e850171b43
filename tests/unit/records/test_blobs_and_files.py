"""Consumer protocol, principal, producer snapshot, quorum state."""

from __future__ import annotations

import pytest

from kafkawire.protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DefaultPrincipalData,
    ProducerSnapshot,
    QuorumStateData,
    SubscriptionInfoData,
)
from kafkawire.records.consumer_protocol import (
    decode_assignment,
    decode_streams_subscription,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from kafkawire.records.principal import decode_principal, encode_principal
from kafkawire.records.producer_snapshot import decode_producer_snapshot, encode_producer_snapshot
from kafkawire.records.quorum_state import decode_quorum_state, encode_quorum_state
from kafkawire.wire import DecodeError

OwnedPartition = ConsumerProtocolSubscription.TopicPartition


class TestConsumerProtocol:
    def test_consumer_proto_same_range(self) -> None:
        assert ConsumerProtocolSubscription.VERSIONS == ConsumerProtocolAssignment.VERSIONS == range(4)

    def test_consumer_proto_sorted(self) -> None:
        mixed = ConsumerProtocolSubscription(
            topics=("b", "a"),
            owned_partitions=(OwnedPartition("t", (2, 0)), OwnedPartition("s", (1,))),
        )
        data = encode_subscription(mixed, 1)
        assert data.hex(" ", 2).split()[:2] == ["0001", "0000"]
        subscription, version = decode_subscription(data)
        assert version == 1
        assert subscription.topics == ("a", "b")
        assert subscription.owned_partitions == (OwnedPartition("s", (1,)), OwnedPartition("t", (0, 2)))
        assert (subscription.generation_id, subscription.rack_id) == (-1, None)

    def test_consumer_proto_future(self) -> None:
        data = encode_subscription(ConsumerProtocolSubscription(topics=("a",), rack_id="r"), 3)
        future = b"\0\x63" + data[2:] + b"appended fields"
        assert decode_subscription(future) == decode_subscription(data)
        assignment = encode_assignment(ConsumerProtocolAssignment(user_data=b"u"), 3)
        assert decode_assignment(b"\x7f\xff" + assignment[2:] + b"more") == decode_assignment(assignment)

    @pytest.mark.parametrize("decode", [decode_subscription, decode_assignment])
    def test_consumer_proto_negative(self, decode: object) -> None:
        assert callable(decode)
        with pytest.raises(DecodeError, match="there is no version -1; versions are 0 to 3") as caught:
            decode(b"\xff\xff" + bytes(20))
        assert caught.value.kind == "version"

    def test_streams_user_data_begins_with_its_version(self) -> None:
        info = SubscriptionInfoData(version=11, latest_supported_version=11, client_tags=())
        data = info.encode(11)
        assert decode_streams_subscription(memoryview(data + b"more")) == (info, 11)
        for broken, kind in ((b"\0\0\0", "truncated"), (b"\0\0\0\0", "version"), (b"\0\0\0\x0c", "version")):
            with pytest.raises(DecodeError) as caught:
                decode_streams_subscription(broken)
            assert caught.value.kind == kind


def test_principal() -> None:
    principal = DefaultPrincipalData(type="User", name="alice", token_authenticated=True)
    data = encode_principal(principal)
    assert data == b"\0\0\x05User\x06alice\x01\x00"
    assert decode_principal(data) == principal


class TestProducerSnapshot:
    SNAPSHOT = ProducerSnapshot(
        producer_entries=(
            ProducerSnapshot.ProducerEntry(
                producer_id=9,
                epoch=1,
                last_sequence=4,
                last_offset=10,
                offset_delta=2,
                timestamp=1_700_000_000_000,
                coordinator_epoch=3,
                current_txn_first_offset=-1,
            ),
        )
    )

    def test_round_trip(self) -> None:
        data = encode_producer_snapshot(self.SNAPSHOT)
        assert data[:2] == b"\0\1"
        read = decode_producer_snapshot(data)
        assert read.producer_entries == self.SNAPSHOT.producer_entries
        assert encode_producer_snapshot(read) == data

    def test_crc_covers_everything_after_it(self) -> None:
        data = encode_producer_snapshot(self.SNAPSHOT)
        for index in (2, 5, len(data) - 1):
            broken = bytearray(data)
            broken[index] ^= 1
            with pytest.raises(DecodeError) as caught:
                decode_producer_snapshot(broken)
            assert (caught.value.kind, caught.value.offset) == ("crc", 2)

    @pytest.mark.parametrize(("data", "kind"), [(b"\0\2" + bytes(8), "version"), (bytes((0, 1, 0)), "truncated")])
    def test_broken_files_are_refused(self, data: bytes, kind: str) -> None:
        with pytest.raises(DecodeError) as caught:
            decode_producer_snapshot(data)
        assert caught.value.kind == kind

    def test_bytes_after_the_entries_are_refused(self) -> None:
        with pytest.raises(DecodeError) as caught:
            decode_producer_snapshot(encode_producer_snapshot(self.SNAPSHOT) + b"\0")
        assert caught.value.kind == "trailing"


class TestQuorumState:
    OLD = (
        b'{"clusterId":"c","leaderId":-1,"leaderEpoch":3,"votedId":2,"appliedOffset":0,'
        b'"currentVoters":[{"voterId":2}],"data_version":0}'
    )

    def test_the_version_stands_in_the_object(self) -> None:
        state, version = decode_quorum_state(self.OLD)
        assert version == 0
        assert state == QuorumStateData(
            cluster_id="c", leader_epoch=3, voted_id=2, current_voters=(QuorumStateData.Voter(2),)
        )
        assert encode_quorum_state(state, version) == self.OLD

    @pytest.mark.parametrize(
        ("text", "kind"),
        [
            (b"", "json"),
            (b"[]", "json"),
            (b'{"leaderId":1}', "json"),
            (b'{"leaderId":1,"data_version":true}', "json"),
            (b'{"leaderId":1,"data_version":"1"}', "json"),
            (b'{"leaderId":1,"data_version":9}', "version"),
            (b'{"leaderId":"x","data_version":1}', "json"),
            (b'{"leaderId":1,"data_version":1}', "json"),
            (b'{"a":' * 100_000, "json"),
            (b"\xff", "json"),
            (b'{"\x80eaderId":1,"data_version":1}', "json"),
        ],
    )
    def test_broken_files_are_refused(self, text: bytes, kind: str) -> None:
        with pytest.raises(DecodeError) as caught:
            decode_quorum_state(text)
        assert caught.value.kind == kind
