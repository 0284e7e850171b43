"""Subtopologies of Kafka Streams applications, with repartition topics, changelogs and copartitioned topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tests.embedded.streams_members import Subtopology, TopicInfo

from kafkawire.protocol import StreamsGroupHeartbeatRequest

_Copartitioned = StreamsGroupHeartbeatRequest.CopartitionGroup

TOPOLOGIES: Final[Sequence[Sequence[Subtopology]]] = (
    (Subtopology("0", ("a",)),),
    (Subtopology("0", ("a", "b"), state_changelog_topics=(TopicInfo("changes"), TopicInfo("more"))),),
    (
        Subtopology("0", ("a",), repartition_sink_topics=("again",)),
        Subtopology(
            "1", repartition_source_topics=(TopicInfo("again"),), state_changelog_topics=(TopicInfo("changes"),)
        ),
    ),
    (
        Subtopology("0", ("a",), repartition_sink_topics=("again",)),
        Subtopology("1", ("c",), state_changelog_topics=(TopicInfo("changes"),)),
        Subtopology(
            "10",
            ("b",),
            repartition_source_topics=(TopicInfo("again"),),
            copartition_groups=(_Copartitioned((0,), repartition_source_topics=(0,)),),
        ),
    ),
    (Subtopology("0", ("a", "b"), copartition_groups=(_Copartitioned((0, 1)),)),),
    (
        Subtopology("0", ("a",), repartition_sink_topics=("again",)),
        Subtopology(
            "1", repartition_source_topics=(TopicInfo("again", 3),), state_changelog_topics=(TopicInfo("changes"),)
        ),
    ),
)
