"""Frames and headers (frame, header-request, header-response)."""

from __future__ import annotations

from types import ModuleType

import pytest
from tests.made.packages import field, make_package, message

from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ControlledShutdownRequest,
    CreateTopicsRequest,
    MetadataRequest,
    MetadataResponse,
    RequestHeader,
    ResponseHeader,
    SaslHandshakeRequest,
    message_class,
)
from kafkawire.protocol.api_table import APIS
from kafkawire.rpc import (
    MAXIMUM_FRAME_SIZE,
    FrameBuffer,
    api_of,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    header_version,
    split_frames,
)
from kafkawire.wire import DecodeError, EncodeError, UnsupportedVersionError
from kafkawire.wire.api import Api

API_VERSIONS_3 = bytes.fromhex("0000001c 0012 0003 00000007 0002 6b77 00 0a 6b61666b6177697265 04 302e31 00")
FALLBACK = bytes.fromhex("00000010 00000007 0023 00000001 0012 0000 0004")
API_VERSIONS = [(api, version) for api in APIS.values() for version in api.versions]


def case(value: object) -> str:
    return value.name if isinstance(value, Api) else str(value)


def test_the_api_versions_request_of_section_8_3() -> None:
    request = ApiVersionsRequest(client_software_name="kafkawire", client_software_version="0.1")
    assert encode_request(request, 3, correlation_id=7, client_id="kw") == API_VERSIONS_3
    read = decode_request(API_VERSIONS_3[4:])
    assert read.body == request
    assert read.header == RequestHeader(18, 3, 7, "kw")


def test_header_api_versions_unknown_as_the_client_sees_it() -> None:
    answer = ApiVersionsResponse(35, (ApiVersionsResponse.ApiVersion(18, 0, 4),))
    assert encode_response(answer, 0, correlation_id=7) == FALLBACK
    for version in ApiVersionsResponse.VERSIONS:
        assert decode_response(FALLBACK[4:], ApiVersionsResponse, version) == (7, answer)


@pytest.mark.parametrize("version", [ApiVersionsRequest.VERSIONS.stop, 32767])
def test_header_api_versions_unknown_as_the_server_sees_it(version: int) -> None:
    content = API_VERSIONS_3[4:6] + version.to_bytes(2) + API_VERSIONS_3[8:]
    read = decode_request(content)
    assert read.body is None
    assert read.header == RequestHeader(18, version, 7, "kw")


@pytest.mark.parametrize("version", [3, 4, 5])
def test_of_a_version_that_the_reader_does_not_serve_only_the_header_is_read(version: int) -> None:
    request = ApiVersionsRequest("kafkawire", "0.1")
    content = encode_request(request, version, correlation_id=7, client_id="kw")[4:]
    assert decode_request(content).body == request
    read = decode_request(content[:-1], api_versions=range(3))
    assert (read.header, read.body) == (RequestHeader(18, version, 7, "kw"), None)


def test_the_header_of_a_version_that_the_reader_does_not_serve_is_that_of_the_version() -> None:
    content = encode_request(ApiVersionsRequest(), 2, correlation_id=7, client_id="kw")[4:]
    assert decode_request(content, api_versions=range(1)).header == RequestHeader(18, 2, 7, "kw")


@pytest.mark.parametrize("version", [-1, -32768])
def test_header_api_versions_negative_has_the_oldest_header(version: int) -> None:
    content = (18).to_bytes(2) + version.to_bytes(2, signed=True) + bytes.fromhex("00000007 0002") + b"kw"
    read = decode_request(content)
    assert read.body is None
    assert read.header == RequestHeader(18, version, 7, "kw")


@pytest.mark.parametrize(
    ("key", "version", "request_header", "response_header"),
    [(0, 8, 1, 0), (0, 9, 2, 1), (19, 5, 2, 1), (47, 0, 1, 0), (17, 0, 1, 0), (17, 1, 1, 0), (18, 3, 2, 0),
     (18, 4, 2, 0), (18, 2, 1, 0), (7, 0, 0, 0), (7, 1, 1, 0), (7, 2, 1, 0), (7, 3, 2, 1)],
)  # fmt: skip
def test_examples_of_header_versions(key: int, version: int, request_header: int, response_header: int) -> None:
    api = APIS[key]
    assert header_version(message_class(api.request), version) == request_header
    assert header_version(message_class(api.response), version) == response_header


