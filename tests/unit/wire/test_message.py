"""Messages as objects: methods, buffers, exact errors, equality, copies, representation, memory."""

from __future__ import annotations

import copy
import gc
import pickle
import uuid
from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    DescribeClientQuotasResponse,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    SaslAuthenticateRequest,
    ShareFetchResponse,
)
from kafkawire.wire import DecodeError, EncodeError, Message, UnsupportedVersionError, WireError

Topic = CreateTopicsRequest.CreatableTopic
Config = CreateTopicsRequest.CreatableTopicConfig

REQUEST = CreateTopicsRequest((Topic("orders", 6, 3, configs=(Config("retention.ms", "1000"),)),), 5000, True)
BODY = REQUEST.encode(7)

PARTITION = MetadataResponse.MetadataResponsePartition
RESPONSE = MetadataResponse(
    topics=tuple(
        MetadataResponse.MetadataResponseTopic(
            name=f"t{number}", partitions=(PARTITION(partition_index=0), PARTITION(partition_index=1, leader_id=4))
        )
        for number in range(4)
    )
)


def decode_error(cls: type[Message], octets: bytes, version: int) -> DecodeError:
    with pytest.raises(DecodeError) as caught:
        cls.decode(octets, version)
    return caught.value


def encode_error(message: Message, version: int) -> EncodeError:
    with pytest.raises(EncodeError) as caught:
        message.encode(version)
    return caught.value


def test_the_example_of_the_design() -> None:
    topic = CreateTopicsRequest.CreatableTopic(name="orders", num_partitions=6, replication_factor=3)
    request = CreateTopicsRequest(topics=(topic,))
    body = request.encode(7)
    assert CreateTopicsRequest.decode(body, 7) == request
    assert (19, range(8)) == (CreateTopicsRequest.API_KEY, CreateTopicsRequest.VERSIONS)
    assert (range(5, 8), range(0)) == (CreateTopicsRequest.FLEXIBLE_VERSIONS, CreateTopicsRequest.UNSTABLE_VERSIONS)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_buffer_of_bytes_is_decoded(kind: type[bytes]) -> None:
    assert CreateTopicsRequest.decode(kind(BODY), 7) == REQUEST
    assert CreateTopicsRequest.decode_from(kind(b"xx" + BODY + b"yy"), 2, 7) == (REQUEST, 2 + len(BODY))


def test_decoded_octets_are_bytes_of_their_own() -> None:
    buffer = bytearray(SaslAuthenticateRequest(b"secret").encode(2))
    decoded = SaslAuthenticateRequest.decode(buffer, 2)
    buffer[:] = bytes(len(buffer))
    assert decoded.auth_bytes == b"secret"
    assert type(decoded.auth_bytes) is bytes


def test_a_strided_view_is_decoded() -> None:
    doubled = bytes(byte for byte in BODY for _ in range(2))
    assert CreateTopicsRequest.decode(memoryview(doubled)[::2], 7) == REQUEST


def test_decode_wants_the_whole_buffer() -> None:
    error = decode_error(CreateTopicsRequest, BODY + b"!", 7)
    assert str(error) == f"CreateTopicsRequest v7: at byte {len(BODY)}: 1 byte is left after the message"
    assert (error.kind, error.path, error.offset) == ("trailing", "", len(BODY))


@pytest.mark.parametrize("offset", [-1, 5, 100])
def test_decode_from_wants_an_offset_in_the_buffer(offset: int) -> None:
    with pytest.raises(DecodeError, match="the buffer has 4 bytes"):
        ApiVersionsRequest.decode_from(b"\1\1\0\0", offset, 3)


def test_decode_from_reads_messages_one_after_the_other() -> None:
    buffer = BODY * 3
    at = 0
    for _ in range(3):
        message, at = CreateTopicsRequest.decode_from(buffer, at, 7)
        assert message == REQUEST
    assert at == len(buffer)


