"""Requests that make sense to a decoder and seldom to anybody else."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import msgspec
from tests.made.example_messages import random_instance

from kafkawire.layout import Uuid
from kafkawire.protocol import message_class
from kafkawire.protocol.api_table import APIS
from kafkawire.wire import Message

S = TypeVar("S", bound=msgspec.Struct)

TOPIC: Final = "there"
TOPIC_ID: Final = Uuid(bytes(range(16)))
GROUP: Final = "those"

_KNOWN: Final[Mapping[str, object]] = {
    "group_id": GROUP,
    "groups_names": (GROUP,),
    "name": TOPIC,
    "partition": 0,
    "partition_index": 0,
    "index": 0,
    "resource_name": TOPIC,
    "topic": TOPIC,
    "topic_id": TOPIC_ID,
    "topic_names": (TOPIC,),
}


def any_request(rng: random.Random, key: int, version: int, topic_id: Uuid) -> Message:
    """A request of a version; some name a topic and a group that exist.

    Args:
        rng: decides.
        key, version: of the API.
        topic_id: of the topic.
    """
    cls = message_class(APIS[key].request)
    layout = cls.layouts().of_version(version)
    request: Message = random_instance(rng, cls, layout)
    if rng.random() < 0.5:
        return request
    known = {**_KNOWN, "topic_id": topic_id}
    named = _with_known_names(rng, request, known)
    try:
        named.encode(version)
    except ValueError:
        return request
    return named


def _with_known_names(rng: random.Random, struct: S, known: Mapping[str, object]) -> S:
    changes: dict[str, object] = {}
    for attribute in struct.__struct_fields__:
        value = getattr(struct, attribute)
        if attribute in known and value and rng.random() < 0.7:
            changes[attribute] = known[attribute]
        elif isinstance(value, Sequence) and value and isinstance(value[0], msgspec.Struct):
            changes[attribute] = tuple(_with_known_names(rng, item, known) for item in value)
    return msgspec.structs.replace(struct, **changes)
