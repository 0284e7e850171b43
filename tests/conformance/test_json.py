"""Kafka's JSON form of every message and version against Apache Kafka's own converters."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Answer, Decode, Encode, Oracle
from tests.conformance.json_of_release import json_as_read, json_as_written
from tests.conformance.trials import by_message, values

from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.protocol import from_json, message_class, to_json

pytestmark = pytest.mark.conformance

WITHOUT_JSON = ("SubscriptionInfoData",)
"""Kafka Streams is built without JSON converters."""


@pytest.mark.parametrize("rows", by_message(without=WITHOUT_JSON))
def test_kafka_writes_our_json(rows: Sequence[ReleasedVersion], oracles: Oracles) -> None:
    differences = [text for row in rows for text in _written_differently(row, oracles(row.release))]
    assert not differences, "\n".join(differences)


def _written_differently(row: ReleasedVersion, oracle: Oracle) -> list[str]:
    message, version = message_class(row.merged_message), row.merged_version
    layout = message.layouts().of_version(version)
    made = [*values(message, version, unknown_tags=False), *values(message, version, unknown_tags=True)]
    answers = oracle.ask([Decode(row.message, row.version, value.encode(version).hex()) for _, value in made])
    return [
        f"{row.message} {row.version} of {row.release}: {how}: we write {ours}, Kafka {answer}"
        for (how, value), answer in zip(made, answers, strict=True)
        # As text, so that 1 is not 1.0 and the order of keys counts (json-name).
        if json.dumps(ours := json_as_written(to_json(value, version), layout, row)) != json.dumps(answer.json)
    ]


@pytest.mark.parametrize("rows", by_message(without=WITHOUT_JSON))
def test_kafka_and_we_read_the_same_from_json(rows: Sequence[ReleasedVersion], oracles: Oracles) -> None:
    readable = [row for row in rows if row.relation != "extended"]  # the release lacks some of our fields
    differences = [text for row in readable for text in _read_differently(row, oracles(row.release))]
    assert not differences, "\n".join(differences)


def _read_differently(row: ReleasedVersion, oracle: Oracle) -> list[str]:
    message, version = message_class(row.merged_message), row.merged_version
    layout = message.layouts().of_version(version)
    made = [(how, value, to_json(value, version)) for how, value in values(message, version, unknown_tags=False)]
    answers = oracle.ask([Encode(row.message, row.version, json_as_read(text, layout, row)) for _, _, text in made])
    differences: list[str] = []
    for (how, value, text), answer in zip(made, answers, strict=True):
        if answer != Answer(hex=value.encode(version).hex()) or from_json(message, text, version) != value:
            differences.append(f"{row.message} {row.version} of {row.release}: {how}: {text}: Kafka reads {answer}")
    return differences
