"""Keys and values from an enemy: any bytes give a record or a DecodeError."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pytest
from hypothesis import given, strategies as st
from tests.kafka_logs.dumps import RealLog, real_logs

from kafkawire.records.consumer_protocol import (
    decode_assignment,
    decode_streams_subscription,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from kafkawire.records.control_records import ControlRecord, UnknownControlRecord, decode_control_record
from kafkawire.records.coordinator_records import (
    COORDINATOR_TOPICS,
    CoordinatorRecord,
    UnknownCoordinatorRecord,
    decode_coordinator_record,
    encode_coordinator_record,
)
from kafkawire.records.metadata_records import decode_metadata_record, encode_metadata_record
from kafkawire.records.principal import decode_principal, encode_principal
from kafkawire.records.producer_snapshot import decode_producer_snapshot, encode_producer_snapshot
from kafkawire.records.quorum_state import decode_quorum_state, encode_quorum_state
from kafkawire.records.remote_log_records import decode_remote_log_record, encode_remote_log_record
from kafkawire.wire import DecodeError, EncodeError
from kafkawire.wire.batches.batch import read_batches
from kafkawire.wire.batches.reader import decode_records

T = TypeVar("T")
prefixed = st.builds(lambda number, body: number.to_bytes(2, "big") + body, st.integers(0, 30), st.binary(max_size=60))
framed = st.builds(lambda number, body: bytes((1, number, 0)) + body, st.integers(0, 30), st.binary(max_size=60))
octets = st.binary(max_size=60) | prefixed | framed


def encoded_again(decode: Callable[[bytes], T], encode: Callable[[T], bytes], data: bytes) -> list[bytes]:
    """What comes of decoding and encoding twice; nothing, if the bytes are refused. Only those errors may escape that
    say so.
    """
    try:
        once = encode(decode(data))
    except (DecodeError, EncodeError):
        return []
    return [once, encode(decode(once))]


def refuses(decode: Callable[[bytes], object], data: bytes) -> bool:
    try:
        decode(data)
    except DecodeError:
        return True
    return False


@pytest.mark.parametrize(
    ("decode", "encode"),
    [
        (decode_metadata_record, lambda record: encode_metadata_record(record.message, record.version)),
        (decode_remote_log_record, lambda record: encode_remote_log_record(record.message, record.version)),
        (decode_subscription, lambda read: encode_subscription(*read)),
        (decode_assignment, lambda read: encode_assignment(*read)),
        (decode_streams_subscription, lambda read: read[0].encode(read[1])),
        (decode_principal, encode_principal),
        (decode_producer_snapshot, encode_producer_snapshot),
        (decode_quorum_state, lambda read: encode_quorum_state(*read)),
    ],
)
@given(data=octets)
def test_any_bytes(decode: Callable[[bytes], T], encode: Callable[[T], bytes], data: bytes) -> None:
    assert len(set(encoded_again(decode, encode, data))) <= 1


@given(st.sampled_from(sorted(COORDINATOR_TOPICS)), octets, st.none() | octets)
def test_any_coordinator_record(topic: str, key: bytes, value: bytes | None) -> None:
    def encode(record: CoordinatorRecord | UnknownCoordinatorRecord) -> bytes:
        if isinstance(record, UnknownCoordinatorRecord):
            assert (record.key, record.value) == (key, value)
            return key
        again = encode_coordinator_record(topic, record.key, record.value, record.value_version)
        assert (again[1] is None) == (value is None)
        return again[0]

    assert len(set(encoded_again(lambda octets: decode_coordinator_record(topic, octets, value), encode, key))) <= 1


@given(st.integers(-1, 8), octets)
def test_any_control_record(number: int, value: bytes) -> None:
    key = b"\0\0" + number.to_bytes(2, "big", signed=True)
    if number in {-1, 7, 8}:
        assert decode_control_record(key, value) == UnknownControlRecord(number, value)
    elif not refuses(partial(decode_control_record, key), value):
        record = decode_control_record(key, value)
        assert isinstance(record, ControlRecord)
        assert record.type == number


@pytest.mark.parametrize("log", real_logs(), ids=lambda log: log.name)
def test_real_records_cut_off_at_every_byte(log: RealLog) -> None:
    topic = log.path.parent.name.rpartition("-")[0]
    for batch in read_batches(log.read_bytes()):
        for record in decode_records(batch)[:2]:
            value = record.value or b""
            for size in range(len(value)):
                if batch.is_control:
                    assert refuses(partial(decode_control_record, record.key), value[:size])
                elif topic == "__cluster_metadata":
                    assert refuses(decode_metadata_record, value[:size])
                else:
                    assert refuses(partial(decode_coordinator_record, topic, record.key), value[:size])
