"""The behaviour of Kafka's classes where kafkawire differs on purpose: one test for each rule in docs/deviations.md.

Those about record batches are in ``test_record_batches.py`` and ``test_legacy_messages.py``.
"""

from __future__ import annotations

import math
import re

import msgspec
import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Answer, Decode, Default, Encode, Oracle, Question
from tests.apache_kafka.releases import REPOSITORY, is_at_least, releases

from kafkawire.protocol import (
    AddPartitionsToTxnRequest,
    ConsumerGroupMemberMetadataValue,
    DescribeClientQuotasResponse,
    FetchRequest,
    FindCoordinatorRequest,
    MetadataRequest,
    PartitionChangeRecord,
    ProduceRequest,
    RequestHeader,
    from_json,
    to_json,
)
from kafkawire.wire import DecodeError, EncodeError, Message, UnsupportedVersionError

pytestmark = pytest.mark.conformance

_NO_TOPICS_12 = "00 00 00 00"
"""MetadataRequest 12 without topics: null, two booleans, no tagged fields."""

_PARTITION_CHANGE_0 = "00" * 20
"""What stands in front of the tagged fields of a PartitionChangeRecord; tag 1 is an int32, the leader."""


def ask(oracle: Oracle, question: Question) -> Answer:
    (answer,) = oracle.ask([question])
    return answer


def kafka_reads(oracle: Oracle, message: type[Message], version: int, octets: str) -> Answer:
    return ask(oracle, Decode(message.NAME, version, octets.replace(" ", "")))


def we_refuse(message: type[Message], version: int, octets: str) -> str:
    """The kind of our refusal."""
    with pytest.raises(DecodeError) as refusal:
        message.decode(bytes.fromhex(octets), version)
    return refusal.value.kind


def we_refuse_to_write(message: Message, version: int) -> str:
    with pytest.raises(EncodeError) as refusal:
        message.encode(version)
    return refusal.value.kind


def we_refuse_json(message: type[Message], version: int, json: object) -> str:
    with pytest.raises(DecodeError) as refusal:
        from_json(message, json, version)
    return refusal.value.kind


def test_each_deviation_is_shown_here() -> None:
    sections = (REPOSITORY / "docs" / "deviations.md").read_text("utf-8").split("\n## ")
    of_messages = "".join(section for section in sections if not section.startswith("Record batches"))
    rules = re.findall(r"^\| `([a-z0-9-]+)`", of_messages, flags=re.MULTILINE)
    shown = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {rule.replace("-", "_") for rule in rules} == shown - {"each_deviation_is_shown_here"}


def test_wire_string_limit(oracle: Oracle) -> None:
    octets = "0002 c080"
    assert kafka_reads(oracle, FindCoordinatorRequest, 0, octets).json == {"key": "\ufffd\ufffd"}
    assert we_refuse(FindCoordinatorRequest, 0, octets) == "utf8"

    lone_surrogate = msgspec.Raw(rb'{"key": "\ud800"}')
    assert ask(oracle, Encode("FindCoordinatorRequest", 0, lone_surrogate)).hex == "0001" + b"?".hex()
    assert we_refuse_to_write(FindCoordinatorRequest("\ud800"), 0) == "utf8"


@pytest.mark.parametrize("release", releases())
def test_wire_uvarint(release: str, oracles: Oracles) -> None:
    length, tags = "ff ff ff ff 0f 00 00 00", "00 00 00 ff ff ff ff 0f"
    nothing = _NO_TOPICS_12.replace(" ", "")
    assert kafka_reads(oracles(release), MetadataRequest, 12, length).hex == nothing
    count = kafka_reads(oracles(release), MetadataRequest, 12, tags)
    if is_at_least(release, "4.4"):
        assert count.error is not None
        assert (count.error.stage, count.error.message) == ("read", "Invalid negative number of tagged fields -1")
    else:
        assert count.hex == nothing
    for octets in (length, tags):
        assert we_refuse(MetadataRequest, 12, octets) == "varint"


