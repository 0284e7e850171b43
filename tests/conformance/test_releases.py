"""Tests choose releases by what they need, and miss only what a release has not published."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.apache_kafka import maven as maven_of_tests, releases as module
from tests.apache_kafka.releases import (
    BROKER,
    TOOLS,
    broker_release_parameters,
    broker_releases,
    class_path,
    is_at_least,
    later_releases,
    need_published,
    newest_with,
    offers_feature,
    recorded_releases,
    releases_with,
    unpublished,
)

SOURCES = """
[[releases]]
version = "3.8.0"
[[releases]]
version = "3.9.9"
absent = ["kafka-share"]
[[releases]]
version = "4.9.0"
[[releases]]
version = "4.10.0"
[[releases]]
version = "4.11.0"
"""
UNPUBLISHED = f'"4.10.0" = ["{TOOLS}"]\n"4.11.0" = ["{TOOLS}", "{BROKER}"]\n'


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Five releases: the newest has no broker, the one before it no tools."""
    for name, text in (("_SOURCES", SOURCES), ("_UNPUBLISHED", UNPUBLISHED)):
        (tmp_path / name).write_text(text, "utf-8")
        monkeypatch.setattr(module, name, tmp_path / name)
    monkeypatch.setattr(maven_of_tests, "CACHE", tmp_path / "cache")
    maven_of_tests._resolve.cache_clear()


@pytest.fixture
def maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A Maven that lacks the artifact ``kafka-lost``; the file of its arguments."""
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n'
        "echo 'Could not find artifact org.apache.kafka:kafka-lost:jar:4.10.0 in central'\nexit 1\n",
        "utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/bin:/usr/bin")
    monkeypatch.delenv("CI", raising=False)
    return tmp_path / "asked"


@pytest.mark.usefixtures("made_up")
def test_large_suites_run_at_the_newest_release_of_each_generation_that_has_its_tools() -> None:
    assert broker_releases() == ("3.9.9", "4.9.0")
    assert later_releases() == ("4.10.0",)
    assert newest_with(BROKER) == "4.10.0"
    assert releases_with("kafka-share") == ("3.8.0", "4.9.0", "4.10.0", "4.11.0")
    assert unpublished("3.9.9") == {"kafka-share"}


@pytest.mark.usefixtures("made_up")
def test_brokers_of_a_release_without_definitions_are_tested_too() -> None:
    """Each release with a version table, from the oldest with definitions on; make test has the newest alone."""
    parameters = {str(each.values[0]): each.marks for each in broker_release_parameters()}
    recorded = [release for release in recorded_releases() if is_at_least(release, "3.9.9")]
    assert len(recorded) > 3
    assert list(parameters) == ["3.9.9", *recorded, "4.9.0"]
    assert [release for release, marks in parameters.items() if not marks] == ["4.9.0"]
    assert offers_feature("4.1.2", "share.version")
    assert not offers_feature("4.0.2", "share.version")
    assert offers_feature("4.10.0", "share.version")
    assert not offers_feature("4.10.0", "share.lost")


@pytest.mark.usefixtures("made_up")
def test_what_is_not_published_is_skipped_by_name_and_for_its_release_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")  # nothing is missing on the machine
    need_published("4.9.0", TOOLS)
    with pytest.raises(pytest.skip.Exception, match=r"^kafka-tools 4\.10\.0 is not published$"):
        need_published("4.10.0", TOOLS)
    with pytest.raises(pytest.skip.Exception, match=r"^kafka_2\.13 4\.11\.0 is not published$"):
        class_path("4.11.0")


@pytest.mark.usefixtures("made_up")
def test_an_artifact_that_maven_does_not_find_is_named_and_asked_for_once(maven: Path) -> None:
    for _ in range(2):
        with pytest.raises(pytest.skip.Exception, match="If kafka-lost is not published, list it in _UNPUBLISHED"):
            class_path("4.10.0")
    (asked,) = maven.read_text("utf-8").splitlines()
    assert f"-Dunpublished.{TOOLS}" in asked.split()


def test_versions_are_compared_as_numbers() -> None:
    assert is_at_least("4.10.0", "4.9")
    assert is_at_least("4.1.0", "4.1")
    assert not is_at_least("3.9.2", "3.10")
