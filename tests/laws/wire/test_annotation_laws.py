"""Annotations of any message: every byte has one, in order."""

from __future__ import annotations

import random

import pytest
from tests.made.example_messages import random_instance

from kafkawire.protocol import MESSAGE_NAMES, message_class
from kafkawire.wire.reference.annotation import annotate


@pytest.mark.parametrize("name", MESSAGE_NAMES)
def test_annotations_cover_a_message_without_gaps(name: str) -> None:
    cls = message_class(name)
    seeded = random.Random(name)
    for version in cls.VERSIONS:
        message = random_instance(seeded, cls, cls.layouts().of_version(version))
        encoded = b"\x00" + message.encode(version)
        stretches, end = annotate(cls, encoded, 1, version)
        assert end == len(encoded)
        assert [s.end for s in stretches[:-1]] == [s.start for s in stretches[1:]]
        assert not stretches or (stretches[0].start, stretches[-1].end) == (1, end)
        assert stretches or len(encoded) == 1
