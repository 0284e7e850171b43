"""Recognizing a listener by the first bytes of its answer."""

from __future__ import annotations

import pytest

from kafkawire.admin.connection.first_bytes import hint


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (b"\x15\x03\x03\x00\x02", "the listener wants TLS"),
        (b"HTTP/1.1", "the answer looks like HTTP"),
        (b"<!DOCTYPE", "the answer looks like HTTP"),
        (b"SSH-2.0", "the answer is text, 'SSH-'"),
    ],
)
def test_a_listener_of_another_protocol_is_named(answer: bytes, shown: str) -> None:
    assert shown in hint(bytearray(answer))


@pytest.mark.parametrize("answer", [b"\xff\xff\xff\xff", b"\0\0\x03\xe9"])
def test_other_bytes_show_nothing(answer: bytes) -> None:
    assert hint(answer) == ""
