"""Second step of the demonstration: a request, its bytes, and the meaning of each."""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from kafkawire.cli.outcome import CommandError
from kafkawire.protocol import CreateTopicsRequest, RequestHeader, to_json
from kafkawire.rpc import decode_request, encode_request, header_version
from kafkawire.wire import Message
from kafkawire.wire.reference.annotation import Annotation, annotate

_VERSION = 7
_CORRELATION_ID = 1
_CLIENT_ID = "kafkawire-demo"


def show_request(console: Console) -> None:
    """Show a request as an object, as bytes and as Kafka's JSON.

    Raises:
        CommandError: the decoded request differs.
    """
    console.rule("[bold]2. A request becomes bytes, and bytes become a request")
    topic = CreateTopicsRequest.CreatableTopic(
        name="orders",
        num_partitions=6,
        replication_factor=3,
        configs=(CreateTopicsRequest.CreatableTopicConfig(name="cleanup.policy", value="compact"),),
    )
    request = CreateTopicsRequest(topics=(topic,), validate_only=True)
    console.print(request, style="cyan")
    frame = encode_request(request, _VERSION, correlation_id=_CORRELATION_ID, client_id=_CLIENT_ID)
    console.print(hex_dump(frame, CreateTopicsRequest, _VERSION))
    decoded = decode_request(frame[4:]).body
    if decoded != request:
        raise CommandError("the decoded request is not equal to the original")
    console.print(f"Decoded again, it is equal. As Kafka's JSON form, version {_VERSION}:")
    console.print(Syntax(json.dumps(to_json(request, _VERSION), indent=2), "json", background_color="default"))


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
    header, at = annotate(RequestHeader, frame, 4, header_version(body, version))
    yield from (("header", stretch) for stretch in header)
    content, _ = annotate(body, frame, at, version)
    yield from (("body", stretch) for stretch in content)
