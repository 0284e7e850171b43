"""Query a broker for its APIs and topics.

Usage: python examples/ask_a_broker.py HOST:PORT
"""

from __future__ import annotations

import socket
import struct
import sys
from typing import TypeVar

from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, MetadataResponse
from kafkawire.rpc import decode_response, encode_request
from kafkawire.wire import Message

R = TypeVar("R", bound=Message)


def ask(connection: socket.socket, request: Message, answer: type[R], version: int) -> R:
    """Send one request and return the response."""
    connection.sendall(encode_request(request, version, correlation_id=1, client_id="example"))
    (size,) = struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))
    _, body = decode_response(connection.recv(size, socket.MSG_WAITALL), answer, version)
    return body


def main(address: str) -> None:
    """Print the APIs and the topics of the broker."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        question = ApiVersionsRequest(client_software_name="example", client_software_version="1")
        versions = ask(connection, question, ApiVersionsResponse, 3)
        print(f"{len(versions.api_keys)} APIs")

        offered = next(api.max_version for api in versions.api_keys if api.api_key == MetadataRequest.API_KEY)
        version = min(offered, MetadataRequest.VERSIONS[-1])
        metadata = ask(connection, MetadataRequest(topics=None), MetadataResponse, version)
        for broker in metadata.brokers:
            print(f"broker {broker.node_id} at {broker.host}:{broker.port}")
        for topic in metadata.topics:
            print(f"topic {topic.name} with {len(topic.partitions)} partitions")


if __name__ == "__main__":
    main(sys.argv[1])
