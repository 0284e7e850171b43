"""Fields of type ``records``: decoded as views of the buffer, encoded from anything that holds bytes."""

from __future__ import annotations

import array
import copy
import pickle

import pytest
from msgspec.structs import replace

from kafkawire.protocol import FetchResponse, FetchSnapshotResponse, ProduceRequest, SaslAuthenticateRequest
from kafkawire.wire import EncodeError, RecordBytes
from kafkawire.wire.batches import Record, encode_batch, read_records
from kafkawire.wire.json_form import message_from_json, message_to_json
from kafkawire.wire.laws import fast_encode
from kafkawire.wire.reference import decode_struct, encode_struct

VERSIONS = [0, 4, 11, 12, 17]
SOURCE = encode_batch([Record(value=b"one"), Record(value=b"two")])


def fetch(records: RecordBytes | None) -> FetchResponse:
    partition = FetchResponse.PartitionData(1, high_watermark=2, records=records)
    return FetchResponse(responses=(FetchResponse.FetchableTopicResponse(partitions=(partition, partition)),))


def records_of(response: FetchResponse) -> RecordBytes | None:
    return response.responses[0].partitions[1].records


@pytest.mark.parametrize("version", VERSIONS)
def test_decoding_gives_a_read_only_view_of_the_buffer(version: int) -> None:
    buffer = fetch(SOURCE).encode(version)
    exact, _ = decode_struct(
        FetchResponse, FetchResponse.layouts().of_version(version), buffer, 0, message_name="", version=version
    )
    for records in (records_of(FetchResponse.decode(buffer, version)), records_of(exact)):
        assert isinstance(records, memoryview)
        assert records.readonly
        assert records.obj is buffer
        assert records == SOURCE


@pytest.mark.parametrize("records", [None, b""])
def test_no_records(records: bytes | None) -> None:
    for version in VERSIONS:
        assert records_of(FetchResponse.decode(fetch(records).encode(version), version)) == records


def test_a_view_never_changes_with_the_buffer_of_the_caller() -> None:
    buffer = bytearray(fetch(SOURCE).encode(12))
    read = [FetchResponse.decode(buffer, 12), FetchResponse.decode(memoryview(buffer), 12)]
    buffer[:] = bytes(len(buffer))
    assert [records_of(response) for response in read] == [SOURCE, SOURCE]


def test_other_octets_stay_bytes() -> None:
    read = SaslAuthenticateRequest.decode(SaslAuthenticateRequest(SOURCE).encode(2), 2)
    assert type(read.auth_bytes) is bytes


def test_a_view_equals_and_hashes_like_its_bytes() -> None:
    sent = fetch(SOURCE)
    read = FetchResponse.decode(sent.encode(12), 12)
    assert read == sent
    assert hash(read) == hash(sent)
    assert read != fetch(SOURCE + b"\0")


def test_copies_and_pickles_hold_bytes() -> None:
    read = FetchResponse.decode(fetch(SOURCE).encode(12), 12)
    pickled = pickle.loads(pickle.dumps(read))  # noqa: S301 ours
    for made in (pickled, copy.deepcopy(read)):
        assert made == read
        assert type(records_of(made)) is bytes
    for made in (copy.copy(read), replace(read, session_id=0)):
        assert made == read
        assert records_of(made) is records_of(read)


def test_pickles_keep_all_other_fields() -> None:
    partition = FetchResponse.PartitionData(
        7,
        current_leader=FetchResponse.LeaderIdAndEpoch(3, 4),
        aborted_transactions=(FetchResponse.AbortedTransaction(1, 2),),
        records=None,
        unknown_tagged_fields=((9, b"nine"),),
    )
    assert pickle.loads(pickle.dumps(partition)) == partition  # noqa: S301 ours


def test_representation_shows_the_size_only() -> None:
    read = FetchResponse.decode(fetch(b"secret").encode(12), 12)
    assert "records=<6 bytes>" in repr(read)
    assert "secret" not in repr(read)


NUMBERS = array.array("I", range(40))
MATRIX = memoryview(bytes(range(60))).cast("B", (3, 4, 5))
HELD = {
    "bytes": (SOURCE, SOURCE),
    "bytearray": (bytearray(SOURCE), SOURCE),
    "a view": (memoryview(SOURCE), SOURCE),
    "a view of a bytearray": (memoryview(bytearray(SOURCE))[5:], SOURCE[5:]),
    "a view of numbers": (memoryview(NUMBERS), NUMBERS.tobytes()),
    "a matrix": (MATRIX, bytes(range(60))),
    "every other byte": (memoryview(SOURCE)[::2], SOURCE[::2]),
    "backwards": (memoryview(SOURCE)[::-1], SOURCE[::-1]),
    "large": (memoryview(bytes(70_000)), bytes(70_000)),
    "very large": (memoryview(bytes(2_100_000)), bytes(2_100_000)),
    "empty": (memoryview(b""), b""),
}


@pytest.mark.parametrize(("held", "expected"), HELD.values(), ids=HELD)
@pytest.mark.parametrize("version", [0, 12])
def test_encoding_takes_all_that_holds_bytes(held: RecordBytes, expected: bytes, version: int) -> None:
    sent = fetch(held)
    written = sent.encode(version)
    assert written == fetch(expected).encode(version)
    layout = FetchResponse.layouts().of_version(version)
    assert written == encode_struct(sent, layout, message_name="", version=version)


def test_views_are_written_without_the_reference_codec() -> None:
    assert fast_encode(fetch(memoryview(SOURCE)), 12) == fetch(SOURCE).encode(12)


def released() -> memoryview:
    view = memoryview(SOURCE)
    view.release()
    return view


@pytest.mark.parametrize(
    "held", ["text", 5, (1, 2), array.array("B", b"x"), released()], ids=lambda held: str(type(held))
)
@pytest.mark.parametrize("version", [0, 12])
def test_anything_else_is_refused(held: object, version: int) -> None:
    with pytest.raises(EncodeError) as caught:
        fetch(held).encode(version)  # type: ignore[arg-type] # that is what is tested
    assert caught.value.kind == "type"
    assert caught.value.path == "responses[0].partitions[0].records"


def test_null_where_the_version_does_not_allow_it() -> None:
    snapshot = FetchSnapshotResponse.PartitionSnapshot(0, unaligned_records=None)
    response = FetchSnapshotResponse(topics=(FetchSnapshotResponse.TopicSnapshot(partitions=(snapshot,)),))
    with pytest.raises(EncodeError, match="null is not allowed here"):
        response.encode(0)


def test_json_form_of_a_view() -> None:
    sent = ProduceRequest(
        topic_data=(
            ProduceRequest.TopicProduceData(
                name="t", partition_data=(ProduceRequest.PartitionProduceData(records=SOURCE),)
            ),
        )
    )
    read = ProduceRequest.decode(sent.encode(9), 9)
    assert message_to_json(read, 9) == message_to_json(sent, 9)
    assert message_from_json(ProduceRequest, message_to_json(read, 9), 9) == read


def test_records_are_read_from_a_view() -> None:
    records = records_of(FetchResponse.decode(fetch(SOURCE).encode(12), 12))
    assert records is not None
    assert [record.value for record in read_records(records)] == [b"one", b"two"]
