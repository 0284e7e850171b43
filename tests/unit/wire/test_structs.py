"""Functions that generated codecs call in rare cases: long lengths, padded forms, big arrays, tags, defaults."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st
from msgspec.structs import replace

from kafkawire.layout import FIELD_TYPES
from kafkawire.protocol import (
    AlterPartitionRequest,
    ApiVersionsRequest,
    CreateTopicsRequest,
    DescribeAclsResponse,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    SaslAuthenticateRequest,
    ShareFetchResponse,
)
from kafkawire.wire import DecodeError, EncodeError, Message
from kafkawire.wire.laws import check_engines_agree, check_round_trip, fast_encode
from kafkawire.wire.structs import (
    FEW,
    differs,
    long_length,
    octets,
    pack_numbers,
    packers,
    read_uvarint,
    sequence,
    tagged_entries,
    tagged_section,
    unpackers,
    uvarint,
)

AROUND_ONE_BYTE = [0, 1, 2, 63, 64, 65, 125, 126, 127, 128, 129, 255, 256]
AROUND_TWO_BYTES = [16382, 16383, 16384]

UVARINTS = [
    (0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (300, "ac02"), (16383, "ff7f"), (16384, "808001"),
    (2097151, "ffff7f"), (268435455, "ffffff7f"), (268435456, "8080808001"), (2147483647, "ffffffff07"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "shortest"), UVARINTS)
def test_wire_uvarint(value: int, shortest: str) -> None:
    encoded = bytes.fromhex(shortest)
    assert uvarint(value) == encoded
    assert read_uvarint(b"\xff" + encoded + b"\xff", 1) == (value, 1 + len(encoded))
    padded = bytes([*(byte | 0x80 for byte in encoded), *([0x80] * (4 - len(encoded)))])[:4] + b"\0"
    if len(encoded) < 5:
        assert read_uvarint(padded, 0) == (value, 5), "padded forms are accepted"


@pytest.mark.parametrize("encoded", ["8080808008", "ffffffff0f", "808080808001", "ffffffffff", "ffffffff7f"])
def test_wire_uvarint_limits(encoded: str) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        read_uvarint(bytes.fromhex(encoded), 0)


@given(st.binary(min_size=1, max_size=6))
def test_wire_uvarint_is_read_alike_by_both_engines(encoded: bytes) -> None:
    check_engines_agree(MetadataRequest, 9, encoded)


@pytest.mark.parametrize("value", [-1, 2**31])
def test_uvarints_of_31_bits_only(value: int) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        uvarint(value)


@pytest.mark.parametrize("length", [*AROUND_ONE_BYTE, *AROUND_TWO_BYTES, 32766, 32767])
def test_strings_of_every_length(length: int) -> None:
    topic = CreateTopicsRequest.CreatableTopic(
        "n" * length, 1, 2, configs=(CreateTopicsRequest.CreatableTopicConfig("k" * length, "v" * length),)
    )
    for version in (4, 5):
        check_round_trip(CreateTopicsRequest((topic, topic), 3), version)


@pytest.mark.parametrize("length", [*AROUND_ONE_BYTE, *AROUND_TWO_BYTES, 4095, 4096, 4097, 100_000])
def test_octets_of_every_length(length: int) -> None:
    data = bytes(range(256)) * (length // 256) + b"x" * (length % 256)
    for version in SaslAuthenticateRequest.VERSIONS:
        check_round_trip(SaslAuthenticateRequest(data, ((5, data),) if version == 2 else ()), version)
    partition = ProduceRequest.PartitionProduceData(records=data)
    produce = ProduceRequest(topic_data=(ProduceRequest.TopicProduceData("t", partition_data=(partition, partition)),))
    for version in (3, 9):
        check_round_trip(produce, version)


def test_large_octets_among_tagged_fields() -> None:
    records = b"r" * 5000
    partition = FetchResponse.PartitionData(
        1, records=records, current_leader=FetchResponse.LeaderIdAndEpoch(3, 4), unknown_tagged_fields=((9, records),)
    )
    response = FetchResponse(responses=(FetchResponse.FetchableTopicResponse(partitions=(partition,) * 3),))
    check_round_trip(response, 17)
    acknowledged = ShareFetchResponse.PartitionData(records=records)
    topic = ShareFetchResponse.ShareFetchableTopicResponse(partitions=(acknowledged,))
    check_round_trip(ShareFetchResponse(responses=(topic,)), 1)


@pytest.mark.usefixtures("no_cover")
@pytest.mark.parametrize("count", [*AROUND_ONE_BYTE, *AROUND_TWO_BYTES])
def test_arrays_of_every_length(count: int) -> None:
    assignment = CreateTopicsRequest.CreatableReplicaAssignment
    many_brokers = CreateTopicsRequest.CreatableTopic("t", assignments=(assignment(7, tuple(range(count))),))
    many_structs = CreateTopicsRequest.CreatableTopic("t", assignments=(assignment(7, (1, 2)),) * min(count, 256))
    for version in (4, 5):
        check_round_trip(CreateTopicsRequest((many_brokers, many_structs)), version)
    partition = AlterPartitionRequest.PartitionData(new_isr=tuple(range(count)))
    check_round_trip(AlterPartitionRequest(topics=(AlterPartitionRequest.TopicData(partitions=(partition,)),)), 2)


def test_wire_bool_takes_any_other_byte_for_true() -> None:
    octets_of_false = CreateTopicsRequest().encode(5)
    for byte in (1, 2, 127, 128, 255):
        read = CreateTopicsRequest.decode(octets_of_false[:-2] + bytes([byte, 0]), 5)
        assert read.validate_only is True
        assert read.encode(5) == octets_of_false[:-2] + b"\1\0"


@pytest.mark.parametrize("code", [str(type_.code) for type_ in FIELD_TYPES.values() if type_.domain == "int"])
def test_many_numbers_at_once(code: str) -> None:
    size = struct.calcsize(f">{code}")
    assert len(unpackers(code)) == len(packers(code)) == FEW
    for count in range(FEW):
        values = tuple(number % 120 for number in range(count))
        packed = packers(code)[count](*values)
        assert packed == pack_numbers(code, values)
        assert len(packed) == size * count
        assert unpackers(code)[count](b"\xff" + packed, 1) == values


def test_tagged_order_and_tagged_conflict() -> None:
    known = [(4, b"d"), (0, b"a")]
    section = tagged_section(known, ((2, b"b"), (300, b"")), (0, 4))
    assert section == bytes.fromhex("04 00 01 61 02 01 62 04 01 64 ac02 00")
    assert tagged_entries(section[1:], 0, section[0]) == (
        [(0, b"a"), (2, b"b"), (4, b"d"), (300, b"")],
        len(section) - 1,
    )
    for unknown in (((4, b""),), ((2, b""), (2, b"")), ((3, b""), (2, b"")), ((-1, b""),), ((2**31 - 1, b""),)):
        with pytest.raises(ValueError, match=r"^$"):
            tagged_section(known, unknown, (0, 4))


@pytest.mark.parametrize(
    ("values", "octets_"),
    [((), "00"), (((1, b""),), "01 01 00"), (((2147483646, b"x"),), "01 feffffff07 01 78")],
)
def test_tagged_unknown_kept(values: tuple[tuple[int, bytes], ...], octets_: str) -> None:
    message = SaslAuthenticateRequest(b"", values)
    assert fast_encode(message, 2) == b"\1" + bytes.fromhex(octets_)
    assert SaslAuthenticateRequest.decode(b"\1" + bytes.fromhex(octets_), 2) == message


@pytest.mark.parametrize(
    "section", ["01", "01 01", "01 01 05", "02 01 00 01 00", "02 02 00 01 00", "01 ffffffff07 00", "05 01 00"]
)
def test_broken_tagged_sections_are_refused_by_both_engines(section: str) -> None:
    buffer = b"\1" + bytes.fromhex(section)
    check_engines_agree(SaslAuthenticateRequest, 2, buffer)
    with pytest.raises(DecodeError):
        SaslAuthenticateRequest.decode(buffer, 2)


def test_value_equals_default() -> None:
    node = FetchResponse.LeaderIdAndEpoch
    assert not differs(node(), node())
    assert differs(node(1), node())
    assert differs(node(unknown_tagged_fields=((1, b""),)), node())
    assert differs(None, node())
    assert differs(FetchResponse.EpochEndOffset(), node())
    assert not differs([], ())
    assert differs([0], ())
    assert differs(None, ())
    assert not differs(-0.0, 0.0)
    assert differs(float("nan"), 0.0)


@pytest.mark.parametrize("refused", ["text", b"octets", bytearray(), memoryview(b""), {1: 2}, {1}, None, 5, iter(())])
def test_a_lone_string_is_no_sequence(refused: object) -> None:
    with pytest.raises(TypeError):
        sequence(refused)  # type: ignore[arg-type]


@pytest.mark.parametrize("refused", ["text", [1], None, 5])
def test_octets_are_bytes(refused: object) -> None:
    with pytest.raises(TypeError):
        octets(refused)


def test_slices_past_the_end_are_noticed() -> None:
    """A string at the very end whose length is too large leaves the position past the end."""
    for cls, version, buffer in (
        (SaslAuthenticateRequest, 0, "00000005 61"),
        (SaslAuthenticateRequest, 2, "06 61"),
        (CreateTopicsRequest, 0, "00000001 0005 61"),
        (MetadataRequest, 0, "00000001 0009 61"),
    ):
        message_cls: type[Message] = cls
        check_engines_agree(message_cls, version, bytes.fromhex(buffer))
        with pytest.raises(DecodeError, match="left"):
            message_cls.decode_from(bytes.fromhex(buffer), 0, version)


AROUND_SHORT = [0, 1, 62, 63, 64, 65, 126, 127, 128, 300]


@pytest.mark.parametrize("first", AROUND_SHORT)
def test_two_strings_side_by_side(first: int) -> None:
    """One call writes both while they are short, and what stands around them."""
    acls = tuple(
        DescribeAclsResponse.AclDescription("p" * first, "h" * second, operation, 3, tags)
        for second in AROUND_SHORT
        for operation, tags in ((-128, ()), (127, ((5, b"five"),)))
    )
    response = DescribeAclsResponse(resources=(DescribeAclsResponse.DescribeAclsResource(acls=acls),))
    check_round_trip(response, 2)
    check_round_trip(ApiVersionsRequest("é" * (first // 2), "n" * first, unknown_tagged_fields=((7, b""),)), 3)


@pytest.mark.parametrize(
    "acl",
    [
        DescribeAclsResponse.AclDescription(principal=None),  # type: ignore[arg-type] # that is what is tested
        DescribeAclsResponse.AclDescription(host=b"h"),  # type: ignore[arg-type]
        DescribeAclsResponse.AclDescription(operation=128),
        DescribeAclsResponse.AclDescription(permission_type=1.0),  # type: ignore[arg-type]
        DescribeAclsResponse.AclDescription(principal="\ud800"),
        DescribeAclsResponse.AclDescription(principal="p" * 32768),
    ],
    ids=["null", "bytes", "range", "float", "surrogate", "length"],
)
def test_two_strings_are_refused_as_one_is(acl: DescribeAclsResponse.AclDescription) -> None:
    response = DescribeAclsResponse(resources=(DescribeAclsResponse.DescribeAclsResource(acls=(acl,)),))
    with pytest.raises(EncodeError, match=r"resources\[0\].acls\[0\]"):
        response.encode(2)


def partitions(*replicas: Sequence[object]) -> MetadataResponse:
    partition = MetadataResponse.MetadataResponsePartition(0, 1, 2, 3, *replicas)  # type: ignore[arg-type]
    topic = MetadataResponse.MetadataResponseTopic(partitions=(partition, replace(partition, leader_id=5)))
    return MetadataResponse(topics=(topic,))


@pytest.mark.parametrize("count", [0, 1, 3, 126, 127, 128, 200])
def test_arrays_side_by_side_that_are_one_tuple(count: int) -> None:
    numbers, other = tuple(range(count)), tuple(range(1, count + 1))
    for replicas in (
        (numbers, numbers, ()),
        (numbers, numbers, numbers),
        (numbers, other, ()),
        (numbers, (), numbers),
        ((), (), numbers),
        (numbers, tuple(range(count)), ()),
    ):
        for version in (8, 9, 12):
            check_round_trip(partitions(*replicas), version)
    lists = partitions(list(numbers), list(numbers), [])
    assert lists.encode(12) == partitions(numbers, numbers, ()).encode(12)


def test_arrays_that_are_alike_become_one_tuple() -> None:
    for numbers, other in (((1, 2, 3), (4,)), ((), (4,)), ((4,), (1, 2, 3))):
        read = MetadataResponse.decode(partitions(numbers, numbers, other).encode(12), 12)
        (partition, _) = read.topics[0].partitions
        assert partition.isr_nodes is partition.replica_nodes
        assert partition.offline_replicas == other


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("wrong", [(1.0, 2.0), (1, 2**31), (1, None), "12", None, 7])
def test_arrays_side_by_side_are_refused_as_one_is(position: int, wrong: Sequence[object]) -> None:
    """An array that equals its neighbour is still encoded by itself: 1.0 equals 1, but is no integer."""
    replicas: list[Sequence[object]] = [(1, 2), (1, 2), ()]
    replicas[position] = wrong
    name = ("replica_nodes", "isr_nodes", "offline_replicas")[position]
    with pytest.raises(EncodeError, match=rf"topics\[0\].partitions\[0\].{name}"):
        partitions(*replicas).encode(12)


@pytest.mark.parametrize("count", [None, 0, 1, 126, 127, 128])
def test_an_array_that_is_mostly_empty_or_null(count: int | None) -> None:
    aborted = None if count is None else (FetchResponse.AbortedTransaction(5, 6),) * count
    partition = FetchResponse.PartitionData(1, 2, 3, 4, 5, aborted_transactions=aborted, preferred_read_replica=8)
    response = FetchResponse(responses=(FetchResponse.FetchableTopicResponse(partitions=(partition,)),))
    for version in (11, 12, 17):
        check_round_trip(response, version)
    if count == 0:
        as_list = replace(partition, aborted_transactions=[])
        again = FetchResponse(responses=(FetchResponse.FetchableTopicResponse(partitions=(as_list,)),))
        assert again.encode(12) == response.encode(12)


@pytest.mark.parametrize("length", [*AROUND_ONE_BYTE, *AROUND_TWO_BYTES, 2097150, 2097151, 2**28, 2**31 - 2])
def test_compact_lengths(length: int) -> None:
    assert long_length(length) == uvarint(length + 1)


@pytest.mark.parametrize("length", [-1, -2, 2**31 - 1])
def test_compact_lengths_of_31_bits_only(length: int) -> None:
    with pytest.raises(ValueError, match="is no length"):
        long_length(length)
