"""What a request is about: topics, partitions and groups, and the part of it that is about one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, NamedTuple, TypeAlias, TypeGuard, TypeVar

import msgspec
from msgspec.structs import replace

from kafkawire.layout.uuid import Uuid
from kafkawire.protocol import message_class
from kafkawire.rpc import api_of
from kafkawire.wire import Message

TopicIds: TypeAlias = Callable[[str], Uuid | None]
"""The id of a topic by its name; None if there is none."""

S = TypeVar("S", bound=msgspec.Struct)

_GROUP: Final = frozenset({"group_id", "group_ids", "groups", "groups_names"})
_TOPIC_ID: Final = frozenset({"topic_id"})
_PARTITION: Final = frozenset({"index", "partition", "partition_index", "partition_indexes", "partitions"})
_NOT_ITEMS: Final = frozenset({"forgotten_topics_data", "unknown_tagged_fields"})
_KEYS: Final = ("coordinator_keys", "key")
_KEY_TYPE, _KEY_OF_A_GROUP = "key_type", 0
_RESOURCE_TYPE, _RESOURCE_NAME = "resource_type", "resource_name"
_RESOURCES: Final = {2: "topic", 32: "group"}


class About(NamedTuple):
    """A topic, a partition, a group, or a combination; what is None does not matter.

    Attributes:
        topic: the name of the topic.
        topic_id: its id, which some requests have in place of the name.
        partition: the number of the partition.
        group: the id of the group.
    """

    topic: str | None = None
    topic_id: Uuid | None = None
    partition: int | None = None
    group: str | None = None


class Parts(NamedTuple):
    """A request in two parts.

    Attributes:
        matching: what it asks about the topic, partition or group; None if it names none.
        rest: what else it asks; None if there is nothing else.
    """

    matching: Message | None
    rest: Message | None


def parts_of(request: Message, about: About) -> Parts:
    """Divide a request into what it asks about a topic, partition or group, and the rest.

    A request that asks about all of them without names, such as Metadata for all topics, names none.

    Args:
        request: the request.
        about: the topic, partition or group.
    """
    wanted = {kind for kind, value in (("topic", about.topic), ("partition", about.partition)) if value is not None}
    wanted |= {"group"} if about.group is not None else set()
    if "partition" in wanted and not _answers_partitions(type(request)):
        return Parts(None, request)
    matching, rest = _Division(about).of(request, frozenset(wanted))
    return Parts(matching, rest)


class _Division:
    """Divides structs.

    Args:
        about: what to look for.
    """

    def __init__(self, about: About) -> None:
        self._about = about

    def of(self, struct: S, wanted: frozenset[str]) -> tuple[S | None, S | None]:
        """The matching part of a struct, and the rest.

        Args:
            struct: a request, or a struct in it.
            wanted: the kinds that must still match: ``topic``, ``partition``, ``group``.
        """
        for field in struct.__struct_fields__:
            kind = _kind(struct, field)
            value = getattr(struct, field)
            if kind in wanted and not _is_array(value) and value is not None:
                if not self._is(kind, field, value):
                    if self._names_nothing(value):
                        continue  # the other one of name and id has the value
                    return None, struct
                wanted -= {kind}
        if not wanted:
            return struct, None
        return self._by_items(struct, wanted)

    def _by_items(self, struct: S, wanted: frozenset[str]) -> tuple[S | None, S | None]:
        matching: dict[str, object] = {}
        rest: dict[str, object] = {}
        for field in struct.__struct_fields__:
            value = getattr(struct, field)
            if field in _NOT_ITEMS or not _is_array(value) or not value:
                continue
            ours, others = self._items(struct, field, value, wanted)
            matching[field], rest[field] = tuple(ours), tuple(others)
        if not any(matching.values()):
            return None, struct
        if not any(rest.values()):
            return struct, None
        return replace(struct, **matching), replace(struct, **rest)

    def _items(
        self, struct: msgspec.Struct, field: str, items: Sequence[object], wanted: frozenset[str]
    ) -> tuple[list[object], list[object]]:
        ours: list[object] = []
        others: list[object] = []
        kind = _kind(struct, field)
        for item in items:
            if isinstance(item, msgspec.Struct):
                matching, rest = self.of(item, wanted)
                ours += [] if matching is None else [matching]
                others += [] if rest is None else [rest]
            else:
                found = wanted == {kind} and self._is(kind, field, item)
                (ours if found else others).append(item)
        return ours, others

    def _is(self, kind: str, field: str, value: object) -> bool:
        if kind == "topic" and field in _TOPIC_ID:
            return value == self._about.topic_id
        return bool(value == getattr(self._about, kind))

    @staticmethod
    def _names_nothing(value: object) -> bool:
        return value in {"", Uuid()}


def _kind(struct: msgspec.Struct, field: str) -> str:
    """Of what the field has the name or number: ``topic``, ``partition`` or ``group``; empty for all others."""
    if field == _RESOURCE_NAME:
        return _RESOURCES.get(getattr(struct, _RESOURCE_TYPE, -1), "")
    if field in _KEYS and getattr(struct, _KEY_TYPE, None) == _KEY_OF_A_GROUP:
        return "group"
    return _kind_by_name(type(struct), field)


@cache
def _kind_by_name(cls: type[msgspec.Struct], field: str) -> str:
    annotation = str(cls.__annotations__.get(field, ""))
    if field in _TOPIC_ID or "TopicName" in annotation:
        return "topic"
    if field in _GROUP:
        return "group"
    return "partition" if field in _PARTITION else ""


@cache
def _answers_partitions(request: type[Message]) -> bool:
    """Whether the response has an error for each partition."""
    response = message_class(api_of(request).response)
    structs = (value for value in vars(response).values() if isinstance(value, type))
    fields = (set(struct.__struct_fields__) for struct in structs if issubclass(struct, msgspec.Struct))
    return any("error_code" in names and names & _PARTITION for names in fields)


def _is_array(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, (tuple, list))
