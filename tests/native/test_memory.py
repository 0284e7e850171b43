"""Memory of the native engine: what happens where there is none, and that nothing is lost.

The programs run in a process of their own: one of them makes Python's allocations fail, the others count.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafkawire.protocol import MESSAGE_NAMES

pytest.importorskip("kafkawire._native", reason="the native engine is not built here")
pytest.importorskip("_testcapi", reason="this Python has no module for tests")

MESSAGES = """
import random
from array import array
from tests.made.example_messages import extreme_instances, random_instance
from kafkawire.protocol import MESSAGE_NAMES, message_class
from kafkawire._native import Codec
from kafkawire.wire.programs import program_of

def rows_of(*rows):
    ends = [sum(map(len, rows[:end])) for end in range(len(rows) + 1)]
    return None, array("i", ends), b"".join(rows), 0, len(rows), 0

def cases(names):
    chance = random.Random(18)
    for name in names:
        cls = message_class(name)
        version = cls.VERSIONS[-1]
        layout = cls.layouts().of_version(version)
        codec = Codec(program_of(cls, layout))
        for message in (extreme_instances(cls, layout)["maximum"], random_instance(chance, cls, layout)):
            yield codec, message, codec.write(message)
"""

SHAPES = (
    "MetadataResponse", "FetchResponse", "ApiVersionsResponse", "UpdateFeaturesRequest", "DescribeAclsResponse",
    "ConsumerGroupDescribeResponse", "BrokerRegistrationRequest", "ProduceRequest", "StreamsGroupHeartbeatRequest",
)  # fmt: skip
"""Messages that have, together, all types, arrays of all, nullable structs, tags, ids and records."""

RUN = """
import _testcapi

def run(function, *arguments):
    '''One allocation fails: the first one, the second one, and so on to the last; then all from that one on fail.'''
    expected = function(*arguments)
    for only_one in (True, False):
        for number in range(100_000):
            try:
                _testcapi.set_nomemory(number, number + 1 if only_one else 0)
                try:
                    result = function(*arguments)
                finally:
                    _testcapi.remove_mem_hooks()
            except MemoryError:
                continue
            assert result == expected, (function, number)
            break
        else:
            raise AssertionError("memory is never enough")
"""

GENERATOR = f"{RUN}\nrun(lambda numbers: any(number > 2 for number in numbers), [1, 2])\n"
"""Does nothing of ours."""

FAILING = (
    RUN
    + """
from kafkawire._native import RecordCodec
from kafkawire.wire.batches import Header, Record, encode_batch, read_batches
from kafkawire.wire.batches.batch import RecordBatch

records = [Record(2**40, 5, b"key", None, (Header("a", b"b"), Header("c"))), Record(2**40 + 1, 2**62, None, b"v" * 900)]
codec = RecordCodec(Record, Header, RecordBatch)
arguments = (records, [each.offset for each in records], [each.timestamp for each in records], 2**40, 5)
payload = codec.write(*arguments)
run(codec.write, *arguments)
run(codec.read, payload, 0, 2, 2**63 - 1, 2**63 - 1, None, True)
run(codec.read, payload, 0, 2, 0, 0, 7, False)
run(lambda: type(RecordCodec(Record, Header, RecordBatch)))
segment = encode_batch(records, base_offset=2**40) * 2
batches = tuple(read_batches(segment))
run(codec.read_batches, segment, 0, 9, len(segment), 0)
run(codec.columns, batches, tuple(batch.payload for batch in batches))
run(codec.some_columns, batches[0], batches[0].payload, 0, 1, 9)

from kafkawire.admin.operations.acl_listing import listing_program
from kafkawire.protocol import DescribeAclsResponse

acls = tuple(DescribeAclsResponse.AclDescription(f"User:{{n % 3}}", "*", 3, 3) for n in range(70))
resources = tuple(DescribeAclsResponse.DescribeAclsResource(2, name, 3, acls) for name in ("topic-b", "topic-a"))
run(Codec(listing_program(3)).read, DescribeAclsResponse(resources=resources).encode(3), 0)
program = listing_program(4)
run(lambda: type(Codec(program)))

for codec, message, octets in cases({names!r}):
    run(codec.read, octets, 0)
    run(codec.write, message)
    run(codec.columns, *rows_of(octets, octets[:-1]))
    cls = type(message)
    program = program_of(cls, cls.layouts().of_version(cls.VERSIONS[-1]))
    run(lambda: type(Codec(program)))
print("whole")
"""
)

COUNTING = """
import gc, sys, tracemalloc

def refused(octets):
    return [octets[:-1], octets[: len(octets) // 2], b"\\xff" * len(octets)]

def round_of(all_cases):
    for codec, message, whole, broken in all_cases:
        codec.read(whole, 0)
        codec.write(message)
        codec.columns(*rows_of(whole, *broken))
        for octets in broken:
            try:
                codec.read(octets, 0)
            except ValueError:
                pass
        for wrong in (None, 1, cls_of_others):
            try:
                codec.write(wrong)
            except (ValueError, AttributeError):
                pass

class cls_of_others: pass

all_cases = [(codec, message, whole, refused(whole)) for codec, message, whole in cases({names!r})]
constants = [None, True, False, (), 0, ""]
for _ in range(50):
    round_of(all_cases)
gc.collect()
if {every_byte}:
    tracemalloc.start()
references = list(map(sys.getrefcount, constants + [type(case[1]) for case in all_cases]))
before, blocks = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
for _ in range({rounds}):
    round_of(all_cases)
gc.collect()
grown, more_blocks = tracemalloc.get_traced_memory()[0] - before, sys.getallocatedblocks() - blocks
more = [b - a for a, b in zip(references, map(sys.getrefcount, constants + [type(case[1]) for case in all_cases]))]
assert grown < 5_000, grown
assert more_blocks < 100, more_blocks
assert max(map(abs, more)) < 10, more
print("whole")
"""


def ended(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )


def run(program: str) -> None:
    done = ended(program)
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr[-3000:]


@pytest.fixture
def sound_python() -> None:
    """CPython 3.12.1 and 3.13.0 crash without anything of ours, 3.11 does not."""
    if ended(GENERATOR).returncode < 0:
        pytest.skip("this Python crashes in its own generators when an allocation fails")


@pytest.mark.usefixtures("sound_python")
def test_every_allocation_that_fails_is_a_memory_error() -> None:
    run(MESSAGES + FAILING.format(names=SHAPES))


@pytest.mark.nightly  # half a minute
def test_rounds_of_success_and_failure_lose_nothing() -> None:
    run(MESSAGES + COUNTING.format(names=SHAPES, rounds=2_000, every_byte=True))


@pytest.mark.nightly  # a million rounds of reading, refusing and writing, over all messages
def test_a_million_rounds_over_all_messages_lose_nothing() -> None:
    """Counts Python's blocks, as the record of every byte takes most of the time."""
    rounds = 1_000_000 // len(MESSAGE_NAMES) // 2
    run(MESSAGES + COUNTING.format(names=list(MESSAGE_NAMES), rounds=rounds, every_byte=False))


@pytest.mark.extended
@pytest.mark.usefixtures("sound_python")
def test_every_allocation_that_fails_is_a_memory_error_in_all_messages() -> None:
    run(MESSAGES + FAILING.format(names=list(MESSAGE_NAMES)))
