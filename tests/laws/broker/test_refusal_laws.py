"""Every request can be refused with any code, and with a message where the version has one."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled

from kafkawire.broker.refusals import refusal
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS
from kafkawire.wire.api import Api
from kafkawire.wire.strategies import messages

CODES = st.integers(-(1 << 15), (1 << 15) - 1).filter(bool)


def codes(value: object) -> Iterator[int]:
    """All that is called an error code in a message."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            field = getattr(value, name)
            if name == "error_code":
                yield field
            elif isinstance(field, (msgspec.Struct, tuple)):
                yield from codes(field)
    elif isinstance(value, tuple):
        for item in value:
            yield from codes(item)


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
@settings(max_examples=scaled(15))
@given(data=st.data())
def test_every_request_can_be_refused_in_every_version(api: Api, data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(list(api.versions)))
    request = data.draw(messages(message_class(api.request), version))
    code = data.draw(CODES)
    refused = refusal(request, version, code, message="no", throttle_time_ms=3)
    assert refused == type(refused).decode(refused.encode(version), version)
    assert set(codes(refused)) <= {0, code}
