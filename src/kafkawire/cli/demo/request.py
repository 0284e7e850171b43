"""Second chapter: a request, its bytes and the meaning of each; and what is said about bytes that are broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from rich.text import Text

from kafkawire.cli.demo.stage import Stage
from kafkawire.cli.outcome import CommandError
from kafkawire.protocol import CreateTopicsRequest, RequestHeader
from kafkawire.rpc import encode_request, header_version
from kafkawire.wire import DecodeError, Message
from kafkawire.wire.reference.annotation import Annotation, annotate

_VERSION: Final = 7
_BYTES_A_LINE: Final = 10
_BROKEN_BYTE: Final = 0x6B


def show(stage: Stage) -> None:
    """Show the bytes of a request, and the error of one whose length was changed.

    Raises:
        CommandError: the decoded request differs, or the broken one decodes.
    """
    topic = CreateTopicsRequest.CreatableTopic(
        name="orders",
        num_partitions=6,
        replication_factor=3,
        configs=(CreateTopicsRequest.CreatableTopicConfig(name="flush.ms", value="1000"),),
    )
    request = CreateTopicsRequest(topics=(topic,), validate_only=True)
    frame = encode_request(request, _VERSION, correlation_id=1, client_id="demo")
    rows = list(byte_rows(frame, CreateTopicsRequest, _VERSION))
    stage.table(("at", "bytes", "field", "value"), [(at, Text(octets, "green"), *row) for at, octets, *row in rows],
                right=("at",))  # fmt: skip
    body = len(frame) - len(request.encode(_VERSION))
    if CreateTopicsRequest.decode_from(frame, body, _VERSION) != (request, len(frame)):
        raise CommandError("the decoded request is not equal to the original")
    at = frame.index(b"orders") - 1
    stage.say(f"They decode to an equal request. If byte {at}, the length of the name, is {_BROKEN_BYTE:02x}:")
    broken = frame[:at] + bytes([_BROKEN_BYTE]) + frame[at + 1 :]
    try:
        CreateTopicsRequest.decode_from(broken, body, _VERSION)
    except DecodeError as error:
        stage.item(f"DecodeError: {error}", "red")
    else:
        raise CommandError("the broken request was decoded")
    kept = stage.folder / "request.jsonl"
    line = {"name": CreateTopicsRequest.NAME, "version": _VERSION, "hex": frame[body:].hex()}
    kept.write_text(json.dumps(line) + "\n", "utf-8")
    stage.request = kept
    stage.say("kafkawire codec reads such bytes, too:")
    stage.command("codec", "decode", "<", kept)


def byte_rows(frame: bytes, body: type[Message], version: int) -> Iterator[tuple[str, str, str, str]]:
    """The values of a request frame, in order: position, bytes, name indented by its depth, and value."""
    for path, stretch in _stretches(frame, body, version):
        depth = path.count(".")
        octets = frame[stretch.start : stretch.end]
        lines = [octets[begin : begin + _BYTES_A_LINE].hex(" ") for begin in range(0, len(octets), _BYTES_A_LINE)]
        yield str(stretch.start), "\n".join(lines), "  " * depth + path.rpartition(".")[2], stretch.what


def _stretches(frame: bytes, body: type[Message], version: int) -> Iterator[tuple[str, Annotation]]:
    """Ranges of bytes, each with its whole path."""
    yield "size", Annotation(0, 4, "size", str(len(frame) - 4))
    header, at = annotate(RequestHeader, frame, 4, header_version(body, version))
    content, _ = annotate(body, frame, at, version)
    for part, found in (("header", header), ("body", content)):
        for stretch in found:
            yield f"{part}.{stretch.path}" if stretch.path else part, stretch