@pytest.mark.parametrize(("api", "version"), API_VERSIONS, ids=case)
def test_header_request_and_header_response(api: Api, version: int) -> None:
    request, response = message_class(api.request), message_class(api.response)
    plain = 0 if (api.key, version) == (7, 0) else 1
    assert header_version(request, version) == (2 if version in request.FLEXIBLE_VERSIONS else plain)
    flexible = version in response.FLEXIBLE_VERSIONS and api.key != 18
    assert header_version(response, version) == (1 if flexible else 0)


@pytest.mark.parametrize(("api", "version"), API_VERSIONS, ids=case)
def test_every_request_and_response_travels(api: Api, version: int) -> None:
    request, response = message_class(api.request)(), message_class(api.response)()
    client_id = "" if header_version(request, version) == 0 else "client"
    (content,) = split_frames(encode_request(request, version, correlation_id=-5, client_id="client"))
    read = decode_request(content)
    assert read.header == RequestHeader(api.key, version, -5, client_id)
    assert read.body == request.decode(request.encode(version), version)
    (answer,) = split_frames(encode_response(response, version, correlation_id=-5))
    assert decode_response(answer, type(response), version) == (-5, response.decode(response.encode(version), version))


def test_header_client_id_not_compact() -> None:
    frame = encode_request(CreateTopicsRequest(), 7, correlation_id=1, client_id="é" * 100)
    assert frame[12:14] == (200).to_bytes(2)
    assert decode_request(frame[4:]).header.client_id == "é" * 100


@pytest.mark.parametrize("version", [0, 7])
def test_a_client_may_have_no_id(version: int) -> None:
    frame = encode_request(CreateTopicsRequest(), version, correlation_id=1)
    assert frame[12:14] == b"\xff\xff"
    assert decode_request(frame[4:]).header.client_id is None


def test_header_controlled_shutdown_0() -> None:
    frame = encode_request(ControlledShutdownRequest(broker_id=3), 0, correlation_id=9, client_id="dropped")
    assert frame == bytes.fromhex("0000000c 0007 0000 00000009 00000003")
    read = decode_request(frame[4:])
    assert read.header == RequestHeader(7, 0, 9)
    assert read.body == ControlledShutdownRequest(broker_id=3)


def test_unknown_tags_of_headers_are_kept() -> None:
    header = RequestHeader(3, 12, 5, None, ((7, b"x"),))
    content = header.encode(2) + MetadataRequest().encode(12)
    assert decode_request(content).header == header
    answer = ResponseHeader(5, ((7, b"x"),)).encode(1) + MetadataResponse().encode(12)
    assert decode_response(answer, MetadataResponse, 12) == (5, MetadataResponse())


def test_bytes_after_the_body_are_tolerated() -> None:
    assert decode_request(API_VERSIONS_3[4:] + b"more").body is not None
    answer = encode_response(MetadataResponse(), 12, correlation_id=1)[4:] + b"more"
    assert decode_response(answer, MetadataResponse, 12) == (1, MetadataResponse())


