"""The time to import one message and use it, in a program that has just been started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.payloads import metadata_response
from benchmarks.peers import kafka_python_module, kio_module
from benchmarks.processes import interleave_processes
from benchmarks.results import KAFKA_PYTHON, KIO, OURS, Measurement, Target

MESSAGE = "MetadataResponse"
VERSION = 12

IMPORTS: Mapping[str, str] = {
    OURS: f"from kafkawire.protocol import {MESSAGE}",
    KIO: f"from {kio_module(MESSAGE, VERSION)} import {MESSAGE}\nfrom kio.serial import entity_reader",
    KAFKA_PYTHON: f"from {kafka_python_module(MESSAGE)} import {MESSAGE}",
}
FIRST_USES: Mapping[str, str] = {
    OURS: f"{MESSAGE}.decode(buffer, {VERSION})",
    KIO: f"entity_reader({MESSAGE})(buffer, 0)",
    KAFKA_PYTHON: f"{MESSAGE}.decode(buffer, version={VERSION})",
}


def run(rounds: int) -> Iterator[Measurement]:
    """Measure the import alone, and the import with the first decoding."""
    targets = (Target(KIO, 3),)
    bodies = {name: f"{IMPORTS[name]}\n{FIRST_USES[name]}" for name in IMPORTS}
    yield Measurement("import", f"{MESSAGE}", _interleave(IMPORTS, rounds), targets)
    yield Measurement("import", f"{MESSAGE}, and decode one of version {VERSION}", _interleave(bodies, rounds), targets)


def _interleave(bodies: Mapping[str, str], rounds: int) -> dict[str, tuple[float, ...]]:
    buffer = metadata_response(3, 2).encode(VERSION)
    return interleave_processes(bodies, rounds, before="buffer = bytes.fromhex(sys.argv[1])", argument=buffer.hex())
