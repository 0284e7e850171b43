"""The values that annotations allow."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any, Literal, TypeVar

import pytest

from kafkawire.admin import AdminClient, TopicPartition
from kafkawire.arguments.annotations import expectation_of
from kafkawire.model.groups.descriptions import GroupState
from kafkawire.model.partitions import ElectionType


class Index:
    def __index__(self) -> int:
        return 3


class Text(str):
    __slots__ = ()


_NAMESAKE = type("TopicPartition", (), {"__module__": "other"})


class OwnPartition(TopicPartition, frozen=True):
    """A user's subclass, with a field whose annotation cannot be resolved."""

    note: "Undefined" = None  # type: ignore[name-defined]  # noqa: F821, UP037


class Number(IntEnum):
    ONE = 1


def taken(annotation: object, value: object) -> object:
    (result,) = expectation_of(annotation).take((value,), lambda _: "f: x")
    return result


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str, Text("a")),
        (int, Number.ONE),
        (int, Index()),
        (float, 3),
        (float, Decimal(3)),
        (float, Fraction(1, 3)),
        (float | None, None),
        (Iterable[str], ["a", Text("b")]),
        (Iterable[str], {"a": 1}),
        (Iterable[str], {"a"}),
        (Sequence[int], (1, 2)),
        (Sequence[int], range(3)),
        (Sequence[Sequence[int]] | None, [[1, 2], (3,)]),
        (Mapping[str, int], {"a": 1}),
        (Mapping[TopicPartition, Sequence[int] | None], {TopicPartition("a", 0): None, TopicPartition("a", 1): [1]}),
        (str | Iterable[str], "a,b"),
        (Iterable[TopicPartition], [OwnPartition("a", 0), TopicPartition("a", 1)]),
        (Callable[[int], None] | None, print),
        (Literal["a"], "b"),
        (Any, object()),
    ],
)
def test_fitting_values_are_returned_unchanged(annotation: object, value: object) -> None:
    assert taken(annotation, value) is value


@pytest.mark.parametrize(
    ("annotation", "value", "said"),
    [
        (int, "3", "expected int, got str; write it as a number"),
        (int, 3.0, "expected int, got float"),
        (bool, 1, "expected bool, got int; write True or False"),
        (str, 3, "expected str, got int; write it as text"),
        (float, "3", "expected float, got str; write it as a number"),
        (str | None, b"a", "expected str or None, got bytes"),
        (ElectionType, 1, "expected ElectionType, got int; write one of ElectionType.PREFERRED, ElectionType.UNCLEAN"),
        (ElectionType, "unclean", "expected ElectionType, got str; write ElectionType.UNCLEAN"),
        (Sequence[int], {1, 2}, "expected a sequence of int, got set"),
        (Sequence[int] | None, "12", "expected a sequence of int, or None, got the string '12'"),
        (Iterable[str], "x" * 90, f"expected a collection of str, got the string '{'x' * 40}'...; write ['{'x' * 40}"),
        (Iterable[int], [1, None], "[1]: expected int, got None"),
        (Mapping[str, int], {"a": 1, "b": "2"}, "['b']: expected int, got str; write it as a number"),
        (Mapping[str, Sequence[int]], {"a": [1], "b": [2, "3"]}, "['b'][1]: expected int, got str"),
        (Mapping[str, int], {1: 1}, " (a key): expected str, got int; write it as text"),
        (Mapping[str, int], "secret", "expected a mapping of str to int, got str"),
        (Iterable[TopicPartition], [TopicPartition("a", "0")], "[0].partition: expected int, got str"),  # type: ignore[arg-type]  # the mistake
        (TopicPartition, _NAMESAKE(), "expected TopicPartition, got TopicPartition; this one is of the module other"),
        (Iterable[str] | Mapping[str, int], {"a": "b"}, "['a']: expected int, got str"),
        (str | Iterable[str], ["a", 1], "[1]: expected str, got int"),
        (str | Iterable[str], 1, "expected a collection of str, or str, got int; write it as text"),
    ],
)  # fmt: skip
def test_wrong_values_are_refused_with_their_place(annotation: object, value: object, said: str) -> None:
    with pytest.raises(TypeError, match=f"^f: x(: )?{re.escape(said)}"):
        taken(annotation, value)


def test_iterators_are_read_once_wherever_they_are() -> None:
    assert taken(Iterable[str], iter("ab")) == ("a", "b")
    assert taken(Mapping[str, Iterable[int]], {"a": iter([1]), "b": [2]}) == {"a": (1,), "b": [2]}
    assert taken(Sequence[Sequence[int]], [iter([1, 2]), [3]]) == [(1, 2), [3]]


def test_words_of_a_tolerant_enumeration_may_be_text() -> None:
    assert taken(Iterable[GroupState], ["stable", GroupState.DEAD]) == [GroupState.STABLE, GroupState.DEAD]
    assert taken(GroupState, "Stable") is GroupState.STABLE


def test_an_unsupported_annotation_is_an_error() -> None:
    with pytest.raises(TypeError, match="no check is known"):
        expectation_of(TypeVar("T"))


async def test_methods_of_a_subclass_of_a_user_are_left_alone() -> None:
    class Own(AdminClient):
        async def names(self, topics: "Iterable[Undefined]") -> list[object]:  # type: ignore[name-defined]  # noqa: F821, UP037
            return list(topics)

    async with Own("127.0.0.1:1") as client:
        assert await client.names("ab") == ["a", "b"]
        with pytest.raises(TypeError, match="delete_topics: topics"):
            await client.delete_topics("ab")
