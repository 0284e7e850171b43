"""Bytes of every message and version against Apache Kafka's own classes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.oracle import Decode, Default, Oracle
from tests.conformance.trials import by_message, values

from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.protocol import message_class

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("rows", by_message())
def test_kafka_and_we_write_the_same_bytes_and_read_the_same_values(
    rows: Sequence[ReleasedVersion], oracles: Oracles
) -> None:
    differences = [difference for row in rows for difference in _differences(row, oracles(row.release))]
    assert not differences, "\n".join(differences)


def _differences(row: ReleasedVersion, oracle: Oracle) -> list[str]:
    message, version = message_class(row.merged_message), row.merged_version
    made = [*values(message, version, unknown_tags=False), *values(message, version, unknown_tags=True)]
    written = [value.encode(version) for _, value in made]
    answers = oracle.ask([Decode(row.message, row.version, octets.hex()) for octets in written])
    differences: list[str] = []
    for (how, value), octets, answer in zip(made, written, answers, strict=True):
        place = f"{row.message} {row.version} of {row.release}: {how}"
        if answer.hex is None or (answer.hex, answer.read) != (octets.hex(), len(octets)):
            differences.append(f"{place}: we write {octets.hex()}, and Kafka makes of it {answer}")
        elif message.decode(bytes.fromhex(answer.hex), version) != value:
            differences.append(f"{place}: we read Kafka's {answer.hex} as another value")
    return differences


@pytest.mark.parametrize("rows", by_message())
def test_defaults_are_kafkas(rows: Sequence[ReleasedVersion], oracles: Oracles) -> None:
    default = message_class(rows[0].merged_message)()
    for row in rows:
        (answer,) = oracles(row.release).ask([Default(row.message, row.version)])
        assert answer.hex == default.encode(row.merged_version).hex(), row
