"""A request is divided into what it asks about a topic, partition or group, and the rest; so are the answers."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from tests.hypothesis_profiles import scaled

from kafkawire.broker.faults.merging import with_refused
from kafkawire.broker.faults.parts import About, parts_of
from kafkawire.broker.refusals import refusal
from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.wire import Message
from kafkawire.wire.api import Api
from kafkawire.wire.strategies import messages

CODE = 7
WITH_ITEMS = (
    ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.OFFSET_COMMIT, ApiKey.OFFSET_FETCH,
    ApiKey.DESCRIBE_GROUPS,
    ApiKey.CREATE_TOPICS, ApiKey.DELETE_RECORDS, ApiKey.DESCRIBE_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS,
    ApiKey.OFFSET_FOR_LEADER_EPOCH, ApiKey.DELETE_GROUPS, ApiKey.ELECT_LEADERS,
)  # fmt: skip


def values(value: object) -> Iterator[str | int | Uuid]:
    """All strings, numbers and ids in a message."""
    match value:
        case msgspec.Struct():
            for name in value.__struct_fields__:
                yield from values(getattr(value, name))
        case tuple() | list():
            for item in value:
                yield from values(item)
        case str() | int() | Uuid():
            yield value


def leaves(value: object) -> int:
    """How many structs a message has that have an error code."""
    if isinstance(value, (tuple, list)):
        return sum(map(leaves, value))
    if not isinstance(value, msgspec.Struct):
        return 0
    return hasattr(value, "error_code") + sum(leaves(getattr(value, name)) for name in value.__struct_fields__)


def about_something_in(request: Message) -> st.SearchStrategy[About]:
    """Something that may be named in a request."""
    texts = [value for value in values(request) if isinstance(value, str)] or ["t"]
    numbers = [value for value in values(request) if type(value) is int] or [0]
    ids = [value for value in values(request) if isinstance(value, Uuid)] or [Uuid()]
    text, number, topic_id = st.sampled_from(texts), st.sampled_from(numbers), st.sampled_from(ids)
    return st.one_of(
        st.tuples(text, topic_id, st.none(), st.none()),
        st.tuples(st.none(), st.none(), st.none(), text),
        st.tuples(st.none(), st.none(), number, st.none()),
        st.tuples(text, topic_id, number, st.none()),
        st.tuples(text, topic_id, st.none(), text),
    ).map(lambda each: About(*each))


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
@settings(max_examples=scaled(8))
@given(data=st.data())
def test_the_parts_are_the_request(api: Api, data: st.DataObject) -> None:
    version = data.draw(st.sampled_from(list(api.versions)))
    request = data.draw(messages(message_class(api.request), version))
    about = data.draw(about_something_in(request))
    matching, rest = parts_of(request, about)
    assert (matching is None) <= (rest == request)
    assert (rest is None) <= (matching == request)
    for part, divided in ((matching, (matching, None)), (rest, (None, rest))):
        if part is not None:
            assert parts_of(part, about) == divided
            assert type(part).decode(part.encode(version), version) == part


@pytest.mark.parametrize("key", WITH_ITEMS, ids=lambda key: key.name)
@settings(max_examples=scaled(30))
@given(data=st.data())
def test_the_answers_to_the_parts_are_an_answer_to_the_request(key: ApiKey, data: st.DataObject) -> None:
    api = APIS[key]
    version = data.draw(st.sampled_from(list(api.versions)))
    request = data.draw(messages(message_class(api.request), version))
    matching, rest = parts_of(request, data.draw(about_something_in(request)))
    if matching is None or rest is None:
        return
    served = refusal(rest, version, 0, always_with_items=True)
    refused = refusal(matching, version, CODE, always_with_items=True)
    answer = with_refused(served, refused, version)
    assert isinstance(answer, Message)
    assert type(answer).decode(answer.encode(version), version) == answer
    assert leaves(answer) <= leaves(refusal(request, version, CODE, always_with_items=True))