@pytest.mark.parametrize("version", [-1, 8, 99])
def test_unsupported_versions(version: int) -> None:
    for refused in (
        lambda: REQUEST.encode(version),
        lambda: CreateTopicsRequest.decode(BODY, version),
        lambda: CreateTopicsRequest.decode_from(BODY, 0, version),
    ):
        with pytest.raises(UnsupportedVersionError) as caught:
            refused()
        assert str(caught.value) == f"CreateTopicsRequest: there is no version {version}; versions are 0 to 7"
        assert (caught.value.message_name, caught.value.version, caught.value.versions) == (
            "CreateTopicsRequest", version, range(8),
        )  # fmt: skip


def test_errors_are_value_errors_of_one_family() -> None:
    assert issubclass(WireError, Exception)
    for kind in (DecodeError, EncodeError, UnsupportedVersionError):
        assert issubclass(kind, WireError)
        assert issubclass(kind, ValueError)


def test_a_truncated_message_says_what_is_missing_and_where() -> None:
    whole = RESPONSE.encode(12)
    at = whole.rindex(b"\0\0\0\4") + 2
    error = decode_error(MetadataResponse, whole[:at], 12)
    assert str(error) == (
        f"MetadataResponse v12: topics[3].partitions[1].leader_id at byte {at - 2}: needs 4 bytes, 2 are left"
    )
    assert (error.kind, error.message_name, error.version) == ("truncated", "MetadataResponse", 12)
    assert (error.path, error.offset) == ("topics[3].partitions[1].leader_id", at - 2)
    assert error.reason == "needs 4 bytes, 2 are left"


@pytest.mark.parametrize(
    ("octets", "text", "kind"),
    [
        ("", "topics at byte 0: needs 1 byte, 0 are left", "truncated"),
        ("ffffffff07", "topics at byte 0: claims 2147483646 elements, 0 are left", "truncated"),
        (
            "ffffffff0f",
            "topics at byte 0: the number of elements is the varint 4294967295, at most 2147483647 is allowed",
            "varint",
        ),
        ("8080808080", "topics at byte 0: a varint has at most 5 bytes", "varint"),
        ("00", "topics at byte 0: null is not allowed here", "null"),
        ("02 03ff", "topics[0].name at byte 2: needs 2 bytes, 1 is left", "truncated"),
        ("02 03c328", "topics[0].name at byte 2: malformed UTF-8, invalid continuation byte", "utf8"),
        (
            "02 818002" + "00" * 40000,
            "topics[0].name at byte 1: takes 32768 bytes, at most 32767 are allowed",
            "length",
        ),
        ("01 00000000 00 02 05 00 05 00", "at byte 9: tag 5 after tag 5; tags go up", "tag"),
        ("01 00000000 00 01 00 05 aa", "at byte 8: tagged field 0 needs 5 bytes, 1 is left", "truncated"),
    ],
)
def test_bytes_that_are_no_message_say_why(octets: str, text: str, kind: str) -> None:
    error = decode_error(CreateTopicsRequest, bytes.fromhex(octets), 7)
    assert str(error) == f"CreateTopicsRequest v7: {text}"
    assert error.kind == kind


# What is put into these is wrong, as a type checker would say.
Create: Any = CreateTopicsRequest
NewTopic: Any = Topic
Metadata: Any = MetadataRequest
IdTopic: Any = MetadataRequest.MetadataRequestTopic
Sasl: Any = SaslAuthenticateRequest


