"""What a fuzzer found worth keeping of ten million inputs: each reaches a part of the native engine that others do not.

``make fuzz`` writes such a file, build/fuzz/kept.txt.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.kafka_logs.column_rows import check_decoded

from kafkawire import wire
from kafkawire.columns import MessageColumns
from kafkawire.protocol import message_class
from kafkawire.wire.message_codec import FAST_PATH_FAILS

pytest.importorskip("kafkawire._native", reason="the native engine is not built here")

INPUTS = Path(__file__).parents[1] / "fixtures" / "native" / "fuzzed.txt"


@pytest.fixture(autouse=True)
def _both_engines() -> Iterator[None]:
    before = wire.ENGINE
    wire.use_engine("both")
    yield
    wire.use_engine(before)


def test_the_engines_agree_on_what_the_fuzzer_found() -> None:
    """A difference of messages is an EngineError, which nothing here catches; columns are compared with the class."""
    read = 0
    for line in INPUTS.read_text("utf-8").splitlines():
        name, version, octets = line.split(" ")
        check_decoded(MessageColumns(message_class(name)), int(version), [bytes.fromhex(octets)], 0)
        codec = message_class(name).fast_codec(int(version))
        with suppress(*FAST_PATH_FAILS):
            message, _ = codec.read(bytes.fromhex(octets), 0)
            codec.write(message)
            read += 1
    assert read > 50