def test_wire_nullable_struct_tagged(oracle: Oracle) -> None:
    octets = ConsumerGroupMemberMetadataValue().encode(0)[:-1].hex() + "01 00 05 ff ff ff ff 0f"
    answer = kafka_reads(oracle, ConsumerGroupMemberMetadataValue, 0, octets)
    assert answer.hex == ConsumerGroupMemberMetadataValue(classic_member_metadata=None).encode(0).hex()
    assert we_refuse(ConsumerGroupMemberMetadataValue, 0, octets) == "varint"


@pytest.mark.parametrize(
    ("tags", "read"),
    [
        ("02 01 04 00000005 00 01 00", {"leader": 5}),  # tag 1, then tag 0 (null, its default)
        ("02 01 04 00000005 01 04 00000006", {"leader": 6}),
    ],
    ids=["descending", "repeated"],
)
def test_tagged_read_any_order(tags: str, read: dict[str, int], oracle: Oracle) -> None:
    answer = kafka_reads(oracle, PartitionChangeRecord, 0, _PARTITION_CHANGE_0 + tags)
    assert answer.json == {"partitionId": 0, "topicId": "A" * 22} | read
    assert we_refuse(PartitionChangeRecord, 0, _PARTITION_CHANGE_0 + tags) == "tag"


@pytest.mark.parametrize("size", ["00", "03", "63"])
def test_tagged_read_size_ignored(size: str, oracle: Oracle) -> None:
    octets = f"{_PARTITION_CHANGE_0} 01 01 {size} 00000005"
    answer = kafka_reads(oracle, PartitionChangeRecord, 0, octets)
    assert answer.hex == PartitionChangeRecord(partition_id=0, leader=5).encode(0).hex()
    assert we_refuse(PartitionChangeRecord, 0, octets) == ("truncated" if size == "63" else "tag")


def test_tagged_read_wrong_version(oracle: Oracle) -> None:
    octets = FetchRequest().encode(12)[:-1].hex() + "01 01 00"  # tag 1 is ReplicaState, from version 15 on
    failure = kafka_reads(oracle, FetchRequest, 12, octets).error
    assert failure is not None
    assert (failure.stage, failure.message) == ("read", "Tag 1 is not valid for version 12")
    read = FetchRequest.decode(bytes.fromhex(octets), 12)
    assert read.unknown_tagged_fields == ((1, b""),)
    assert read.encode(12) == bytes.fromhex(octets)


def test_tagged_conflict(oracle: Oracle) -> None:
    octets = FetchRequest().encode(15)[:-1].hex() + "01 01 02 aabb"
    assert ask(oracle, Default("FetchRequest", 15, unknown_tags=((1, "aabb"),))).hex == octets.replace(" ", "")
    assert we_refuse_to_write(FetchRequest(unknown_tagged_fields=((1, b"\xaa\xbb"),)), 15) == "tag"


def test_tagged_read_unknown(oracle: Oracle) -> None:
    octets = _PARTITION_CHANGE_0 + "01 ff ff ff ff 07 00"
    answer = kafka_reads(oracle, PartitionChangeRecord, 0, octets)
    assert answer.error is not None
    assert (answer.error.stage, answer.json) == ("write", {"partitionId": 0, "topicId": "A" * 22})
    assert we_refuse(PartitionChangeRecord, 0, octets) == "tag"


def test_wire_message(oracle: Oracle) -> None:
    octets = "0001 61 ffff"
    answer = kafka_reads(oracle, FindCoordinatorRequest, 0, octets)
    assert (answer.hex, answer.read) == ("000161", 3)
    assert we_refuse(FindCoordinatorRequest, 0, octets) == "trailing"
    assert FindCoordinatorRequest.decode_from(bytes.fromhex(octets), 0, 0) == (FindCoordinatorRequest("a"), 3)


@pytest.mark.parametrize("version", [-1, 99])
def test_version_checks(version: int, oracle: Oracle) -> None:
    answer = ask(oracle, Default("MetadataRequest", version))
    assert answer.hex is not None
    assert ask(oracle, Decode("MetadataRequest", version, answer.hex)).hex == answer.hex
    for refused in (
        lambda: MetadataRequest().encode(version),
        lambda: MetadataRequest.decode(b"", version),
        lambda: to_json(MetadataRequest(), version),
        lambda: from_json(MetadataRequest, {}, version),
    ):
        with pytest.raises(UnsupportedVersionError):
            refused()


