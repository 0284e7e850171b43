"""The bytes of a request as rows."""

from __future__ import annotations

from kafkawire.cli.demo.request import byte_rows
from kafkawire.protocol import CreateTopicsRequest
from kafkawire.rpc import encode_request


def test_rows_account_for_every_byte_of_the_frame() -> None:
    request = CreateTopicsRequest(topics=(CreateTopicsRequest.CreatableTopic(name="a" * 30),))
    frame = encode_request(request, 7, correlation_id=1, client_id=None)
    rows = list(byte_rows(frame, CreateTopicsRequest, 7))
    assert bytes.fromhex(" ".join(octets for _, octets, _, _ in rows)) == frame


def test_a_field_has_the_last_part_of_its_name_indented_by_its_depth() -> None:
    request = CreateTopicsRequest(topics=(CreateTopicsRequest.CreatableTopic(name="a"),))
    frame = encode_request(request, 7, correlation_id=1, client_id=None)
    fields = [field for _, _, field, _ in byte_rows(frame, CreateTopicsRequest, 7)]
    assert fields[:3] == ["size", "  request_api_key", "  request_api_version"]
    assert "    num_partitions" in fields
    assert fields[-1] == "body"
