"""``kafkawire demo``: the main job of the project, done in front of the user's eyes."""

from __future__ import annotations

import json
import socket
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from kafkawire.cli.generate import OWN_PACKAGE, run_generation
from kafkawire.cli.outcome import CommandError
from kafkawire.codegen.generate import Target
from kafkawire.codegen.package_data import specs_dir
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    MetadataRequest,
    MetadataResponse,
    RequestHeader,
    to_json,
)
from kafkawire.protocol.api_table import APIS
from kafkawire.rpc import MAXIMUM_FRAME_SIZE, api_of, decode_request, decode_response, encode_request
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.reference.annotation import Annotation, annotate

R = TypeVar("R", bound=Message)
VERSION = 7
CORRELATION_ID = 1
CLIENT_ID = "kafkawire-demo"
TIMEOUT_SECONDS = 10.0
BrokerOption = Annotated[str | None, typer.Option(help="HOST:PORT of a broker to ask for its versions and topics.")]


def run(broker: BrokerOption = None) -> None:
    """Generate the whole protocol into a scratch folder, then build, encode, show and decode a request."""
    console = Console()
    address = _address(broker) if broker is not None else None
    _show_generation(console)
    _show_request(console)
    if address is not None:
        _ask_broker(console, *address)


def _show_generation(console: Console) -> None:
    console.rule("[bold]1. Apache Kafka's message definitions become a Python package")
    with tempfile.TemporaryDirectory(prefix="kafkawire-demo-") as scratch:
        folder = Path(scratch)
        run_generation(Target(specs_dir(), OWN_PACKAGE, folder / "package", folder / "tests"), console)


def _show_request(console: Console) -> None:
    console.rule("[bold]2. A request becomes bytes, and bytes become a request")
    topic = CreateTopicsRequest.CreatableTopic(
        name="orders",
        num_partitions=6,
        replication_factor=3,
        configs=(CreateTopicsRequest.CreatableTopicConfig(name="cleanup.policy", value="compact"),),
    )
    request = CreateTopicsRequest(topics=(topic,), validate_only=True)
    console.print(request, style="cyan")
    frame = encode_request(request, VERSION, correlation_id=CORRELATION_ID, client_id=CLIENT_ID)
    console.print(hex_dump(frame, CreateTopicsRequest, VERSION))
    decoded = decode_request(frame[4:]).body
    if decoded != request:
        raise CommandError("the request did not come back as it was")
    console.print(f"Decoded again, it is equal. As Kafka's JSON form, version {VERSION}:")
    console.print(Syntax(json.dumps(to_json(request, VERSION), indent=2), "json", background_color="default"))


def hex_dump(frame: bytes, body: type[Message], version: int) -> Table:
    """A request frame as a table: each value with its bytes."""
    table = Table(title=f"{body.NAME} version {version}, {len(frame)} bytes", title_justify="left")
    for heading in ("at", "bytes", "field", "value"):
        table.add_column(heading, justify="right" if heading == "at" else "left", overflow="fold")
    for part, stretch in _stretches(frame, body, version):
        hexadecimal = frame[stretch.start : stretch.end].hex(" ")
        path = f"{part}.{stretch.path}" if stretch.path else part
        table.add_row(str(stretch.start), f"[green]{hexadecimal}", path, stretch.what)
    return table


def _stretches(frame: bytes, body: type[Message], version: int) -> Iterator[tuple[str, Annotation]]:
    yield "frame", Annotation(0, 4, "size", str(len(frame) - 4))
    header_version = api_of(body).request_headers[version]
    header, at = annotate(RequestHeader, frame, 4, header_version)
    yield from (("header", stretch) for stretch in header)
    content, _ = annotate(body, frame, at, version)
    yield from (("body", stretch) for stretch in content)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise CommandError(f"{text!r} is not an address: HOST:PORT is needed, such as localhost:9092")
    return host.strip("[]"), int(port)


def _ask_broker(console: Console, host: str, port: int) -> None:
    console.rule(f"[bold]3. A broker answers: {host}:{port}")
    try:
        with socket.create_connection((host, port), TIMEOUT_SECONDS) as connection:
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


def _call(connection: socket.socket, request: Message, response: type[R], version: int, *, correlation_id: int) -> R:
    connection.sendall(encode_request(request, version, correlation_id=correlation_id, client_id=CLIENT_ID))
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
