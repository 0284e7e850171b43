"""What any broker tells about itself, asked with nothing but a socket and the generated messages."""

from __future__ import annotations

import socket
import struct
from typing import TypeVar

from rich.console import Console
from rich.table import Table

from kafkawire.cli.outcome import CommandError
from kafkawire.protocol import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, MetadataResponse
from kafkawire.protocol.api_table import APIS
from kafkawire.rpc import MAXIMUM_FRAME_SIZE, decode_response, encode_request
from kafkawire.wire import DecodeError, Message

_R = TypeVar("_R", bound=Message)
_CLIENT_ID = "kafkawire-demo"
_TIMEOUT_SECONDS = 10.0


def address_of(text: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT``.

    Raises:
        CommandError: if it is no address.
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise CommandError(f"{text!r} is not an address: HOST:PORT is needed, such as localhost:9092")
    return host.strip("[]"), int(port)


def ask_broker(console: Console, host: str, port: int) -> None:
    """Show the APIs, nodes and topics that a broker tells of.

    Raises:
        CommandError: if it does not answer.
    """
    try:
        with socket.create_connection((host, port), _TIMEOUT_SECONDS) as connection:
            version = min(3, ApiVersionsRequest.VERSIONS[-1])
            about = ApiVersionsRequest("kafkawire", "0.1")
            versions = _call(connection, about, ApiVersionsResponse, version, correlation_id=1)
            console.print(_api_table(versions))
            highest = {api.api_key: api.max_version for api in versions.api_keys}
            metadata_version = min(highest[MetadataRequest.API_KEY or 3], MetadataRequest.VERSIONS[-1])
            everything = MetadataRequest(topics=None if metadata_version else ())
            metadata = _call(connection, everything, MetadataResponse, metadata_version, correlation_id=2)
            console.print(_metadata_table(metadata))
    except (OSError, DecodeError) as error:
        raise CommandError(f"the broker at {host}:{port} did not answer: {error}") from None


def _call(connection: socket.socket, request: Message, response: type[_R], version: int, *, correlation_id: int) -> _R:
    connection.sendall(encode_request(request, version, correlation_id=correlation_id, client_id=_CLIENT_ID))
    (size,) = struct.unpack(">i", _receive(connection, 4))
    if not 0 <= size <= MAXIMUM_FRAME_SIZE:
        raise DecodeError("length", f"a frame of {size} bytes", message_name=response.NAME)
    _, answer = decode_response(_receive(connection, size), response, version)
    return answer


def _receive(connection: socket.socket, size: int) -> bytes:
    received = bytearray()
    while len(received) < size:
        piece = connection.recv(size - len(received))
        if not piece:
            raise ConnectionError("it closed the connection")
        received += piece
    return bytes(received)


def _api_table(versions: ApiVersionsResponse) -> Table:
    table = Table(title=f"{len(versions.api_keys)} APIs", title_justify="left")
    for heading in ("key", "API", "the broker's versions", "ours"):
        table.add_column(heading, justify="right" if heading == "key" else "left")
    for api in versions.api_keys:
        ours = APIS.get(api.api_key)
        known = f"{ours.versions.start}-{ours.versions[-1]}" if ours else "unknown"
        theirs = f"{api.min_version}-{api.max_version}"
        table.add_row(str(api.api_key), ours.name if ours else "unknown", theirs, known)
    return table


def _metadata_table(metadata: MetadataResponse) -> Table:
    nodes = ", ".join(f"{broker.node_id} at {broker.host}:{broker.port}" for broker in metadata.brokers)
    table = Table(title=f"Cluster {metadata.cluster_id}; nodes {nodes}", title_justify="left")
    for heading in ("topic", "partitions", "internal"):
        table.add_column(heading)
    for topic in metadata.topics:
        table.add_row(topic.name or "", str(len(topic.partitions)), "yes" if topic.is_internal else "no")
    return table
