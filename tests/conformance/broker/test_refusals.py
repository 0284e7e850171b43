"""How requests are refused as a whole, against Kafka's own request classes."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.apache_kafka.java_program import compiled
from tests.apache_kafka.node import run_tool
from tests.embedded.apis import listed_apis
from tests.made.example_messages import random_instance

from kafkawire.broker.refusals import refusal
from kafkawire.broker.served_apis import RELEASE
from kafkawire.protocol import ProduceRequest, WriteTxnMarkersRequest, WriteTxnMarkersResponse, message_class
from kafkawire.protocol.api_table import APIS, ApiKey
from kafkawire.wire import Message

pytestmark = pytest.mark.conformance

SOURCES = Path(__file__).parents[1] / "java" / "refusals"
NOT_CONTROLLER = 41

SERVED = (
    "Produce", "Fetch", "ListOffsets", "Metadata", "OffsetCommit", "OffsetFetch", "FindCoordinator", "DescribeGroups",
    "ListGroups", "SaslHandshake", "ApiVersions", "CreateTopics", "DeleteTopics", "InitProducerId", "DescribeAcls",
    "CreateAcls", "DeleteAcls", "DescribeConfigs", "AlterConfigs", "SaslAuthenticate", "CreatePartitions",
    "DeleteGroups", "IncrementalAlterConfigs", "OffsetDelete", "DescribeClientQuotas", "AlterClientQuotas",
    "DescribeUserScramCredentials", "AlterUserScramCredentials", "DescribeCluster", "ListConfigResources",
    "AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "WriteTxnMarkers", "TxnOffsetCommit", "DescribeTransactions",
    "ListTransactions",
    "DescribeTopicPartitions", "JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup", "DescribeLogDirs", "ElectLeaders",
    "AlterPartitionReassignments", "OffsetForLeaderEpoch", "DescribeQuorum", "UpdateFeatures", "UnregisterBroker",
    "AddRaftVoter", "RemoveRaftVoter", "RenewDelegationToken", "ExpireDelegationToken", "DescribeDelegationToken",
)  # fmt: skip

FIRST_PRODUCE = 3
"""Versions below are listed, and refused by closing the connection."""

UNEQUAL = {
    "throttle_time_ms",  # Kafka forgets it in some
    "error_message",  # ours says what the test wants, Kafka's the words of its exception
    "user",  # Kafka forgets it in DescribeUserScramCredentials
}


def requests() -> list[tuple[Message, int]]:
    rng = random.Random(5)
    found = []
    for key, versions in asyncio.run(listed_apis()).items():
        if APIS[key].name not in SERVED:
            continue
        cls = message_class(APIS[key].request)
        for version in versions:
            if key != ApiKey.PRODUCE or version >= FIRST_PRODUCE:
                layout = cls.layouts().of_version(version)
                found += [(random_instance(rng, cls, layout, unknown_tags=False), version) for _ in range(5)]
    return found


def compared(value: object) -> object:
    """Without known differences to Kafka; items sorted, each once (Kafka converts some to maps)."""
    if isinstance(value, msgspec.Struct):
        names = [name for name in value.__struct_fields__ if name not in UNEQUAL]
        return type(value).__name__, [(name, compared(getattr(value, name)) or None) for name in names]
    if isinstance(value, (tuple, list)):
        return sorted({repr(compared(item)) for item in value if not _is_empty(item)})
    return value


def _is_empty(item: object) -> bool:
    if isinstance(item, WriteTxnMarkersResponse.WritableTxnMarkerTopicResult):
        return item.partitions == ()
    return getattr(item, "partition_responses", True) == ()


def merged_by_kafka(request: Message) -> bool:
    """Whether a topic or a producer stands in it twice."""
    if isinstance(request, WriteTxnMarkersRequest):
        names = [topic.name for marker in request.markers for topic in marker.topics]
        producers = [marker.producer_id for marker in request.markers]
        return len(names) != len(set(names)) or len(producers) != len(set(producers))
    if not isinstance(request, ProduceRequest):
        return False
    topics = [(topic.name, topic.topic_id) for topic in request.topic_data]
    return len(topics) != len(set(topics))


def test_requests_are_refused_as_by_kafka() -> None:
    asked = requests()
    lines = [
        f"{request.API_KEY} {version} {NOT_CONTROLLER} {request.encode(version).hex()}" for request, version in asked
    ]
    plugins = [compiled(RELEASE, SOURCES)]
    answers = run_tool(RELEASE, "Refusals", plugins=plugins, standard_input="\n".join(lines))
    equal: Counter[str] = Counter()
    for (request, version), answer in zip(asked, answers.splitlines(), strict=True):
        if answer.startswith(("!", "-")) or merged_by_kafka(request):
            continue  # Kafka's class does not take such a request, or does not answer
        cls = message_class(APIS[request.API_KEY or 0].response)
        ours = cls.decode(refusal(request, version, NOT_CONTROLLER).encode(version), version)
        assert compared(ours) == compared(cls.decode(bytes.fromhex(answer), version)), (request, version)
        equal[request.NAME] += 1
    assert set(equal) == {f"{name}Request" for name in SERVED}
