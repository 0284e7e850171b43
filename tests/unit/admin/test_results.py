"""Results: an outcome for each item of a call."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import assert_type

import pytest
from hypothesis import given, strategies as st

from kafkawire.admin.quota_results import DescribedQuotas
from kafkawire.admin.results import Results
from kafkawire.model.quotas.entities import ClientQuotaEntity, ClientQuotaFilter
from kafkawire.protocol.errors import InvalidTopicError, TopicAlreadyExistsError
from kafkawire.wire.kafka_errors import DisconnectedError, KafkaError, UnrecognizedCodeError

EXISTS = TopicAlreadyExistsError("Topic 'b' already exists.", node=1)
ILLEGAL = InvalidTopicError("Topic '/' is illegal.", node=1)
MIXED: Results[str, int] = Results({"a": 1, "b": EXISTS, "c": 3, "/": ILLEGAL})


def test_an_item_gives_its_value_or_raises_its_error() -> None:
    assert MIXED["a"] == 1
    with pytest.raises(TopicAlreadyExistsError, match="Topic 'b' already exists") as raised:
        _ = MIXED["b"]
    assert raised.value.node == 1
    with pytest.raises(KeyError, match="not among them"):
        _ = MIXED["not among them"]


def test_reading_an_error_leaves_no_trace_in_it() -> None:
    cause = DisconnectedError("gone")
    error = TopicAlreadyExistsError("Topic 'b' already exists.")
    error.__cause__ = cause
    results: Results[str, int] = Results({"b": error})
    for _ in range(2):
        with pytest.raises(TopicAlreadyExistsError) as raised:
            _ = results["b"]
        assert raised.value.__cause__ is cause
    assert error.__traceback__ is None
    assert error.__context__ is None


def test_values_and_errors_part_the_items() -> None:
    assert MIXED.values() == {"a": 1, "c": 3}
    assert MIXED.errors() == {"b": EXISTS, "/": ILLEGAL}
    assert list(MIXED.items()) == [("a", 1), ("b", EXISTS), ("c", 3), ("/", ILLEGAL)]
    assert (list(MIXED), len(MIXED)) == (["a", "b", "c", "/"], 4)
    assert "b" in MIXED
    assert "d" not in MIXED


def test_all_gives_every_value_or_raises_every_error() -> None:
    assert Results({"a": 1, "c": 3}).all() == {"a": 1, "c": 3}
    with pytest.raises(ExceptionGroup, match="2 of 4 failed") as raised:
        MIXED.all()
    assert [type(error) for error in raised.value.exceptions] == [TopicAlreadyExistsError, InvalidTopicError]
    assert [error.__notes__ for error in raised.value.exceptions] == [["item: 'b'"], ["item: '/'"]]
    assert not hasattr(EXISTS, "__notes__")


def test_a_single_error_is_in_a_group_too() -> None:
    with pytest.raises(ExceptionGroup, match="1 of 1 failed"):
        Results({"b": EXISTS}).all()


def test_results_without_items_have_no_errors() -> None:
    nothing: Results[str, int] = Results({})
    assert (nothing.all(), nothing.errors(), len(nothing)) == ({}, {}, 0)


def test_the_order_is_that_of_the_input_and_an_item_given_twice_is_reported_twice() -> None:
    results: Results[str, int] = Results({"a": 1, "b": EXISTS}, ["b", "a", "b"])
    assert list(results.items()) == [("b", EXISTS), ("a", 1), ("b", EXISTS)]
    assert (len(results), results.errors(), results.values()) == (3, {"b": EXISTS}, {"a": 1})
    with pytest.raises(ExceptionGroup, match="1 of 2 failed"):
        results.all()


def test_an_item_needs_an_outcome() -> None:
    with pytest.raises(KeyError, match="b"):
        Results({"a": 1}, ["a", "b"])


def test_results_do_not_share_their_arguments() -> None:
    outcomes: dict[str, int | KafkaError] = {"a": 1}
    results = Results(outcomes)
    outcomes["a"] = 2
    results.values()["a"] = 3
    assert results["a"] == 1


def test_equality_compares_the_content_of_errors_and_not_their_node() -> None:
    again = TopicAlreadyExistsError("Topic 'b' already exists.", node=2, attempts=5)
    assert Results({"a": 1, "b": EXISTS}) == Results({"a": 1, "b": again})
    assert Results({"a": EXISTS}) != Results({"a": TopicAlreadyExistsError("Other words.")})
    assert Results({"a": EXISTS}) != Results({"a": InvalidTopicError(EXISTS.message)})
    assert Results({"a": UnrecognizedCodeError(900)}) != Results({"a": UnrecognizedCodeError(901)})
    assert Results({"a": EXISTS}) != Results({"a": 1})
    assert Results({"a": 1}) != Results({"a": EXISTS})
    assert Results({"a": 1, "b": 2}) != Results({"b": 2, "a": 1})
    assert Results({"a": 1}) != {"a": 1}


def test_results_travel() -> None:
    assert pickle.loads(pickle.dumps(MIXED)) == MIXED  # noqa: S301 - of this test
    assert copy.deepcopy(MIXED) == MIXED


def test_the_representation_is_bounded() -> None:
    assert repr(Results({"a": 1})) == "Results({'a': 1})"
    assert repr(Results({n: n for n in range(1000)})).endswith("9: 9, ... 990 more})")


def test_a_long_representation_has_a_line_for_each_item() -> None:
    lines = repr(Results({n: "x" * (1000 if n == 1 else 60) for n in range(12)})).splitlines()
    assert lines[0] == "Results({"
    assert lines[1] == f"  0: '{'x' * 60}',"
    assert lines[2].endswith("x...,")
    assert max(map(len, lines)) < 420
    assert lines[-2:] == ["  ... 2 more", "})"]


def test_entities_of_described_quotas_is_deprecated() -> None:
    """KIP-888: it had the entities of the only filter, as the union has those of all."""
    alice, bob = ClientQuotaEntity.of_user("alice"), ClientQuotaEntity.of_user("bob")
    described = DescribedQuotas(
        {
            ClientQuotaFilter.of_entity(alice): {alice: {"producer_byte_rate": 5.0}},
            ClientQuotaFilter.of_entity(bob): {bob: {}},
        }
    )
    with pytest.warns(DeprecationWarning, match=r"entities\(\) is deprecated \(KIP-888\): call values\(\)") as warned:
        assert described.entities() == described.union() == {alice: {"producer_byte_rate": 5.0}, bob: {}}
    assert warned[0].filename == __file__


@given(st.lists(st.tuples(st.integers(0, 5), st.one_of(st.integers(), st.just(EXISTS)))))
def test_every_item_is_done_or_failed(pairs: list[tuple[int, int | KafkaError]]) -> None:
    results = Results(dict(pairs), [item for item, _ in pairs])
    assert list(results) == [item for item, _ in pairs]
    assert results.values().keys() | results.errors().keys() == {item for item, _ in pairs}
    assert not results.values().keys() & results.errors().keys()


def _wider(results: Results[str, int]) -> Results[str, object]:
    return results  # values are covariant: nothing can be put in


def test_the_types_are_those_of_items_and_values() -> None:
    done: Results[str, int] = Results({"a": 1})
    assert_type(done["a"], int)
    assert_type(done.values(), dict[str, int])
    assert_type(done.all(), dict[str, int])
    assert_type(done.errors(), dict[str, KafkaError])
    assert_type(done.items(), Iterator[tuple[str, int | KafkaError]])
    assert_type(iter(done), Iterator[str])
    assert_type(_wider(done)["a"], object)
