"""Bytes that claim to be followed by more than there is are refused at once, in every array of every message."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from _pytest.mark import ParameterSet
from tests.made.example_messages import extreme_instances
from tests.traced_memory import takes_less

from kafkawire.layout import STRUCT, StructLayout
from kafkawire.protocol import MESSAGE_NAMES, message_class
from kafkawire.wire import DecodeError, Message

CLAIMS = (bytes.fromhex("7fffffff"), bytes.fromhex("ffffffff07"), bytes.fromhex("ffffff7f"), bytes.fromhex("7fff"))
"""The greatest int32 and uvarint, the greatest uvarint of four bytes, the greatest int16."""

MOST_MEMORY = 400_000
"""Bytes that may be allocated at any time; a list for what is claimed would take 16 gigabytes."""


pytestmark = pytest.mark.usefixtures("each_engine")


def layouts_of_messages() -> Iterator[ParameterSet]:
    """The newest version of each distinct layout of each message; `make test` takes the newest layout alone."""
    for name in MESSAGE_NAMES:
        by_version = message_class(name).layouts().by_version
        newest = {index: version for version, index in sorted(by_version.items())}
        for version in newest.values():
            yield pytest.param(name, version, marks=[] if version == max(by_version) else [pytest.mark.extended])


def array_paths(layout: StructLayout, prefix: str = "") -> Iterator[str]:
    """Every array of a message, those within tagged fields and nullable structs included."""
    for field in layout.fields:
        path = f"{prefix}{field.attribute}"
        if field.presence == "absent":
            continue
        if field.array:
            yield path
        if field.type == STRUCT and field.struct is not None:
            yield from array_paths(field.struct, f"{path}.")


def claiming(whole: bytes, at: int) -> Iterator[bytes]:
    """The bytes with a claim at a place: with little after it, and with as much as before (as tagged fields need)."""
    for claim in CLAIMS:
        yield whole[:at] + claim + bytes(5)
        yield whole[:at] + claim + whole[at + len(claim) :]


def error_of(cls: type[Message], buffer: bytes, version: int) -> DecodeError | None:
    try:
        cls.decode_from(buffer, 0, version)
    except DecodeError as error:
        return error
    return None


@pytest.mark.extended
@pytest.mark.parametrize(("name", "version"), list(layouts_of_messages()))
def test_a_claim_of_many_elements_is_refused_in_every_array(name: str, version: int) -> None:
    cls = message_class(name)
    layout = cls.layouts().of_version(version)
    whole = extreme_instances(cls, layout)["minimum"].encode(version)
    refused: set[str] = set()

    def make_claims() -> None:
        for buffer in (buffer for at in range(len(whole)) for buffer in claiming(whole, at)):
            error = error_of(cls, buffer, version)
            if error is not None and re.match(r"claims \d{9,} elements", error.reason):
                refused.add(re.sub(r"\[\d+\]", "", error.path))

    assert takes_less(make_claims, MOST_MEMORY)
    assert refused == set(array_paths(layout))


@pytest.mark.parametrize(
    ("name", "version", "buffer"),
    [
        ("MetadataRequest", 9, "ffffffff07 00 00 00 00 00"),
        ("MetadataRequest", 1, "7fffffff 00 00 00 00 00 00"),
        ("FetchRequest", 12, "ffffffff 00000000 00000000"),
        ("DescribeAclsResponse", 3, "00000000 0000 00 ffffffff07"),
        ("ApiVersionsResponse", 3, "0000 ffffffff07 00 00 00"),
        ("SaslAuthenticateRequest", 2, "ffffffff07 00 00 00 00 00"),
        ("SaslAuthenticateRequest", 0, "7fffffff 00 00 00 00 00 00"),
        ("ListGroupsRequest", 3, "ffffffff07 00 00 00 00 00"),
    ],
)
def test_ten_bytes_fail_at_once(name: str, version: int, buffer: str) -> None:
    cls = message_class(name)
    octets = bytes.fromhex(buffer)
    started = time.perf_counter()
    assert takes_less(lambda: error_of(cls, octets, version), 100_000)
    assert error_of(cls, octets, version) is not None
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("name", "element"),
    [("MetadataRequest", bytes(2)), ("CreateTopicsRequest", bytes(16))],
    ids=["strings without letters", "structs whose arrays are empty"],
)
def test_memory_stays_proportional_to_a_large_input(name: str, element: bytes) -> None:
    cls = message_class(name)
    octets = (50_000).to_bytes(4) + element * 50_000 + bytes(8)
    assert takes_less(lambda: cls.decode_from(octets, 0, 0), 100 * len(octets))
