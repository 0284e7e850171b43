"""Brokers whose cluster a person at a terminal works on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkawire.admin import AclBinding, AclOperation, BlockingAdminClient, NewTopic, TopicPartition
from kafkawire.broker import ThreadedBroker


@pytest.fixture(scope="module")
def broker() -> Iterator[ThreadedBroker]:
    """A broker with topics, a group and an ACL."""
    properties = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }
    topics: list[NewTopic | str] = [NewTopic("payments-of-may", num_partitions=3)]
    topics += [f"a-topic-with-a-rather-long-name-{number:02}" for number in range(40)]
    with ThreadedBroker(properties, topics=topics) as running:
        with BlockingAdminClient(running.bootstrap_servers) as client:
            client.create_acls([AclBinding.of_cluster("User:albert-of-the-far-north", AclOperation.ALTER)]).all()
            client.alter_consumer_group_offsets("readers", {TopicPartition("payments-of-may", 0): 0}).all()
        yield running
