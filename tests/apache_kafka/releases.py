"""The releases of Apache Kafka that the definitions come from, what each has published, and where its jars lie.

Tests ask for releases by what they need: `releases` for its classes, `broker_releases` for suites that start brokers,
`broker_release_parameters` for what brokers of every release write and answer, `later_releases` for what the releases
after those changed. Nothing but ``specs/sources.toml``, ``unpublished.toml`` and the version tables of the embedded
broker names a release: a release needs no definitions here to have its brokers tested.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from tests.apache_kafka.maven import NotFetchedError, fetched_jars
from tests.apache_kafka.prerequisites import lacking

from kafkawire.broker.version_tables import known_releases, version_table

REPOSITORY = Path(__file__).parents[2]
BROKER = "kafka_2.13"
"""The artifact with the broker, which brings all message classes."""

TOOLS = "kafka-tools"
"""The artifact with ``kafka-topics``, ``kafka-dump-log`` and the like."""

_PROJECT = Path(__file__).with_name("pom.xml")
_SOURCES = REPOSITORY / "specs" / "sources.toml"
_UNPUBLISHED = Path(__file__).with_name("unpublished.toml")


def releases() -> tuple[str, ...]:
    """All releases in ``specs/sources.toml``, oldest first."""
    return tuple(_sources())


def newest_release() -> str:
    """The release that the newest definitions come from."""
    return releases()[-1]


def broker_releases() -> tuple[str, ...]:
    """The newest release of each generation that has its tools, oldest first: the large suites run at these."""
    newest = {generation(release): release for release in releases() if not {BROKER, TOOLS} & unpublished(release)}
    return tuple(newest.values())


def recorded_releases() -> tuple[str, ...]:
    """The releases with a version table, oldest first: the newest patch release of each minor release at that time."""
    return tuple(version_table(name).release for name in known_releases())


def offers_feature(release: str, feature: str) -> bool:
    """Whether brokers of a release offer a feature, ``share.version``, also as one to turn on.

    Kafka has dropped no feature yet: a release after those with a version table has what the newest of these has.
    """
    minor = release.rpartition(".")[0]
    known = known_releases()
    return feature in version_table(minor if minor in known else known[-1]).supported


def broker_release_parameters(*, every_minor: bool = True) -> tuple[ParameterSet, ...]:
    """Parameters of tests that start brokers of their own, oldest first.

    `make test` and CI take the newest release alone.

    Args:
        every_minor: with a release of each minor version: beside `broker_releases` all with a version table that are
            not older. Clusters of several nodes take too long for that.
    """
    oldest, newest = broker_releases()[0], newest_broker_release()
    recorded = [release for release in recorded_releases() if is_at_least(release, oldest)] if every_minor else []
    return tuple(
        pytest.param(release, marks=[] if release == newest else [pytest.mark.nightly])
        for release in sorted({*broker_releases(), *recorded}, key=_numbers)
    )


def newest_broker_release() -> str:
    """The newest release that has its tools."""
    return broker_releases()[-1]


def config_command(release: str) -> str:
    """The main class of ``kafka-configs``: it is in Java since 4.4, and was in Scala before."""
    return "org.apache.kafka.tools.ConfigCommand" if is_at_least(release, "4.4") else "kafka.admin.ConfigCommand"


def newest_scala_tools() -> str:
    """The newest release whose ``kafka-configs`` is in Scala: kafkawire prints what that one prints."""
    return [release for release in releases_with(TOOLS) if not is_at_least(release, "4.4")][-1]


def newest_with(artifact: str) -> str:
    """The newest release that has published an artifact."""
    return releases_with(artifact)[-1]


def releases_with(artifact: str) -> tuple[str, ...]:
    """The releases that have published an artifact, oldest first."""
    return tuple(release for release in releases() if artifact not in unpublished(release))


def later_releases() -> tuple[str, ...]:
    """The releases after the newest that has its tools, oldest first: tests of what they changed run at these."""
    everything = releases_with(BROKER)
    return everything[everything.index(newest_broker_release()) + 1 :]


def generation(release: str) -> str:
    """The major version of a release, ``4``."""
    return release.partition(".")[0]


def is_at_least(release: str, version: str) -> bool:
    """Whether a release is that version or a later one, ``is_at_least("4.3.1", "4.0")``."""
    return _numbers(release) >= _numbers(version)


def unpublished(release: str) -> frozenset[str]:
    """The artifacts that a release does not have: ``absent`` in ``specs/sources.toml``, and ``unpublished.toml``."""
    of_tests: dict[str, list[str]] = tomllib.loads(_UNPUBLISHED.read_text("utf-8"))
    absent = _sources().get(release, {}).get("absent", [])
    assert isinstance(absent, list)
    return frozenset([*absent, *of_tests.get(release, [])])


def need_published(release: str, artifact: str) -> None:
    """Skip the test if a release does not have an artifact."""
    if artifact in unpublished(release):
        pytest.skip(f"{artifact} {release} is not published")


def pinned_digests(release: str) -> dict[str, str]:
    """The sha256 of each jar of a release that definitions were imported from, by artifact."""
    digests = _sources()[release]["sha256"]
    assert isinstance(digests, dict)
    return dict(digests)


def class_path(release: str, project: Path = _PROJECT) -> tuple[Path, ...]:
    """The jars of a release and of what it needs, fetched by Maven once and remembered under ``build/``.

    Artifacts that the release has not published are left out, where the project has a profile for each.

    Args:
        release: of Apache Kafka.
        project: the Maven project that says which jars.
    """
    if project == _PROJECT:
        need_published(release, BROKER)
    missing = sorted(unpublished(release))
    properties = (f"-Dkafka.release={release}", *(f"-Dunpublished.{artifact}" for artifact in missing))
    try:
        return fetched_jars(project, properties, release)
    except NotFetchedError as error:
        not_found = re.search(r"Could not find artifact [\w.]+:([\w.-]+):", str(error))
        advice = f" If {not_found[1]} is not published, list it in {_UNPUBLISHED.name}." if not_found else ""
        lacking(f"Maven could not fetch Apache Kafka {release}.{advice}\n{error}")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


def _sources() -> dict[str, dict[str, object]]:
    """The entries of ``specs/sources.toml``, by release."""
    return {entry["version"]: entry for entry in tomllib.loads(_SOURCES.read_text("utf-8"))["releases"]}
