"""Decoding and encoding of messages, beside kio and kafka-python.

Before a case is measured, a check verifies that each library decodes our bytes and encodes them to the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller

import msgspec

from benchmarks import payloads
from benchmarks.java_messages import JavaMessages, java_messages
from benchmarks.peers import Codec, Entity, kafka_python_codec, kio_codec
from benchmarks.results import (
    COPY,
    GENERATED,
    JAVA,
    KAFKA_PYTHON,
    KIO,
    MSGPACK,
    OURS,
    DisagreementError,
    Measurement,
    Target,
)
from benchmarks.sampling import Call, Effort, Waiting, interleave
from kafkawire import wire
from kafkawire.protocol import FetchResponse
from kafkawire.wire import Message, RecordBytes

DECODE_TARGETS = (Target(KIO, 1 / 0.8), Target(KAFKA_PYTHON, 2.5))
METADATA_TARGETS = (Target(KIO, 1 / 0.3), Target(KAFKA_PYTHON, 2.5))
ACLS_TARGETS = (Target(KIO, 1 / 0.4), Target(KAFKA_PYTHON, 2.5))
ENCODE_TARGETS = (Target(KIO, 8), Target(KAFKA_PYTHON, 8))
LARGE_TARGETS = (Target(KIO, 50), Target(KAFKA_PYTHON, 8))
COPIED_TARGETS = (Target(KIO, 1), Target(KAFKA_PYTHON, 2.5))
FLOOR_TARGETS = (Target(GENERATED, 1),)
METADATA_FLOOR_TARGETS = (Target(GENERATED, 1), Target(JAVA, 1 / 3))
LARGE_FLOOR_TARGETS = (Target(GENERATED, 1), Target(MSGPACK, 1))
COPY_FLOOR_TARGETS = (Target(GENERATED, 1), Target(COPY, 0.95))
MEBIBYTE = 1 << 20
RECORDS_NOTE = (
    f"{KIO} and {KAFKA_PYTHON} copy records when decoding, {OURS} returns views of the buffer; "
    "all have to copy them when encoding"
)
COPY_NOTE = f"{COPY}: the time to copy the records only, a lower bound for any encoder that returns bytes"


@dataclass(frozen=True)
class Case:
    """A message to measure.

    Attributes:
        version: of the message; all three libraries have it.
        size: contents of the message, for the reader.
        build: makes the message.
        decode_targets, encode_targets: the targets of each.
        floor_targets: of encoding beside the generated code, another format and a copy.
        decode_floor_targets: of decoding beside the generated code and Kafka's own classes.
        kept: if given, decoding is measured again while this number of results is held, as in a cache.
        note: printed below the table.
        copied: if given, the parts of the message that encoding must copy; copying them is also measured alone.
    """

    version: int
    size: str
    build: Callable[[], Message]
    decode_targets: tuple[Target, ...] = DECODE_TARGETS
    encode_targets: tuple[Target, ...] = ENCODE_TARGETS
    floor_targets: tuple[Target, ...] = FLOOR_TARGETS
    decode_floor_targets: tuple[Target, ...] = FLOOR_TARGETS
    kept: int = 0
    note: str = ""
    copied: Callable[[Entity], list[RecordBytes]] | None = None

    def title(self, message: Message) -> str:
        """The name of the message, and its size for the reader."""
        return f"{message.NAME} {self.version}: {self.size}"


def _records(message: Entity) -> list[RecordBytes]:
    assert isinstance(message, FetchResponse)
    return payloads.records_of(message)


CASES = (
    Case(
        12,
        "100 topics of 12 partitions",
        lambda: payloads.metadata_response(100, 12),
        METADATA_TARGETS,
        LARGE_TARGETS,
        LARGE_FLOOR_TARGETS,
        METADATA_FLOOR_TARGETS,
        kept=50,
    ),
    Case(
        3,
        "55 000 ACLs on 5 000 resources",
        lambda: payloads.describe_acls_response(5000, 11),
        ACLS_TARGETS,
        LARGE_TARGETS,
        LARGE_FLOOR_TARGETS,
        kept=5,
    ),
    Case(
        12,
        "1 MiB of records in 64 partitions",
        lambda: payloads.fetch_response(4, 16),
        note=RECORDS_NOTE,
        copied=_records,
    ),
    Case(
        12,
        "1 MiB of records in 1 partition",
        lambda: payloads.fetch_response(1, 1, MEBIBYTE),
        encode_targets=COPIED_TARGETS,
        floor_targets=COPY_FLOOR_TARGETS,
        note=RECORDS_NOTE,
        copied=_records,
    ),
    Case(3, "60 APIs", lambda: payloads.api_versions_response(60)),
    Case(3, "two short strings", payloads.api_versions_request),
    Case(4, "a member of a group", payloads.heartbeat_request),
    Case(12, "4 partitions", lambda: payloads.fetch_request(4)),
)

SMALL_CASES = (
    Case(12, "3 topics of 2 partitions", lambda: payloads.metadata_response(3, 2), kept=2),
    Case(3, "6 ACLs on 3 resources", lambda: payloads.describe_acls_response(3, 2)),
    Case(12, "32 KiB of records in 2 partitions", lambda: payloads.fetch_response(1, 2), copied=_records),
    Case(3, "4 APIs", lambda: payloads.api_versions_response(4)),
    Case(3, "two short strings", payloads.api_versions_request),
)
"""The same messages with a few elements, for a trial of the benchmark."""


def run(effort: Effort, cases: tuple[Case, ...] = CASES) -> Iterator[Measurement]:
    """Measure all cases, decoding and encoding of each.

    Raises:
        DisagreementError: a library encodes other bytes.
    """
    with java_messages(effort.slice_seconds) as java:
        for case in cases:
            yield from _run_case(case, effort, java)


def _run_case(case: Case, effort: Effort, java: JavaMessages | None) -> Iterator[Measurement]:
    message = case.build()
    title = case.title(message)
    buffer = message.encode(case.version)
    codecs = {
        OURS: our_codec(type(message), case.version),
        KIO: kio_codec(message.NAME, case.version),
        KAFKA_PYTHON: kafka_python_codec(message.NAME, case.version),
    }
    entities = {name: codec.decode(buffer) for name, codec in codecs.items()}
    for name, codec in codecs.items():
        if codec.encode(entities[name]) != buffer:
            raise DisagreementError(f"{title}: {name} does not encode what it decoded")
    if entities[OURS] != message:
        raise DisagreementError(f"{title}: we do not decode what we encoded")

    notes = (case.note,) if case.note else ()
    decoders = {name: partial(codec.decode, buffer) for name, codec in codecs.items()}
    encoders = {name: partial(codec.encode, entities[name]) for name, codec in codecs.items()}
    yield Measurement("decode", title, interleave(decoders, effort), case.decode_targets, notes)
    if case.kept:
        kept = interleave(decoders, replace(effort, keep=case.kept))
        yield Measurement("decode", f"{title}, {case.kept} results kept", kept, case.decode_targets, notes)
    yield Measurement("encode", title, interleave(encoders, effort), case.encode_targets, notes)
    yield from _floors(case, message, codecs[OURS], effort, java)


def _floors(
    case: Case, message: Message, ours: Codec, effort: Effort, java: JavaMessages | None
) -> Iterator[Measurement]:
    """The same beside the generated code, Kafka's own classes, another format, and a bare copy."""
    title, buffer = case.title(message), message.encode(case.version)
    generated = generated_codec(type(message), case.version)
    decoders: dict[str, Call | Waiting] = {
        OURS: partial(ours.decode, buffer),
        GENERATED: partial(generated.decode, buffer),
    }
    encoders: dict[str, Call | Waiting] = {
        OURS: partial(ours.encode, message),
        GENERATED: partial(generated.encode, message),
    }
    if java is not None:
        decoders[JAVA] = java.timed(message.NAME, case.version, buffer, encodes=False)
        encoders[JAVA] = java.timed(message.NAME, case.version, buffer, encodes=True)
    yield Measurement("decode floor", title, interleave(decoders, effort), case.decode_floor_targets)
    notes: tuple[str, ...] = ()
    if case.copied:
        encoders[COPY] = partial(b"".join, case.copied(ours.decode(buffer)))
        notes = (COPY_NOTE,)
    else:
        encoder = msgspec.msgpack.Encoder(enc_hook=bytes.__bytes__)  # ids are a type of their own
        encoders[MSGPACK] = partial(encoder.encode, message)
    yield Measurement("encode floor", title, interleave(encoders, effort), case.floor_targets, notes)


def our_codec(message_type: type[Message], version: int) -> Codec:
    """Our codec in the same form as those of the peers."""

    def decode(buffer: bytes) -> Message:
        return message_type.decode(buffer, version)

    return Codec(decode, methodcaller("encode", version))


def generated_codec(message_type: type[Message], version: int) -> Codec:
    """Our codec without the native engine."""
    before = wire.ENGINE
    wire.use_engine("python")
    codec = message_type.fast_codec(version)
    wire.use_engine(before)
    return Codec(codec.decode, codec.write)
