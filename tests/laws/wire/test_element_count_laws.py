"""The number of elements that is counted before decoding equals that of the decoded message."""

from __future__ import annotations

import random

import msgspec
import pytest
from tests.made.example_messages import random_instance

from kafkawire.layout import StructLayout
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS
from kafkawire.wire import Message
from kafkawire.wire.element_count import element_count

MOST = 1_000_000
REQUESTS = [(api.request, version) for api in APIS.values() for version in api.versions]


def made(struct: msgspec.Struct) -> tuple[int, int]:
    """Elements of arrays and unknown tagged fields of a struct, and how many structs it has, itself included."""
    elements, structs = 0, 1
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, tuple):
            elements += len(value)
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, msgspec.Struct):
                more = made(item)
                elements, structs = elements + more[0], structs + more[1]
    return elements, structs


@pytest.mark.parametrize(("name", "version"), REQUESTS)
def test_the_count_equals_the_number_of_decoded_elements(name: str, version: int) -> None:
    """Tagged fields that are known count too; there are few of them in a struct."""
    rng = random.Random(f"{name} {version}")
    cls = message_class(name)
    layout = cls.layouts().of_version(version)
    for _ in range(5):
        message: Message = random_instance(rng, cls, layout)
        encoded = b"before" + message.encode(version) + b"behind"
        elements, structs = made(message)
        known_tags = max((len(one.tagged) for one in structs_of(layout)), default=0)
        count = element_count(cls, version, encoded, len(b"before"), most=MOST)
        assert elements <= count <= elements + structs * known_tags
        if elements:
            assert element_count(cls, version, encoded, len(b"before"), most=elements - 1) >= elements


def structs_of(layout: StructLayout) -> list[StructLayout]:
    """A layout and those of all structs in it."""
    inner = [field.struct for field in layout.fields if field.struct is not None and field.presence != "absent"]
    return [layout, *(found for struct in inner for found in structs_of(struct))]


def test_bytes_that_are_no_message_end_the_count() -> None:
    cls = message_class("DescribeGroupsRequest")
    for content in (b"", b"\xff", b"\xff" * 10, b"\xff\xff\xff\xff\7", b"\3\1", b"\3\x80"):
        assert element_count(cls, 5, content, 0, most=10) >= 0
    assert element_count(cls, 0, b"\x7f\xff\xff\xff", 0, most=10) > 10
    with pytest.raises(KeyError):
        element_count(cls, 99, b"", 0, most=10)
