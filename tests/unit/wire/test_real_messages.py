"""The JSON form, the strategies and the codecs on messages of Kafka, by version."""

from __future__ import annotations

import pytest

from kafkawire.protocol import ApiVersionsRequest, MetadataRequest
from kafkawire.wire import DecodeError, EncodeError, UnsupportedVersionError
from kafkawire.wire.json_form import message_from_json, message_to_json
from kafkawire.wire.strategies import messages


@pytest.mark.parametrize("version", [-1, 99])
def test_version_checks(version: int) -> None:
    for refused in (
        lambda: MetadataRequest().encode(version),
        lambda: MetadataRequest.decode(b"", version),
        lambda: MetadataRequest.decode_from(b"", 0, version),
        lambda: message_to_json(MetadataRequest(), version),
        lambda: message_from_json(MetadataRequest, {}, version),
        lambda: messages(MetadataRequest, version),
    ):
        known = f"versions are 0 to {MetadataRequest.VERSIONS[-1]}"
        with pytest.raises(UnsupportedVersionError, match=f"there is no version {version}; {known}"):
            refused()


def test_wire_message_trailing_bytes_are_refused_by_decode_only() -> None:
    octets = ApiVersionsRequest(client_software_name="kw").encode(3)
    with pytest.raises(DecodeError, match="at byte 5: 2 bytes are left after the message") as caught:
        ApiVersionsRequest.decode(octets + b"xx", 3)
    assert caught.value.kind == "trailing"
    assert ApiVersionsRequest.decode_from(octets + b"xx", 0, 3)[1] == len(octets)


def test_json_of_a_message_reads_back() -> None:
    request = MetadataRequest(topics=(MetadataRequest.MetadataRequestTopic(name="orders"),))
    written = message_to_json(request, 12)
    assert written["topics"] == [{"topicId": "AAAAAAAAAAAAAAAAAAAAAA", "name": "orders"}]
    assert list(written) == [
        "topics", "allowAutoTopicCreation", "includeTopicAuthorizedOperations",
    ]  # fmt: skip
    assert message_from_json(MetadataRequest, written, 12) == request


def test_errors_name_message_version_path_and_place() -> None:
    with pytest.raises(DecodeError) as decoding:
        MetadataRequest.decode(bytes.fromhex("02" + "00" * 16 + "07616263"), 12)
    assert str(decoding.value) == "MetadataRequest v12: topics[0].name at byte 18: needs 6 bytes, 3 are left"
    with pytest.raises(EncodeError) as encoding:
        MetadataRequest(topics="orders").encode(12)  # type: ignore[arg-type]
    assert str(encoding.value).startswith("MetadataRequest v12: topics: a lone string is not an array")
    with pytest.raises(DecodeError) as reading:
        message_from_json(MetadataRequest, {"topics": [{"name": 7}]}, 4)
    assert str(reading.value) == "MetadataRequest v4: topics[0].name: expected a string, not an integer"
