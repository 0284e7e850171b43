"""Fetching: errors without Maven and of Maven, and the verification of digests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from tests.made.release_jars import install_maven, write_jar

from kafkawire.codegen.importing.fetch import (
    check_digests,
    digests_of,
    fetch_published,
    fetch_with_maven,
    find_offline,
)
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.sources import Jar

CLIENTS = Jar("org.apache.kafka", "kafka-clients", "1.0")
STORAGE = Jar("org.apache.kafka", "kafka-storage", "1.0")


def program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_without_maven_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(
        SpecsImportError, match=r"mvn is not on the path: install it .*or give a folder .*--offline-jars"
    ):
        fetch_with_maven([CLIENTS], tmp_path)


def test_the_output_of_maven_is_reported_without_colours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "mvn", r"printf '\033[31m[ERROR]\033[0m Could not find artifact'; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SpecsImportError) as failed:
        fetch_with_maven([CLIENTS], tmp_path)

    assert "settings" in failed.value.problems[0]
    assert failed.value.problems[1:] == ("[ERROR] Could not find artifact",)


def test_maven_is_asked_once_for_all_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "mvn", f"echo \"$@\" >> '{tmp_path}/asked'")
    monkeypatch.setenv("PATH", str(tmp_path))

    places = fetch_with_maven([CLIENTS, STORAGE], tmp_path)

    assert (tmp_path / "asked").read_text() == f"-q -B -f {tmp_path}/pom.xml validate\n"
    assert places[STORAGE] == tmp_path / "1.0" / "kafka-storage.jar"
    project = (tmp_path / "pom.xml").read_text()
    for part in ("<artifactId>kafka-clients</artifactId>", "<destFileName>kafka-storage.jar</destFileName>"):
        assert part in project
    assert "repositor" not in project


def test_jars_that_were_not_published_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = install_maven(tmp_path / "bin", tmp_path / "jars")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    write_jar(tmp_path / "jars" / "1.0" / "kafka-storage.jar", "message", [])
    (tmp_path / "project").mkdir()

    places = fetch_published([CLIENTS, STORAGE], tmp_path / "project")

    assert places == {STORAGE: tmp_path / "project" / "1.0" / "kafka-storage.jar"}
    assert asked.read_text() == f"-q -B --fail-at-end -f {tmp_path}/project/pom.xml validate\n"


@pytest.mark.parametrize(
    ("says", "is_unpublished"),
    [
        ("Could not find artifact JAR in central (address)", True),
        ("Failure: JAR was not found in address during a previous attempt", True),
        ("Could not find artifact JAR.1 in central (address)", False),
        ("Could not transfer artifact JAR from/to central (address): timed out", False),
        ("Cannot access central in offline mode and the artifact JAR has not been downloaded from it before", False),
        ("JAR", False),
    ],
)
def test_a_jar_is_unpublished_only_if_maven_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, is_unpublished: bool
) -> None:
    install_maven(tmp_path / "bin", tmp_path / "jars", says)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "project").mkdir()

    if is_unpublished:
        assert fetch_published([CLIENTS], tmp_path / "project") == {}
    else:
        with pytest.raises(SpecsImportError, match=r"could not fetch org\.apache\.kafka:kafka-clients:1\.0\. Network"):
            fetch_published([CLIENTS], tmp_path / "project")


@pytest.mark.parametrize("place", ["1.0/kafka-clients.jar", "1.0/kafka-clients-1.0.jar", "kafka-clients-1.0.jar"])
def test_jars_are_found_offline(tmp_path: Path, place: str) -> None:
    jar = tmp_path / place
    jar.parent.mkdir(exist_ok=True)
    jar.touch()

    assert find_offline([CLIENTS, STORAGE], [STORAGE], tmp_path) == {CLIENTS: jar}


def test_every_missing_jar_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SpecsImportError) as missing:
        find_offline([CLIENTS, STORAGE], [], tmp_path)

    assert missing.value.problems == (
        f"{tmp_path}: there is no jar of org.apache.kafka:kafka-clients:1.0",
        f"{tmp_path}: there is no jar of org.apache.kafka:kafka-storage:1.0",
    )


def test_a_digest_is_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "jar").write_bytes(b"content")

    assert digests_of({CLIENTS: tmp_path / "jar"}) == {CLIENTS: hashlib.sha256(b"content").hexdigest()}


def test_another_jar_than_the_pinned_one_is_refused() -> None:
    with pytest.raises(
        SpecsImportError, match=r"kafka-clients:1\.0 is not the jar that was pinned: sha256 bb, expected"
    ):
        check_digests({CLIENTS: "bb"}, {CLIENTS: "aa"}, pin=True)


def test_a_jar_without_digest_is_trusted_only_on_request() -> None:
    with pytest.raises(SpecsImportError) as refused:
        check_digests({CLIENTS: "bb", STORAGE: "cc"}, {CLIENTS: None, STORAGE: "cc"}, pin=False)
    assert refused.value.problems == (
        "org.apache.kafka:kafka-clients:1.0 has no sha256 in the sources; it is bb",
        "If these jars can be trusted, record their digests: import with --pin",
    )

    check_digests({CLIENTS: "bb"}, {CLIENTS: None}, pin=True)
