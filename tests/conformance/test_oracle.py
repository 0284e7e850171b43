"""The oracle itself: it has every class of the releases, and Kafka's classes agree with themselves."""

from __future__ import annotations

import hashlib

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.java_program import JavaProgramDiedError
from tests.apache_kafka.oracle import Decode, Default, Encode, Oracle, running_oracle
from tests.apache_kafka.releases import class_path, newest_release, pinned_digests, releases

pytestmark = pytest.mark.conformance


@pytest.mark.parametrize("release", releases())
def test_oracle_runs_the_jars_that_the_definitions_come_from(release: str) -> None:
    on_class_path = {jar.name: jar for jar in class_path(release)}
    for artifact, digest in pinned_digests(release).items():
        jar = on_class_path[f"{artifact}-{release}.jar"]
        assert hashlib.sha256(jar.read_bytes()).hexdigest() == digest, jar


@pytest.mark.parametrize("release", releases())
def test_java_defaults_survive_bytes_and_json(oracles: Oracles, release: str) -> None:
    oracle = oracles(release)
    versions = [(name, v) for name, found in oracle.classes.items() for v in range(found.lowest, found.highest + 1)]
    defaults = oracle.ask([Default(name, version) for name, version in versions])
    known = [(*at, answer) for at, answer in zip(versions, defaults, strict=True) if answer.hex is not None]
    refused = {name for (name, _), answer in zip(versions, defaults, strict=True) if answer.error}
    assert refused == set()

    decoded = oracle.ask([Decode(name, version, answer.hex or "") for name, version, answer in known])
    for (name, version, default), answer in zip(known, decoded, strict=True):
        assert (answer.json, answer.hex) == (default.json, default.hex), (name, version)

    with_json = [(name, version, answer) for name, version, answer in known if oracle.classes[name].json]
    encoded = oracle.ask([Encode(name, version, answer.json) for name, version, answer in with_json])
    for (name, version, default), answer in zip(with_json, encoded, strict=True):
        assert answer.hex == default.hex, (name, version, answer.error)


def test_oracle_tells_failures_apart(oracle: Oracle) -> None:
    answers = oracle.ask([
        Decode("NoSuchRequest", 0, ""),
        Decode("MetadataRequest", 12, "02"),
        Encode("MetadataRequest", 12, {"topics": 1}),
        Decode("MetadataRequest", 0, "00000000"),
    ])  # fmt: skip
    assert [answer.error.stage if answer.error else None for answer in answers] == ["find", "read", "from_json", None]


def test_oracle_that_dies_is_not_mistaken_for_an_answer() -> None:
    with running_oracle(newest_release()) as dying:
        assert dying.classes
        dying._program._process.kill()
        with pytest.raises(JavaProgramDiedError):
            dying.ask([Default("MetadataRequest", 12)])
