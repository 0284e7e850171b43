"""Varints: examples, and the limits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafkawire.wire.errors import DecodeError
from kafkawire.wire.varint import read_uvarint, read_varint, read_varlong, write_uvarint, write_varint, write_varlong

UNSIGNED = {
    0: "00", 1: "01", 127: "7f", 128: "8001", 300: "ac02", 16383: "ff7f", 16384: "808001", 2097151: "ffff7f",
    268435456: "8080808001", 2147483647: "ffffffff07", 4294967295: "ffffffff0f",
}  # fmt: skip
ZIG_ZAG = {
    0: "00", -1: "01", 1: "02", -2: "03", 63: "7e", 64: "8001", -64: "7f", -65: "8101", 8191: "fe7f",
    -8192: "ff7f", 8192: "808001", 2147483647: "feffffff0f", -2147483648: "ffffffff0f",
}  # fmt: skip
LONG = ZIG_ZAG | {2147483648: "8080808010", 2**63 - 1: "feffffffffffffffff01", -(2**63): "ffffffffffffffffff01"}


@pytest.mark.parametrize(("value", "octets"), UNSIGNED.items())
def test_wire_uvarint(value: int, octets: str) -> None:
    assert write_uvarint(value).hex() == octets
    assert read_uvarint(bytes.fromhex("aa" + octets + "bb"), 1) == (value, 1 + len(octets) // 2)


@pytest.mark.parametrize(("value", "octets"), ZIG_ZAG.items())
def test_wire_varint(value: int, octets: str) -> None:
    assert write_varint(value).hex() == octets
    assert read_varint(bytes.fromhex("aa" + octets + "bb"), 1) == (value, 1 + len(octets) // 2)


@pytest.mark.parametrize(("value", "octets"), LONG.items())
def test_wire_varlong(value: int, octets: str) -> None:
    assert write_varlong(value).hex() == octets
    assert read_varlong(bytes.fromhex("aa" + octets + "bb"), 1) == (value, 1 + len(octets) // 2)


@pytest.mark.parametrize("octets", ["8000", "808000", "8080808000"])
def test_readers_take_padded_forms(octets: str) -> None:
    data = bytes.fromhex(octets)
    assert read_uvarint(data, 0) == read_varint(data, 0) == read_varlong(data, 0) == (0, len(data))


def test_bits_beyond_the_width_are_dropped() -> None:
    assert read_uvarint(bytes.fromhex("ffffffff7f"), 0) == (2**32 - 1, 5)
    assert read_varint(bytes.fromhex("ffffffff7f"), 0) == (-(2**31), 5)
    assert read_varlong(bytes.fromhex("ffffffffffffffffff7f"), 0) == (-(2**63), 10)


Read = Callable[[bytes, int], tuple[int, int]]
readers = pytest.mark.parametrize(("read", "longest"), [(read_uvarint, 5), (read_varint, 5), (read_varlong, 10)])


@readers
def test_longer_numbers_are_refused(read: Read, longest: int) -> None:
    with pytest.raises(DecodeError, match=f"more than {longest} bytes") as caught:
        read(b"\x00" + b"\x80" * longest + b"\x00", 1)
    assert (caught.value.kind, caught.value.offset) == ("varint", 1)


@readers
def test_numbers_that_are_cut_off_are_refused(read: Read, longest: int) -> None:
    for length in range(longest):
        with pytest.raises(DecodeError) as caught:
            read(b"\x00" + b"\x80" * length, 1)
        assert (caught.value.kind, caught.value.offset) == ("truncated", 1)


@pytest.mark.parametrize(
    ("write", "outside"),
    [
        (write_uvarint, (-1, 2**32)),
        (write_varint, (-(2**31) - 1, 2**31)),
        (write_varlong, (-(2**63) - 1, 2**63)),
    ],
)
def test_writers_refuse_values_that_do_not_fit(write: Callable[[int], bytes], outside: tuple[int, int]) -> None:
    for value in outside:
        with pytest.raises(ValueError, match=str(value)):
            write(value)