@pytest.mark.parametrize(
    ("message", "version", "text", "kind"),
    [
        (Metadata("orders"), 12, "topics: a lone string is not an array; did you forget a comma?", "type"),
        (Create(NewTopic("a")), 7,
         "topics: a lone CreatableTopic is not an array; did you forget a comma?", "type"),
        (Create((NewTopic("a"), "b")), 7, "topics[1]: expected CreateTopicsRequest.CreatableTopic, not str",
         "type"),
        (Create((NewTopic("a"), None)), 7, "topics[1]: null is not allowed here", "null"),
        (Create((NewTopic(None),)), 7, "topics[0].name: null is not allowed here", "null"),
        (Create((NewTopic(b"a"),)), 7, "topics[0].name: expected a string, not bytes", "type"),
        (Create((NewTopic("a" * 32768),)), 7,
         "topics[0].name: the string takes 32768 bytes, at most 32767 are allowed", "length"),
        (Create((NewTopic("a" * 32768),)), 4,
         "topics[0].name: the string takes 32768 bytes, at most 32767 are allowed", "length"),
        (Create((NewTopic("\ud800"),)), 7,
         "topics[0].name: character 0 is a lone surrogate, which UTF-8 cannot carry", "utf8"),
        (Create((NewTopic("a", 2**31),)), 7,
         "topics[0].num_partitions: 2147483648 is outside int32, -2147483648 to 2147483647", "range"),
        (Create((NewTopic("a", 1, -32769),)), 5,
         "topics[0].replication_factor: -32769 is outside int16, -32768 to 32767", "range"),
        (Create((NewTopic("a", 1.0),)), 7,
         "topics[0].num_partitions: expected an integer, not float", "type"),
        (Create(validate_only=None), 7, "validate_only: null is not allowed here", "null"),
        (Create(validate_only="no"), 7, "validate_only: expected True or False, not str", "type"),
        (Create(validate_only=True), 0,
         "validate_only: is set, but version 0 has no such field and it must not be dropped", "unsupported_field"),
        (Create(unknown_tagged_fields=((0, b""),)), 4,
         "unknown_tagged_fields: this version has no tagged fields, so unknown ones would be lost", "tag"),
        (Metadata((IdTopic(b"short"),)), 12,
         "topics[0].topic_id: a uuid has 16 bytes, not 5", "length"),
        (Sasl("secret"), 2, "auth_bytes: expected bytes, not str", "type"),
    ],
)  # fmt: skip
def test_a_value_that_the_version_cannot_carry_says_why(message: Message, version: int, text: str, kind: str) -> None:
    error = encode_error(message, version)
    assert str(error) == f"{message.NAME} v{version}: {text}"
    assert (error.kind, error.message_name, error.version) == (kind, message.NAME, version)
    assert f"{error.path}: {error.reason}" == text


@pytest.mark.parametrize("kind", [list, tuple, deque])
def test_any_sequence_is_an_array(kind: type[list[Topic]]) -> None:
    topics: Sequence[Topic] = kind(REQUEST.topics)
    assert replace(REQUEST, topics=topics).encode(7) == BODY


def test_a_range_is_an_array_of_integers() -> None:
    assignment = CreateTopicsRequest.CreatableReplicaAssignment
    for count in (0, 3, 126, 127, 200):
        as_range, as_tuple = assignment(0, range(count)), assignment(0, tuple(range(count)))
        for version in (4, 7):
            first = CreateTopicsRequest((Topic("a", assignments=(as_range,)),)).encode(version)
            assert first == CreateTopicsRequest((Topic("a", assignments=(as_tuple,)),)).encode(version)


def test_octets_of_any_kind_are_encoded() -> None:
    for octets in (b"abc", bytearray(b"abc"), memoryview(b"abc")):
        for version in SaslAuthenticateRequest.VERSIONS:
            assert Sasl(octets).encode(version) == Sasl(b"abc").encode(version)


def test_sixteen_bytes_are_a_uuid() -> None:
    plain, made = IdTopic(bytes(range(16))), IdTopic(Uuid(bytes(range(16))))
    assert MetadataRequest((plain,)).encode(12) == MetadataRequest((made,)).encode(12)
    decoded = MetadataRequest.decode(MetadataRequest((plain,)).encode(12), 12)
    assert decoded.topics is not None
    assert type(decoded.topics[0].topic_id) is Uuid


def test_a_uuid_of_the_standard_library_is_refused_with_the_type_to_use() -> None:
    topic = IdTopic(uuid.UUID(int=1))
    with pytest.raises(EncodeError, match=r"expected a kafkawire.wire.Uuid or 16 bytes, not UUID"):
        MetadataRequest((topic,)).encode(12)


def test_fields_can_be_given_by_place_and_by_name() -> None:
    assert Topic("a", 1, 2) == Topic(name="a", num_partitions=1, replication_factor=2)
    with pytest.raises(TypeError, match="Unexpected keyword argument 'nam'"):
        Topic(nam="a")  # type: ignore[call-arg]


def test_messages_are_immutable() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        REQUEST.timeout_ms = 1  # type: ignore[misc]


