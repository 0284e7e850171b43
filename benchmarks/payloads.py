"""The messages of the benchmarks: as large and varied as those of a busy cluster, and the same in every run."""

from __future__ import annotations

import random

from kafkawire.layout import Uuid
from kafkawire.protocol import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeAclsResponse,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    MetadataResponse,
)
from kafkawire.wire import RecordBytes

BROKERS = 6
PRODUCER_BATCH_BYTES = 16 * 1024
"""What a producer puts into a batch by default."""


def metadata_response(topics: int, partitions: int) -> MetadataResponse:
    """Metadata of six brokers in three racks; each partition has three replicas, all in sync."""
    chance = random.Random(1)
    return MetadataResponse(
        brokers=tuple(
            MetadataResponse.MetadataResponseBroker(
                node_id=node, host=f"broker-{node}.kafka.example.com", port=9092, rack=f"rack-{node % 3}"
            )
            for node in range(BROKERS)
        ),
        cluster_id="5L6g3nShT-eMCtK--X86sw",
        controller_id=2,
        topics=tuple(
            MetadataResponse.MetadataResponseTopic(
                name=f"orders.region-{topic % 7}.events-{topic:03d}",
                topic_id=Uuid(chance.randbytes(16)),
                partitions=tuple(_metadata_partition(partition, chance) for partition in range(partitions)),
            )
            for topic in range(topics)
        ),
    )


def _metadata_partition(partition: int, chance: random.Random) -> MetadataResponse.MetadataResponsePartition:
    replicas = tuple(chance.sample(range(BROKERS), 3))
    return MetadataResponse.MetadataResponsePartition(
        partition_index=partition,
        leader_id=replicas[0],
        leader_epoch=chance.randrange(50),
        replica_nodes=replicas,
        isr_nodes=replicas,
    )


def describe_acls_response(resources: int, acls: int) -> DescribeAclsResponse:
    """Access rules of topics and groups: 800 principals, any host in four of five rules, a prefix in one of five."""
    chance = random.Random(2)
    return DescribeAclsResponse(
        resources=tuple(
            DescribeAclsResponse.DescribeAclsResource(
                resource_type=2 if resource % 4 else 3,
                resource_name=f"team-{resource % 97}.topic-{resource}",
                pattern_type=3 if resource % 5 else 4,
                acls=tuple(
                    DescribeAclsResponse.AclDescription(
                        principal=f"User:svc-{chance.randrange(800)}-app",
                        host="*" if chance.random() < 0.8 else f"10.0.{chance.randrange(9)}.{chance.randrange(250)}",
                        operation=3 + number % 5,
                        permission_type=3,
                    )
                    for number in range(acls)
                ),
            )
            for resource in range(resources)
        )
    )


def fetch_response(topics: int, partitions: int, records_bytes: int = PRODUCER_BATCH_BYTES) -> FetchResponse:
    """A fetch of one full producer batch from each partition; 64 partitions give 1 MiB of records.

    Args:
        records_bytes: bytes of records from each partition, if not those of a full batch.
    """
    chance = random.Random(3)
    return FetchResponse(
        session_id=77,
        responses=tuple(
            FetchResponse.FetchableTopicResponse(
                topic=f"orders-{topic}",
                partitions=tuple(
                    FetchResponse.PartitionData(
                        partition_index=partition,
                        high_watermark=1_000_000 + partition,
                        last_stable_offset=1_000_000,
                        log_start_offset=0,
                        aborted_transactions=(),
                        preferred_read_replica=-1,
                        records=chance.randbytes(records_bytes),
                    )
                    for partition in range(partitions)
                ),
            )
            for topic in range(topics)
        ),
    )


def records_of(response: FetchResponse) -> list[RecordBytes]:
    """The records of all partitions."""
    partitions = (partition for topic in response.responses for partition in topic.partitions)
    return [partition.records for partition in partitions if partition.records is not None]


def api_versions_request() -> ApiVersionsRequest:
    """The first request of a client."""
    return ApiVersionsRequest(client_software_name="kafkawire", client_software_version="0.1.0")


def heartbeat_request() -> HeartbeatRequest:
    """The request that members of classic groups send most."""
    return HeartbeatRequest(group_id="payments", generation_id=17, member_id=f"consumer-1-{'0123456789abcdef' * 2}")


def fetch_request(partitions: int) -> FetchRequest:
    """A fetch of a few partitions in a session."""
    return FetchRequest(
        max_wait_ms=500,
        min_bytes=1,
        session_id=77,
        session_epoch=5,
        topics=(
            FetchRequest.FetchTopic(
                topic="orders",
                partitions=tuple(
                    FetchRequest.FetchPartition(partition=number, fetch_offset=1_000_000 + number)
                    for number in range(partitions)
                ),
            ),
        ),
    )


def api_versions_response(apis: int) -> ApiVersionsResponse:
    """The response of a broker to it."""
    return ApiVersionsResponse(
        api_keys=tuple(
            ApiVersionsResponse.ApiVersion(api_key=key, min_version=0, max_version=key % 13) for key in range(apis)
        )
    )