def test_encode_ignorable(oracles: Oracles) -> None:
    oldest, *_, newest = (oracles(release) for release in releases())
    json = {"requestApiKey": 7, "requestApiVersion": 0, "correlationId": 1, "clientId": "a"}
    assert ask(oldest, Encode("RequestHeader", 0, json)).hex == "0007 0000 00000001".replace(" ", "")
    assert newest.classes["RequestHeaderData"].lowest == 1
    assert we_refuse_to_write(RequestHeader(7, 0, 1, "a"), 0) == "unsupported_field"


def test_json_records(oracle: Oracle) -> None:
    partition = ProduceRequest.PartitionProduceData(index=0, records=b"abc")
    request = ProduceRequest(topic_data=(ProduceRequest.TopicProduceData(name="t", partition_data=(partition,)),))
    octets = request.encode(9).hex()
    ours = to_json(request, 9)
    assert ours["topicData"] == [{"name": "t", "partitionData": [{"index": 0, "records": "YWJj"}]}]
    assert ask(oracle, Encode("ProduceRequest", 9, ours)).hex == octets
    kafkas = ours | {"topicData": [{"name": "t", "partitionData": [{"index": 0, "records": ""}]}]}
    assert kafka_reads(oracle, ProduceRequest, 9, octets).json == kafkas


def test_json_null(oracle: Oracle) -> None:
    answer = ask(oracle, Default("FindCoordinatorRequest", 0, nulls=("key",)))
    assert answer.error is not None
    assert (answer.json, answer.error.stage) == ({"key": None}, "write")
    for message, field in (("SaslAuthenticateRequest", "authBytes"), ("MetadataResponse", "topics")):
        failure = ask(oracle, Default(message, 2, nulls=(field,))).error
        assert failure is not None
        assert (failure.stage, failure.kind) == ("to_json", "NullPointerException")
    with pytest.raises(EncodeError) as refusal:
        to_json(msgspec.structs.replace(FindCoordinatorRequest(), key=None), 0)
    assert refusal.value.kind == "null"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_json_read_float(number: float, oracle: Oracle) -> None:
    value = DescribeClientQuotasResponse.ValueData(key="k", value=number)
    entry = DescribeClientQuotasResponse.EntryData(entity=(), values=(value,))
    response = DescribeClientQuotasResponse(entries=(entry,))
    ours = to_json(response, 1)
    written, read = oracle.ask([
        Decode("DescribeClientQuotasResponse", 1, response.encode(1).hex()),
        Encode("DescribeClientQuotasResponse", 1, ours),
    ])  # fmt: skip
    assert written == Answer(json=ours, hex=response.encode(1).hex(), read=len(response.encode(1)))
    assert read.error is not None
    assert read.error.stage == "from_json"
    entries = from_json(DescribeClientQuotasResponse, ours, 1).entries
    assert [repr(value.value) for entry in entries or () for value in entry.values] == [repr(number)]


@pytest.mark.parametrize(("number", "read"), [(128, 0), (200, 72), (256, -128)])
def test_json_read_int(number: int, read: int, oracle: Oracle) -> None:
    json = {"key": "a", "keyType": number}
    assert (
        ask(oracle, Encode("FindCoordinatorRequest", 1, json)).hex == FindCoordinatorRequest("a", read).encode(1).hex()
    )
    assert we_refuse_json(FindCoordinatorRequest, 1, json) == "json"


def test_json_read_extra(oracle: Oracle) -> None:
    topics = [{"name": "t", "partitions": [0]}]
    ended = to_json(AddPartitionsToTxnRequest(), 4) | {"v3AndBelowTopics": topics}
    begins = to_json(AddPartitionsToTxnRequest(), 3) | {
        "transactions": to_json(
            AddPartitionsToTxnRequest(transactions=(AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction(),)), 4
        )["transactions"]
    }
    for version, json, stage in ((4, ended, "write"), (3, begins, "from_json")):
        failure = ask(oracle, Encode("AddPartitionsToTxnRequest", version, json)).error
        assert failure is not None
        assert (failure.stage, failure.kind) == (stage, "UnsupportedVersionException")
        assert we_refuse_json(AddPartitionsToTxnRequest, version, json) == "json"