def test_equality_counts_all_fields_and_unknown_tags() -> None:
    assert CreateTopicsRequest.decode(BODY, 7) == REQUEST
    assert replace(REQUEST, timeout_ms=1) != REQUEST
    assert replace(REQUEST, unknown_tagged_fields=((7, b""),)) != REQUEST
    assert Metadata() != ApiVersionsRequest()
    assert len({REQUEST, CreateTopicsRequest.decode(BODY, 7), replace(REQUEST, timeout_ms=1)}) == 2


def test_copies_are_equal() -> None:
    tagged = replace(REQUEST, unknown_tagged_fields=((7, b"x"),))
    for message in (REQUEST, tagged, RESPONSE, ApiVersionsResponse(), FetchResponse()):
        pickled = pickle.loads(pickle.dumps(message))  # noqa: S301 ours
        for made in (copy.copy(message), copy.deepcopy(message), replace(message), pickled):
            assert made == message
            assert type(made) is type(message)


def test_default_structs_are_shared_because_they_cannot_change() -> None:
    first, second = ShareFetchResponse.PartitionData(), ShareFetchResponse.PartitionData()
    assert first.current_leader is second.current_leader


def test_messages_are_invisible_to_the_collector() -> None:
    decoded = MetadataResponse.decode(RESPONSE.encode(12), 12)
    assert not gc.is_tracked(decoded)
    assert not gc.is_tracked(decoded.topics[0])
    assert not gc.is_tracked(decoded.topics[0].partitions[0])
    assert all(issubclass(cls, msgspec.Struct) for cls in (MetadataResponse, MetadataResponse.MetadataResponseTopic))


def test_arrays_are_decoded_to_tuples() -> None:
    decoded = MetadataResponse.decode(RESPONSE.encode(12), 12)
    assert type(decoded.topics) is tuple
    assert type(decoded.topics[0].partitions[0].isr_nodes) is tuple


def test_representation_names_fields_and_classes() -> None:
    assert repr(Config("a", None)) == "CreateTopicsRequest.CreatableTopicConfig(name='a', value=None)"
    entity = DescribeClientQuotasResponse.EntityData("user", None)
    assert repr(entity) == "DescribeClientQuotasResponse.EntityData(entity_type='user', entity_name=None)"
    assert repr(replace(entity, unknown_tagged_fields=((3, b"secret"),))).endswith(
        "entity_name=None, unknown_tagged_fields=((3, <6 bytes>),))"
    )


@pytest.mark.parametrize("octets", [b"secret", bytearray(b"secret"), memoryview(b"secret")])
def test_representation_shows_octets_by_size_only(octets: bytes) -> None:
    message = SaslAuthenticateRequest(octets, unknown_tagged_fields=((1, octets),))
    assert repr(message) == "SaslAuthenticateRequest(auth_bytes=<6 bytes>, unknown_tagged_fields=((1, <6 bytes>),))"
    shown = [f"{name}={value!r}" for name, value in message.__rich_repr__()]
    assert shown == ["auth_bytes=<6 bytes>", "unknown_tagged_fields=((1, <6 bytes>),)"]
    assert "secret" not in repr(Sasl([octets]))


def test_representation_shows_uuids_in_kafkas_form() -> None:
    topic = MetadataRequest.MetadataRequestTopic(Uuid(b"\1" * 16))
    assert repr(topic).startswith(
        "MetadataRequest.MetadataRequestTopic(topic_id=Uuid.from_text('AQEBAQEBAQEBAQEBAQEBAQ'), name="
    )


def test_errors_never_quote_octets() -> None:
    error = encode_error(Sasl(["secret"]), 2)
    assert "secret" not in str(error)
    assert "secret" not in repr(error)


def test_tagged_unknown_kept() -> None:
    octets = BODY[:-1] + bytes.fromhex("02 07 01 aa 8001 00")
    decoded = CreateTopicsRequest.decode(octets, 7)
    assert decoded.unknown_tagged_fields == ((7, b"\xaa"), (128, b""))
    assert decoded.encode(7) == octets


def test_engines_have_an_entrance_of_their_own() -> None:
    codec = CreateTopicsRequest.fast_codec(7)
    assert codec.write(REQUEST) == BODY
    assert codec.decode(BODY) == REQUEST
    assert codec.read(BODY, 0) == (REQUEST, len(BODY))
