"""The tables of APIs and record types against the enumerations of Apache Kafka."""

from __future__ import annotations

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Apis, RecordTypes
from tests.apache_kafka.releases import newest_release, releases

from kafkawire.protocol import ALIASES, message_class
from kafkawire.protocol.api_table import APIS
from kafkawire.protocol.record_registries import (
    GROUP_COORDINATOR_RECORDS,
    METADATA_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    STORAGE_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from kafkawire.wire.record_types import CoordinatorRecordType

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("release", releases())
def test_api_table_is_kafkas(release: str, oracles: Oracles) -> None:
    (answer,) = oracles(release).ask([Apis()])
    assert answer.apis
    for key, java in answer.apis.items():
        ours = APIS[key]
        assert ours.request == ALIASES.get(f"{java.name}Request", f"{java.name}Request")
        request, response = (message_class(name).HEADER_VERSIONS for name in (ours.request, ours.response))
        assert {v: request[v] for v in java.request_headers} == java.request_headers, java.name
        assert {v: response[v] for v in java.response_headers} == java.response_headers, java.name
        if release == newest_release():
            assert ours.name == java.name
            assert set(ours.listeners) == set(java.listeners), java.name
            assert java.highest_stable == max((v for v in ours.stable_versions if v <= java.highest), default=-1)


@pytest.mark.parametrize("release", releases())
def test_record_registries_are_kafkas(release: str, oracles: Oracles) -> None:
    ours = {
        "org.apache.kafka.common.metadata": of_records(METADATA_RECORDS),
        "org.apache.kafka.server.log.remote.metadata.storage.generated": of_records(STORAGE_RECORDS),
        "org.apache.kafka.coordinator.group.generated": of_coordinator(GROUP_COORDINATOR_RECORDS),
        "org.apache.kafka.coordinator.share.generated": of_coordinator(SHARE_COORDINATOR_RECORDS),
        "org.apache.kafka.coordinator.transaction.generated": of_coordinator(TRANSACTION_COORDINATOR_RECORDS),
    }
    (answer,) = oracles(release).ask([RecordTypes()])
    assert answer.record_types
    for package, java in answer.record_types.items():
        assert {number: ours[package][number] for number in java} == java
    if release == newest_release():
        assert answer.record_types.keys() == ours.keys()


def of_records(registry: dict[int, str]) -> dict[int, tuple[str, ...]]:
    return {number: (name,) for number, name in registry.items()}


def of_coordinator(registry: dict[int, CoordinatorRecordType]) -> dict[int, tuple[str, ...]]:
    return {number: (record_type.key, record_type.value) for number, record_type in registry.items()}