@pytest.mark.parametrize(
    ("content", "text", "kind"),
    [
        ("", "RequestHeader: at byte 0: needs 4 bytes, 0 are left", "truncated"),
        ("000300", "RequestHeader: at byte 0: needs 4 bytes, 3 are left", "truncated"),
        ("0003000c", "RequestHeader v2: correlation_id at byte 4: needs 4 bytes, 0 are left", "truncated"),
        ("0003000c 00000001 fffe 00", "MetadataRequest v12: topics at byte 11: needs 1 byte, 0 are left", "truncated"),
        ("270f0000 00000001 ffff", "RequestHeader: at byte 0: there is no API 9999", "version"),
        ("ffff0000 00000001 ffff", "RequestHeader: at byte 0: there is no API -1", "version"),
        ("000300ff 00000001 ffff", "RequestHeader: at byte 2: MetadataRequest has no version 255", "version"),
        ("00120009 00000001 0005 61", "RequestHeader v2: client_id at byte 10: needs 5 bytes, 1 is left", "truncated"),
    ],
)
def test_requests_that_cannot_be_read(content: str, text: str, kind: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_request(bytes.fromhex(content))
    assert str(caught.value) == text
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("0000", "ResponseHeader v1: correlation_id at byte 0: needs 4 bytes, 2 are left"),
        ("00000001 00 0000", "MetadataResponse v12: throttle_time_ms at byte 5: needs 4 bytes, 2 are left"),
    ],
)
def test_responses_that_cannot_be_read(content: str, text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_response(bytes.fromhex(content), MetadataResponse, 12)
    assert str(caught.value) == text


def test_unsupported_versions() -> None:
    for refused in (
        lambda: encode_request(MetadataRequest(), 99, correlation_id=1),
        lambda: encode_response(MetadataResponse(), 99, correlation_id=1),
        lambda: decode_response(bytes(20), MetadataResponse, 99),
    ):
        highest = MetadataRequest.VERSIONS[-1]
        with pytest.raises(UnsupportedVersionError, match=f"there is no version 99; versions are 0 to {highest}"):
            refused()


def test_values_that_do_not_fit() -> None:
    with pytest.raises(EncodeError, match="RequestHeader v2: correlation_id: 2147483648 is outside int32"):
        encode_request(MetadataRequest(), 12, correlation_id=2**31)
    with pytest.raises(EncodeError, match="RequestHeader v2: client_id: the string takes 40000 bytes"):
        encode_request(MetadataRequest(), 12, correlation_id=1, client_id="x" * 40000)


def test_api_of() -> None:
    assert api_of(MetadataRequest()) is api_of(MetadataResponse) is APIS[3]
    for other in (RequestHeader(), ResponseHeader, message_class("TopicRecord"), message_class("GroupMetadataKey")):
        with pytest.raises(ValueError, match="is neither a request nor a response"):
            api_of(other)


def test_requests_and_responses_are_distinguished() -> None:
    with pytest.raises(ValueError, match=r"^MetadataResponse is not a request$"):
        encode_request(MetadataResponse(), 12, correlation_id=1)
    with pytest.raises(ValueError, match=r"^MetadataRequest is not a response$"):
        encode_response(MetadataRequest(), 12, correlation_id=1)
    with pytest.raises(ValueError, match=r"^MetadataRequest is not a response$"):
        decode_response(bytes(20), MetadataRequest, 12)


def test_messages_without_a_header() -> None:
    with pytest.raises(ValueError, match=r"^TopicRecord has no header: it is neither a request nor a response$"):
        header_version(message_class("TopicRecord"), 0)
    with pytest.raises(UnsupportedVersionError, match="there is no version 99"):
        header_version(MetadataRequest, 99)


OWN = "acme_of_rpc"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Definitions of one's own: a message of the name and key of Kafka's, with other versions, and a new API."""
    pairs = (
        ("Metadata", 3, {"flexible": "none"}), ("Ping", 9000, {"flexible": "1+"}),
        ("Shut", 7, {"flexible": "1+"}), ("Versions", 18, {"flexible": "1+"}),
    )  # fmt: skip
    definitions = [
        message(f"{name}{kind.title()}", field("Text", "string"), type=kind, apiKey=key, **more)
        for name, key, more in pairs
        for kind in ("request", "response")
    ]
    return make_package(tmp_path_factory.mktemp("rpc"), OWN, *definitions)


@pytest.mark.parametrize(
    ("name", "version", "header"),
    [("Metadata", 0, 1), ("Metadata", 1, 1), ("Ping", 1, 2), ("Shut", 0, 1), ("Shut", 1, 2), ("Versions", 1, 2)],
)
def test_own_requests_and_responses_travel(own: ModuleType, name: str, version: int, header: int) -> None:
    request, response = own.message_class(f"{name}Request"), own.message_class(f"{name}Response")
    assert (header_version(request, version), header_version(response, version)) == (header, header - 1)
    (content,) = split_frames(encode_request(request("a"), version, correlation_id=5, client_id="me"))
    read = decode_request(content, package=OWN)
    assert read.header == RequestHeader(request.API_KEY, version, 5, "me")
    assert read.body == request("a")
    (answer,) = split_frames(encode_response(response("b"), version, correlation_id=5))
    assert decode_response(answer, response, version) == (5, response("b"))


def test_an_own_message_is_none_of_kafkas_apis(own: ModuleType) -> None:
    with pytest.raises(
        ValueError, match=rf"MetadataRequest of {OWN}\.metadata_request is neither .* kafkawire.protocol"
    ):
        api_of(own.message_class("MetadataRequest"))


def test_a_package_without_requests_reads_none() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        decode_request(bytes(8), package="no_such_package")


FRAMES = [
    encode_request(SaslHandshakeRequest("PLAIN"), 1, correlation_id=1),
    API_VERSIONS_3,
    bytes(4),
    encode_request(MetadataRequest(), 12, correlation_id=2),
]
STREAM = b"".join(FRAMES)


def test_frames_are_split_whatever_the_cuts() -> None:
    contents = [frame[4:] for frame in FRAMES]
    assert list(split_frames(STREAM)) == contents
    assert list(split_frames(bytearray(STREAM))) == contents
    for cut in range(len(STREAM) + 1):
        whole = list(split_frames(STREAM[:cut]))
        assert whole == contents[: len(whole)]
        used = sum(4 + len(content) for content in whole)
        assert whole + list(split_frames(STREAM[used:])) == contents


@pytest.mark.parametrize("step", [1, 2, 3, 7, len(STREAM)])
def test_frames_come_out_however_the_bytes_arrive(step: int) -> None:
    buffer = FrameBuffer(1000)
    parts = [STREAM[at : at + step] for at in range(0, len(STREAM), step)]
    assert [frame for part in parts for frame in buffer.add(part)] == [frame[4:] for frame in FRAMES]
    assert buffer.waiting == b""


def test_the_beginning_of_a_frame_waits_for_its_rest() -> None:
    buffer = FrameBuffer(1000)
    assert list(buffer.add(STREAM + b"\0\0\0\5abc")) == [frame[4:] for frame in FRAMES]
    assert buffer.waiting == b"\0\0\0\5abc"
    assert list(buffer.add(b"de")) == [b"abcde"]


def test_memory_follows_the_bytes_that_came_and_not_the_announced_size() -> None:
    buffer = FrameBuffer(1 << 30)
    assert list(buffer.add(b"\x3f\xff\xff\xff")) == []
    assert len(buffer.waiting) == 4


def test_large_frames_are_put_together_from_many_parts() -> None:
    content, parts = bytes(range(256)) * (1 << 12), 8
    buffer = FrameBuffer(1 << 24)
    frames = list(buffer.add((len(content) * parts).to_bytes(4)))
    for _ in range(parts):
        frames += buffer.add(content)
    assert frames == [content * parts]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("ffffffff", "a frame of -1 bytes; between 0 and 104857600 are allowed"),
        ("80000000", "a frame of -2147483648 bytes"),
        ("06400001", f"a frame of {MAXIMUM_FRAME_SIZE + 1} bytes"),
        ("7fffffff", "a frame of 2147483647 bytes"),
        ("47455420", "a frame of 1195725856 bytes"),  # GET, from a client that expects a web server
    ],
)
def test_frame_sizes_that_cannot_be(head: str, expected: str) -> None:
    buffer = FrameBuffer()
    frames = buffer.add(API_VERSIONS_3 + bytes.fromhex(head))
    assert next(frames) == API_VERSIONS_3[4:]
    with pytest.raises(DecodeError, match=f"^frame: at byte 32: {expected}") as caught:
        next(frames)
    assert caught.value.kind == "length"
    assert buffer.waiting.hex() == head


def test_the_largest_frame_can_be_set() -> None:
    assert list(split_frames(b"\0\0\0\5hello", maximum=5)) == [b"hello"]
    with pytest.raises(DecodeError, match="between 0 and 4 are allowed"):
        list(split_frames(b"\0\0\0\5", maximum=4))
