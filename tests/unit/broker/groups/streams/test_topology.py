"""A topology with the topics that exist: tasks, internal topics, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kafkawire.broker.groups.errors import GroupError
from kafkawire.broker.groups.streams.statuses import StreamsStatus
from kafkawire.broker.groups.streams.topology import (
    ConfiguredTopology,
    InternalTopic,
    Problem,
    configured_topology,
    is_large,
)
from kafkawire.protocol import StreamsGroupTopologyValue
from kafkawire.protocol.error_codes import ErrorCode

Subtopology = StreamsGroupTopologyValue.Subtopology
TopicInfo = StreamsGroupTopologyValue.TopicInfo
CopartitionGroup = StreamsGroupTopologyValue.CopartitionGroup

CONFIG = (StreamsGroupTopologyValue.TopicConfig("cleanup.policy", "compact"),)

COUNTING = (
    Subtopology(subtopology_id="0", source_topics=["words"], repartition_sink_topics=["app-repartition"]),
    Subtopology(
        subtopology_id="1",
        repartition_source_topics=[TopicInfo("app-repartition")],
        state_changelog_topics=[
            TopicInfo("app-changelog", 0, 3, [StreamsGroupTopologyValue.TopicConfig("cleanup.policy", "compact")])
        ],
    ),
)
"""What counts words: it groups them in one subtopology and has a table of counts in the other."""


def configured(*subtopologies: Subtopology, **topics: int) -> ConfiguredTopology:
    """A topology with topics; the names of topics have no dashes here."""
    return configured_topology(StreamsGroupTopologyValue(1, subtopologies), topics.get)


def problem(*subtopologies: Subtopology, **topics: int) -> Problem:
    """What is wrong with a topology."""
    found = configured(*subtopologies, **topics)
    assert found.problem is not None
    assert not found.is_ready
    return found.problem


def refusal(*subtopologies: Subtopology) -> GroupError:
    """The error of a topology that is right with no topics."""
    with pytest.raises(GroupError) as error:
        configured(*subtopologies, words=3)
    return error.value


def test_internal_topics_get_the_partition_count_of_what_is_written_to_them() -> None:
    found = configured(*COUNTING, words=6)
    assert [*found.internal_topics.values()] == [
        InternalTopic("app-repartition", 6),
        InternalTopic("app-changelog", 6, 3, {"cleanup.policy": "compact"}),
    ]
    assert found.problem == Problem(
        StreamsStatus.MISSING_INTERNAL_TOPICS, "Internal topics are missing: app-repartition, app-changelog"
    )
    assert {name: (each.tasks, each.is_stateful) for name, each in found.subtopologies.items()} == {
        "0": (6, False),
        "1": (6, True),
    }


def test_an_internal_topic_may_have_one_partition() -> None:
    found = configured(*COUNTING, words=1)
    assert [(each.name, each.partitions) for each in found.internal_topics.values()] == [
        ("app-repartition", 1),
        ("app-changelog", 1),
    ]
    assert {name: each.tasks for name, each in found.subtopologies.items()} == {"0": 1, "1": 1}


def test_a_topology_is_ready_when_its_internal_topics_exist() -> None:
    found = configured(*COUNTING, words=6, **{"app-repartition": 6, "app-changelog": 6})
    assert found.is_ready
    assert found.internal_topics == {}
    assert found.subtopologies["1"].repartition_sources == {"app-repartition": InternalTopic("app-repartition", 6)}
    assert found.subtopologies["0"].repartition_sinks == {"app-repartition"}
    assert found.subtopologies["0"].source_topics == {"words"}


def test_subtopologies_have_the_order_of_strings_in_java() -> None:
    ids = ["\uffff", "2", "\U00010000", "10"]
    found = configured(*(Subtopology(subtopology_id=each, source_topics=["words"]) for each in ids), words=1)
    assert [*found.subtopologies] == ["10", "2", "\U00010000", "\uffff"]


@pytest.mark.parametrize(
    ("missing", "named"),
    [
        (1, "a"),
        (3, "a, b, c"),
        (4, "a, b, c and 1 additional topics"),
        (5, "a, b, c and 2 additional topics"),
    ],
)
def test_the_first_three_missing_topics_are_named(missing: int, named: str) -> None:
    found = problem(Subtopology("0", tuple("abcde"[:missing])))
    assert found == Problem(StreamsStatus.MISSING_SOURCE_TOPICS, f"Source topics {named} are missing.")


def test_without_a_source_topic_there_are_no_tasks() -> None:
    sources = ["d", "c", "b", "a", "words"]
    found = configured(Subtopology(subtopology_id="0", source_topics=sources), words=1)
    detail = "Source topics a, b, c and 1 additional topics are missing."
    assert found == ConfiguredTopology(problem=Problem(StreamsStatus.MISSING_SOURCE_TOPICS, detail))


def test_source_topics_that_are_joined_have_the_same_number_of_partitions() -> None:
    group = CopartitionGroup(source_topics=[0, 1])
    joined = Subtopology(subtopology_id="0", source_topics=["words", "counts"], copartition_groups=[group])
    assert configured(joined, words=2, counts=2).is_ready
    for words, counts in ((2, 3), (3, 2)):
        assert problem(joined, words=words, counts=counts) == Problem(
            StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS,
            f"Following topics do not have the same number of partitions: [{{counts={counts}, words={words}}}]",
        )


def test_a_repartition_topic_gets_the_partition_count_of_the_topic_it_is_joined_with() -> None:
    joined = Subtopology(
        subtopology_id="1",
        source_topics=["counts"],
        repartition_source_topics=[TopicInfo("repartition")],
        copartition_groups=[CopartitionGroup(source_topics=[0], repartition_source_topics=[0])],
    )
    writing = Subtopology(subtopology_id="0", source_topics=["words"], repartition_sink_topics=["repartition"])
    assert configured(writing, joined, words=2, counts=5).internal_topics["repartition"].partitions == 5


def test_a_repartition_topic_with_a_partition_count_is_joined_only_with_topics_of_that_count() -> None:
    joined = Subtopology(
        subtopology_id="1",
        source_topics=["words"],
        repartition_source_topics=[TopicInfo("repartition", 4)],
        copartition_groups=[CopartitionGroup(source_topics=[0], repartition_source_topics=[0])],
    )
    assert problem(joined, words=2).detail == (
        "Number of partitions [4] of repartition topic [repartition] doesn't match number of partitions [2] of the"
        " source topic."
    )


def test_repartition_topics_that_are_joined_get_the_largest_of_their_partition_counts() -> None:
    joined = Subtopology(
        subtopology_id="2",
        repartition_source_topics=[TopicInfo("first"), TopicInfo("second")],
        copartition_groups=[CopartitionGroup(repartition_source_topics=[0, 1])],
    )
    writing = [
        Subtopology(subtopology_id="0", source_topics=["words"], repartition_sink_topics=["first"]),
        Subtopology(subtopology_id="1", source_topics=["counts"], repartition_sink_topics=["second"]),
    ]
    found = configured(*writing, joined, words=2, counts=5)
    assert {each.partitions for each in found.internal_topics.values()} == {5}


def test_internal_topics_that_exist_need_the_right_partition_count() -> None:
    found = problem(*COUNTING, words=6, **{"app-repartition": 6, "app-changelog": 5})
    detail = "Existing topic app-changelog has different number of partitions: expected 6, found 5"
    assert found == Problem(StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS, detail)


def test_a_source_topic_can_be_the_changelog_of_its_table() -> None:
    table = Subtopology(subtopology_id="0", source_topics=["words"], state_changelog_topics=[TopicInfo("words")])
    found = configured(table, words=3)
    assert found.is_ready
    assert found.subtopologies["0"].is_stateful


@pytest.mark.parametrize(
    ("subtopology", "message"),
    [
        (
            Subtopology(
                subtopology_id="0", repartition_source_topics=[TopicInfo("one")], repartition_sink_topics=["one"]
            ),
            "There may be loops in the topology that cannot be resolved.",
        ),
        (
            Subtopology(subtopology_id="0", repartition_source_topics=[TopicInfo("one")]),
            "because a repartition source topic is never used as a sink topic.",
        ),
        (Subtopology(subtopology_id="0"), "No source topics found for subtopology 0"),
    ],
    ids=["a loop", "no sink", "no source"],
)
def test_a_topology_that_no_topics_can_make_right_is_refused(subtopology: Subtopology, message: str) -> None:
    error = refusal(subtopology)
    assert error.code == ErrorCode.STREAMS_INVALID_TOPOLOGY
    assert error.message is not None
    assert error.message.endswith(message)


def test_internal_topics_need_legal_names() -> None:
    changelogs = [TopicInfo("no topic")]
    error = refusal(Subtopology(subtopology_id="0", source_topics=["words"], state_changelog_topics=changelogs))
    assert error.code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert error.message is not None
    assert error.message.startswith("Topic name is invalid: 'no topic' contains ")


@pytest.mark.parametrize(
    "subtopologies",
    [
        [Subtopology(subtopology_id="0", source_topics=["words"])] * 2,
        [
            Subtopology(
                subtopology_id="0",
                source_topics=["words"],
                copartition_groups=[CopartitionGroup(source_topics=[-1])],
            )
        ],
        [
            Subtopology(
                subtopology_id="0",
                source_topics=["words"],
                copartition_groups=[CopartitionGroup(source_topics=[1])],
            )
        ],
        [Subtopology(subtopology_id="0", repartition_source_topics=[TopicInfo("one", -1)])],
        [Subtopology(subtopology_id="0", repartition_source_topics=[TopicInfo("one", 1)] * 2)],
    ],
    ids=["an id twice", "a position below", "a position above", "a negative count", "a topic twice"],
)
def test_a_topology_at_which_kafka_fails_is_refused_without_a_reason(subtopologies: list[Subtopology]) -> None:
    error = refusal(*subtopologies)
    assert (error.code, error.message) == (ErrorCode.UNKNOWN_SERVER_ERROR, None)


LARGEST = 1000
"""How much of a topology is read at once."""


@pytest.mark.parametrize(
    "made",
    [
        lambda count: [Subtopology(str(each)) for each in range(count)],
        lambda count: [Subtopology("0", ["t"] * (count - 2)), Subtopology("1")],
        lambda count: [Subtopology("0", repartition_sink_topics=["t"] * (count - 1))],
        lambda count: [Subtopology("0", repartition_source_topics=[TopicInfo("t")] * (count - 1))],
        lambda count: [Subtopology("0", state_changelog_topics=[TopicInfo("t")] * (count - 1))],
        lambda count: [
            Subtopology(
                "0", state_changelog_topics=[TopicInfo("t"), TopicInfo("t", topic_configs=CONFIG * (count - 3))]
            )
        ],
        lambda count: [Subtopology("0", copartition_groups=[CopartitionGroup()] * (count - 1))],
        lambda count: [Subtopology("0", copartition_groups=[CopartitionGroup([0] * (count - 2))])],
        lambda count: [
            Subtopology(
                "0",
                copartition_groups=[
                    CopartitionGroup(),
                    CopartitionGroup((), repartition_source_topics=[0] * (count - 3)),
                ],
            )
        ],
    ],
    ids=[
        "subtopologies",
        "sources",
        "sinks",
        "repartitions",
        "changelogs",
        "configs",
        "groups",
        "joined",
        "repartitions joined",
    ],
)
def test_each_part_of_a_topology_makes_it_larger(made: Callable[[int], Sequence[Subtopology]]) -> None:
    """Also those in which there is nothing."""
    assert not is_large(StreamsGroupTopologyValue(0, made(LARGEST)))
    assert is_large(StreamsGroupTopologyValue(0, made(LARGEST + 1)))


def test_a_subtopology_counts_the_sources_that_are_known_when_its_turn_comes() -> None:
    """Apache Kafka visits all in their order, and again until all are known: the first one has its turn last here."""
    found = configured(
        Subtopology("0", repartition_source_topics=[TopicInfo("x"), TopicInfo("y")], repartition_sink_topics=["z"]),
        Subtopology("1", ["a"], repartition_sink_topics=["x"]),
        Subtopology("2", ["b"], repartition_sink_topics=["y"]),
        Subtopology("3", repartition_source_topics=[TopicInfo("z")]),
        a=2,
        b=5,
    )
    assert {name: each.partitions for name, each in found.internal_topics.items()} == {"x": 2, "y": 5, "z": 5}
    assert {name: each.tasks for name, each in found.subtopologies.items()} == {"0": 5, "1": 2, "2": 5, "3": 5}
