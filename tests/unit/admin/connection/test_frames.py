"""Frames out of a stream of bytes."""

from __future__ import annotations

import pytest

from kafkawire.admin.connection.frames import FrameBuffer
from kafkawire.wire.kafka_errors import BrokenStreamError

FRAMES = [b"", b"a", b"frame" * 100]
STREAM = b"".join(len(frame).to_bytes(4) + frame for frame in FRAMES)


@pytest.mark.parametrize("step", [1, 2, 3, 7, len(STREAM)])
def test_frames_come_out_however_the_bytes_arrive(step: int) -> None:
    buffer = FrameBuffer(1000)
    parts = [STREAM[at : at + step] for at in range(0, len(STREAM), step)]
    assert [frame for part in parts for frame in buffer.add(part)] == FRAMES
    assert len(buffer) == 0


def test_the_beginning_of_a_frame_is_kept() -> None:
    buffer = FrameBuffer(1000)
    assert list(buffer.add(STREAM + b"\0\0\0\5abc")) == FRAMES
    assert len(buffer) == 7
    assert list(buffer.add(b"de")) == [b"abcde"]


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (b"\xff\xff\xff\xff", "a frame of -1 bytes; between 0 and 1000"),
        (b"\0\0\x03\xe9", "a frame of 1001 bytes"),
        (b"\x15\x03\x03\x00", "the listener wants TLS"),
        (b"HTTP", "no Kafka listener"),
    ],
)
def test_sizes_that_make_no_sense_are_refused_after_the_frames_before_them(size: bytes, told: str) -> None:
    buffer, frames = FrameBuffer(1000), []
    with pytest.raises(BrokenStreamError, match=told):  # noqa: PT012 the frames before are looked at
        for frame in buffer.add(STREAM + size):
            frames.append(frame)  # noqa: PERF402
    assert frames == FRAMES


def test_memory_follows_the_bytes_that_came_and_not_what_they_claim() -> None:
    buffer = FrameBuffer(1 << 30)
    assert list(buffer.add(b"\x3f\xff\xff\xff")) == []
    assert len(buffer) == 4


def test_large_frames_are_put_together_from_many_parts() -> None:
    content, parts = bytes(range(256)) * (1 << 12), 8
    buffer = FrameBuffer(1 << 24)
    frames = list(buffer.add((len(content) * parts).to_bytes(4)))
    for _ in range(parts):
        frames += buffer.add(content)
    assert frames == [content * parts]
