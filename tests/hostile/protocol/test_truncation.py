"""Messages that are cut off, at every byte of every message: always refused, and always for what is missing."""

from __future__ import annotations

import random

import pytest
from tests.made.example_messages import random_instance

from kafkawire.protocol import MESSAGE_NAMES, message_class
from kafkawire.wire import DecodeError

MOST_CUTS = 60


@pytest.mark.parametrize("name", MESSAGE_NAMES)
def test_a_message_that_is_cut_off_is_truncated(name: str) -> None:
    cls = message_class(name)
    rng = random.Random(7)
    for version in cls.VERSIONS:
        whole = random_instance(rng, cls, cls.layouts().of_version(version)).encode(version)
        cuts = range(len(whole)) if len(whole) <= MOST_CUTS else sorted(rng.sample(range(len(whole)), MOST_CUTS))
        for cut in cuts:
            with pytest.raises(DecodeError) as caught:
                cls.decode_from(whole[:cut], 0, version)
            assert caught.value.kind == "truncated"
            assert caught.value.offset is not None
            assert 0 <= caught.value.offset <= cut
            assert (caught.value.message_name, caught.value.version) == (cls.NAME, version)
        message, end = cls.decode_from(whole + b"\xff" * 9, 0, version)
        assert end == len(whole)
        assert message.encode(version) == whole
