"""Texts of errors: they name the item, and are the same wherever they are shown."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest
from tests.stand_ins.cluster import StandInCluster

from kafkawire.admin import NewTopic, Results, TopicPartition
from kafkawire.protocol.errors import InvalidTopicError, UnknownTopicOrPartitionError
from kafkawire.wire.kafka_errors import ApiError, KafkaError, OperationTimeoutError, UnrecognizedCodeError


def kinds(of: type[KafkaError] = KafkaError) -> Iterator[type[KafkaError]]:
    yield of
    for kind in of.__subclasses__():
        yield from kinds(kind)


def made(kind: type[KafkaError]) -> KafkaError:
    if issubclass(kind, OperationTimeoutError):
        return kind("create_topics", "no answer came")
    if issubclass(kind, UnrecognizedCodeError):
        return kind(999, "no answer came")
    return kind("no answer came")


def test_every_error_shows_its_text_in_its_representation() -> None:
    assert len(set(kinds())) > 130
    for kind in set(kinds()):
        if kind is ApiError:  # has no code: never raised itself
            continue
        error = made(kind)
        assert repr(error) == f"{kind.__name__}({str(error)!r})"
        assert "no answer came" in repr(error)


async def test_errors_of_unknown_topics_name_them() -> None:
    async with StandInCluster() as cluster, cluster.client() as client:
        described = (await client.describe_topics(["nothere"])).errors()["nothere"]
        assert str(described) == "UNKNOWN_TOPIC_OR_PARTITION (3): 'nothere'"
        offsets = await client.list_offsets({TopicPartition("nothere", 0): 5}, timeout=0.2)
        assert "nothere-0" in str(offsets.errors()[TopicPartition("nothere", 0)])
        with pytest.raises(UnknownTopicOrPartitionError, match="'nothere'"):
            (await client.describe_topics(["nothere"]))["nothere"]


@pytest.mark.parametrize(
    ("item", "message", "said"),
    [
        ("orders", None, "INVALID_TOPIC_EXCEPTION (17): 'orders'"),
        ("orders", "too long", "INVALID_TOPIC_EXCEPTION (17): 'orders': too long"),
        ("orders", "Topic 'orders' is too long", "INVALID_TOPIC_EXCEPTION (17): Topic 'orders' is too long"),
        ("t", "it is too long", "INVALID_TOPIC_EXCEPTION (17): 't': it is too long"),
        (TopicPartition("a", 3), "gone", "INVALID_TOPIC_EXCEPTION (17): a-3: gone"),
        (("alice", 1), "gone", "INVALID_TOPIC_EXCEPTION (17): 'alice', 1: gone"),
        (7, "gone", "INVALID_TOPIC_EXCEPTION (17): gone"),
        (TopicPartition("a\x1b[31m", 0), "gone", r"INVALID_TOPIC_EXCEPTION (17): a\x1b[31m-0: gone"),
        (None, "gone", "INVALID_TOPIC_EXCEPTION (17): gone"),
        ("x" * 300, "gone", f"INVALID_TOPIC_EXCEPTION (17): gone [item '{'x' * 199}...]"),
        ("a\x1b[31m", "gone", r"INVALID_TOPIC_EXCEPTION (17): 'a\x1b[31m': gone"),
    ],
)
def test_an_error_of_results_names_its_item_unless_its_text_does(item: object, message: str | None, said: str) -> None:
    error = Results({item: InvalidTopicError(message)}).errors()[item]
    assert str(error) == said
    assert str(pickle.loads(pickle.dumps(error))) == said  # noqa: S301 - own data


def test_an_error_that_several_items_share_names_each_of_them() -> None:
    error = InvalidTopicError("no")
    errors = Results(dict.fromkeys(["a", "b"], error)).errors()
    assert [str(each) for each in errors.values()] == [
        "INVALID_TOPIC_EXCEPTION (17): 'a': no", "INVALID_TOPIC_EXCEPTION (17): 'b': no",
    ]  # fmt: skip


def test_the_text_of_a_group_names_the_first_items_and_their_errors() -> None:
    results = Results({**{f"t{number}": InvalidTopicError("too long") for number in range(5)}, "good": None})
    with pytest.raises(ExceptionGroup) as raised:
        results.all()
    assert str(raised.value) == (
        "5 of 6 failed: INVALID_TOPIC_EXCEPTION (17): 't0': too long; INVALID_TOPIC_EXCEPTION (17): 't1': too long; "
        "INVALID_TOPIC_EXCEPTION (17): 't2': too long; and 2 more (5 sub-exceptions)"
    )
    with pytest.raises(ExceptionGroup, match=r"^1 of 1 failed: 3: INVALID_TOPIC_EXCEPTION \(17\)$"):
        Results({3: InvalidTopicError()}).all()


async def test_exceptions_of_a_users_function_are_raised_unchanged() -> None:
    def progress(done: int, total: int) -> None:
        raise ZeroDivisionError(f"{done} of {total}")

    async with StandInCluster() as cluster, cluster.client() as client:
        with pytest.raises(ZeroDivisionError, match="1 of 1"):
            await client.describe_topics(["a"], progress=progress)
        with pytest.raises(ZeroDivisionError, match="1 of 1"):
            await client.create_topics([NewTopic("a", 1, 1)], progress=progress)
