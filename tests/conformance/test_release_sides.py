"""Releases of Apache Kafka as sides of a comparison: fetched by the machine's own Maven, then read from the cache."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.apache_kafka.prerequisites import lacking, program

from kafkawire.codegen.evolve.kafka_release import cache_file
from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.side import OriginError, Side

pytestmark = [pytest.mark.conformance, pytest.mark.nightly]

OLD_NEW_AND_PINNED = (
    ("2.8.2", 158),
    pytest.param("3.5.2", 190, marks=pytest.mark.extended),
    pytest.param("3.9.2", 241, marks=pytest.mark.extended),
    ("4.3.1", 281),
)
"""Releases that were made before and after Kafka's generator became strict, and how many messages each has."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program("mvn")
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def _cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One for all tests here, empty at first: the first test that needs a release fetches it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def fetched(release: str) -> Side:
    try:
        return load_side(f"kafka:{release}")
    except OriginError as error:
        if "could not fetch" in str(error):
            lacking(str(error))
        raise


@pytest.mark.usefixtures("_cache")
@pytest.mark.parametrize(("release", "messages"), OLD_NEW_AND_PINNED)
def test_a_release_is_fetched_once_and_then_read_without_maven(
    monkeypatch: pytest.MonkeyPatch, release: str, messages: int
) -> None:
    side = fetched(release)
    assert len(side.messages) == messages
    assert [finding for finding in side.findings if finding.severity == "error"] == []

    monkeypatch.setenv("PATH", "")
    assert load_side(f"kafka:{release}") == side


@pytest.mark.usefixtures("_cache")
def test_a_release_that_was_never_made_is_distinguished_from_a_failing_network() -> None:
    fetched("4.3.1")
    with pytest.raises(OriginError, match=r"kafka:3\.9\.9999: Maven's repositories do not have this release"):
        load_side("kafka:3.9.9999")
    assert not cache_file("3.9.9999").exists()


@pytest.mark.usefixtures("_cache")
def test_a_network_that_fails_is_distinguished_from_a_missing_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a proxy where no server listens, and a release that no other test has fetched."""
    fetched("4.3.1")
    unreachable = "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=1 -Dhttp.proxyHost=127.0.0.1"
    monkeypatch.setenv("MAVEN_OPTS", f"{os.environ.get('MAVEN_OPTS', '')} {unreachable}")
    with pytest.raises(OriginError, match=r"kafka:3\.4\.9998: Maven could not fetch"):
        load_side("kafka:3.4.9998")
    assert not cache_file("3.4.9998").exists()
