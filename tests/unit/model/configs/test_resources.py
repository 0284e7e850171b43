"""Configurations as data (G1 to G4)."""

from __future__ import annotations

import pytest

from kafkawire.model.configs.resources import (
    ConfigEntry,
    ConfigResource,
    ConfigResourceType,
    ConfigSource,
    ConfigSynonym,
    ConfigType,
    described_entries,
)
from kafkawire.protocol import DescribeConfigsResponse

Result = DescribeConfigsResponse.DescribeConfigsResourceResult


def described(*configs: Result, version: int = 4) -> dict[str, ConfigEntry]:
    results = (DescribeConfigsResponse.DescribeConfigsResult(resource_type=2, resource_name="t", configs=configs),)
    sent = DescribeConfigsResponse(results=results).encode(version)
    (result,) = DescribeConfigsResponse.decode(sent, version).results
    return described_entries(result.configs)


def test_resource_types_have_the_numbers_of_kafka() -> None:
    """G1."""
    assert {member.name: member.value for member in ConfigResourceType} == {
        "UNKNOWN": 0, "TOPIC": 2, "BROKER": 4, "BROKER_LOGGER": 8, "CLIENT_METRICS": 16, "GROUP": 32,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("resource", "code", "name"),
    [
        (ConfigResource.topic("t"), 2, "t"),
        (ConfigResource.broker(1), 4, "1"),
        (ConfigResource.broker_default(), 4, ""),
        (ConfigResource.broker_logger(1), 8, "1"),
        (ConfigResource.client_metrics("m"), 16, "m"),
        (ConfigResource.group("g"), 32, "g"),
    ],
)
def test_constructors_of_resources_set_type_and_name(resource: ConfigResource, code: int, name: str) -> None:
    """G1."""
    assert (int(resource.resource_type), resource.name) == (code, name)
    assert resource == ConfigResource(ConfigResourceType(code), name)


def test_resources_can_be_keys_and_have_an_order() -> None:
    """G1."""
    resources = {ConfigResource.topic("b"): 1, ConfigResource.broker(1): 2, ConfigResource.topic("a"): 3}
    assert [resources[resource] for resource in sorted(resources)] == [3, 1, 2]
    assert ConfigResource(ConfigResourceType(64), "x").resource_type.is_unknown


def test_a_source_without_a_name_is_unknown_and_keeps_its_number() -> None:
    """G2."""
    assert [source.value for source in ConfigSource] == list(range(9))
    (entry,) = described(Result("a", "1", config_source=99)).values()
    assert entry.source.is_unknown
    assert entry.source == 99


def test_config_types_have_the_names_of_kafka_and_others_keep_their_number() -> None:
    """G3."""
    names = "unknown boolean string int short long double list class password"
    assert [kind.name for kind in ConfigType] == names.upper().split()
    (entry,) = described(Result("a", "1", config_type=99)).values()
    assert entry.config_type == 99


def test_entries_with_their_synonyms() -> None:
    synonyms = (
        DescribeConfigsResponse.DescribeConfigsSynonym("retention.ms", "6000", 1),
        DescribeConfigsResponse.DescribeConfigsSynonym("log.retention.hours", "168", 5),
    )
    entries = described(
        Result("retention.ms", "6000", config_source=1, synonyms=synonyms, config_type=5, documentation="How long."),
        Result("flush.ms", "7", True, config_source=5, documentation=None),
    )
    assert entries == {
        "retention.ms": ConfigEntry(
            "retention.ms",
            "6000",
            ConfigSource.DYNAMIC_TOPIC_CONFIG,
            synonyms=(
                ConfigSynonym("retention.ms", "6000", ConfigSource.DYNAMIC_TOPIC_CONFIG),
                ConfigSynonym("log.retention.hours", "168", ConfigSource.DEFAULT_CONFIG),
            ),
            config_type=ConfigType.LONG,
            documentation="How long.",
        ),
        "flush.ms": ConfigEntry("flush.ms", "7", ConfigSource.DEFAULT_CONFIG, is_read_only=True),
    }
    assert [entry.is_default for entry in entries.values()] == [False, True]


def test_a_sensitive_value_is_not_kept_even_if_a_broker_sends_it() -> None:
    """G4."""
    synonym = DescribeConfigsResponse.DescribeConfigsSynonym("p", "secret", 2)
    entries = described(Result("p", "secret", is_sensitive=True, config_source=2, synonyms=(synonym,), config_type=9))
    assert entries["p"].value is None
    assert entries["p"].is_sensitive
    assert "secret" not in repr(entries)


def test_version_0_has_only_a_flag_for_defaults() -> None:
    entries = described(Result("a", "1", is_default=True), Result("b", "2"), version=0)
    assert entries["a"].source is ConfigSource.DEFAULT_CONFIG
    assert entries["b"].source is ConfigSource.UNKNOWN
