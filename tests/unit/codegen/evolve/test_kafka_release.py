"""Definitions of a release: fetched once, kept whole, and nothing damaged is ever used."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.made.release_jars import Json, field, install_maven, message, write_jar

from kafkawire.codegen.evolve.kafka_release import ReleaseFiles, cache_file, release_definitions
from kafkawire.codegen.evolve.side import OriginError

NAME = field("Name", "string", "0+")
SOURCES = """
[[artifacts]]
name = "one"
organisation = "org.example"
folder = "common/message"
group = "clients"

[[artifacts]]
name = "two"
organisation = "org.example"
folder = "message"
group = "records"

[[releases]]
version = "2.0"
absent = ["two"]
sha256 = {{ one = "{digest}" }}
"""


@dataclass(frozen=True)
class Setting:
    """Jars that a Maven finds, a ``sources.toml`` that pins release 2.0, and an empty cache."""

    root: Path
    asked: Path

    def add(self, version: str, artifact: str, folder: str, *definitions: Json) -> str:
        return write_jar(self.root / "jars" / version / f"{artifact}.jar", folder, definitions)

    def pin(self, digest: str) -> None:
        (self.root / "sources.toml").write_text(SOURCES.format(digest=digest))

    def read(self, version: str) -> dict[str, bytes]:
        return self.files(version).contents

    def files(self, version: str) -> ReleaseFiles:
        return release_definitions(version, self.root, lambda _: None)

    @property
    def calls(self) -> int:
        return len(self.asked.read_text().splitlines()) if self.asked.exists() else 0


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    asked = install_maven(tmp_path / "bin", tmp_path / "jars")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = Setting(tmp_path, asked)
    made.pin(made.add("2.0", "one", "common/message", message("A", "0-1", [NAME])))
    made.add("1.0", "one", "common/message", message("A", "0", [NAME]))
    made.add("1.0", "two", "message", message("B", "0", [NAME]))
    return made


def test_the_jars_of_a_release_give_its_definitions_by_group(setting: Setting) -> None:
    assert sorted(setting.read("1.0")) == ["clients/A.json", "records/B.json"]


def test_jars_that_a_release_does_not_have_are_no_failure(setting: Setting) -> None:
    setting.add("0.9", "one", "common/message", message("A", "0", []))

    assert sorted(setting.read("0.9")) == ["clients/A.json"]


def test_old_brokers_have_definitions_in_their_own_jar(setting: Setting) -> None:
    setting.add("1.0", "kafka_2.13", "common/message", message("Key", "0", []))

    assert sorted(setting.read("1.0")) == ["clients/A.json", "core/Key.json", "records/B.json"]


def test_a_jar_without_definitions_adds_none(setting: Setting) -> None:
    setting.add("1.0", "kafka_2.13", "elsewhere", message("Key", "0", []))

    assert sorted(setting.read("1.0")) == ["clients/A.json", "records/B.json"]


def test_the_second_time_maven_is_not_called(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    first = setting.read("1.0")
    monkeypatch.setenv("PATH", "")

    assert setting.read("1.0") == first
    assert setting.calls == 1


def test_progress_is_reported_when_it_takes_long(setting: Setting) -> None:
    steps: list[str] = []
    for _ in range(2):
        release_definitions("1.0", setting.root, steps.append)

    assert steps == ["fetching Apache Kafka 1.0 with Maven"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "no manifest", "other manifest"])
def test_a_damaged_cache_is_fetched_again(setting: Setting, damage: str) -> None:
    whole = setting.read("1.0")
    spoil(cache_file("1.0"), damage)

    assert setting.read("1.0") == whole
    assert setting.read("1.0") == whole
    assert setting.calls == 2


def spoil(file: Path, damage: str) -> None:
    content = bytearray(file.read_bytes())
    match damage:
        case "cut":
            del content[len(content) // 2 :]
        case "flipped":
            with zipfile.ZipFile(file) as archive:
                content[archive.infolist()[0].header_offset + 60] ^= 0xFF
        case "emptied":
            content.clear()
        case _:
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("clients/A.json", "{}")
                if damage == "other manifest":
                    archive.writestr("manifest.json", '{"sha256": {"one": "00"}}')
            return
    file.write_bytes(content)


def test_a_pinned_release_must_have_the_pinned_jar(setting: Setting) -> None:
    setting.add("2.0", "one", "common/message", message("A", "0-2", [NAME]))

    with pytest.raises(OriginError, match=r"kafka:2.0: org.example:one:2.0 is not the jar that was pinned"):
        setting.read("2.0")
    assert not cache_file("2.0").exists()


def test_what_was_kept_of_another_jar_than_the_pinned_one_is_not_used(setting: Setting) -> None:
    setting.read("2.0")
    setting.pin(setting.add("2.0", "one", "common/message", message("Z", "0", [NAME])))

    assert sorted(setting.read("2.0")) == ["clients/Z.json"]


def test_a_pinned_release_must_be_whole(setting: Setting) -> None:
    (setting.root / "jars" / "2.0" / "one.jar").unlink()

    with pytest.raises(OriginError, match=r"kafka:2.0: org.example:one:2.0 was not found"):
        setting.read("2.0")


def test_an_unknown_release_is_reported(setting: Setting) -> None:
    with pytest.raises(OriginError, match=r"kafka:9.9.9: Maven's repositories do not have this release"):
        setting.read("9.9.9")


def test_a_release_older_than_the_definitions_is_reported(setting: Setting) -> None:
    setting.add("0.8.0", "one", "elsewhere", message("A", "0", []))

    with pytest.raises(OriginError, match=r"kafka:0.8.0: this release has no message definitions"):
        setting.read("0.8.0")


def test_a_repository_out_of_reach_is_no_missing_jar(setting: Setting) -> None:
    install_maven(setting.root / "bin", setting.root / "jars", "Could not transfer artifact JAR from here: timed out")
    setting.add("0.9", "one", "common/message", message("A", "0", []))

    with pytest.raises(OriginError) as failed:
        setting.read("0.9")

    assert "Maven could not fetch org.example:two:0.9 and 1 more. Network, proxy" in str(failed.value)
    assert "timed out" in str(failed.value)
    assert not cache_file("0.9").exists()


def test_without_maven_it_says_what_to_do(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(OriginError, match=r"kafka:1\.0: Maven is needed .*, or name a folder of definitions instead"):
        setting.read("1.0")


@pytest.mark.parametrize(
    "version", ["", "x", "3", "3.9.2/../..", "../3.9", "[3.0,)", "4.0.0-SNAPSHOT", "LATEST", "1.0 "]
)
def test_what_is_no_version_never_reaches_maven_or_the_disk(setting: Setting, version: str) -> None:
    with pytest.raises(OriginError, match="does not name a release"):
        setting.read(version)
    assert setting.calls == 0


def test_the_cache_lies_below_xdg_cache_home_if_that_is_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_file("1.0") == tmp_path / ".cache" / "kafkawire" / "releases" / "1.0.zip"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_file("1.0") == tmp_path / "x" / "kafkawire" / "releases" / "1.0.zip"


def test_a_cache_that_cannot_be_written_is_reported(setting: Setting) -> None:
    (setting.root / "cache").write_text("in the way")

    with pytest.raises(OriginError, match=r"cannot write the release to .*set XDG_CACHE_HOME"):
        setting.read("1.0")


def test_nothing_is_left_beside_the_cache(setting: Setting) -> None:
    setting.read("1.0")

    assert list(cache_file("1.0").parent.iterdir()) == [cache_file("1.0")]


LATER = """
[[releases]]
version = "2.1"

[[releases]]
version = "2.2"
absent = ["two"]
"""


@pytest.fixture
def later(setting: Setting) -> Setting:
    """Release 2.1 of the sources has both artifacts; 2.2 and 2.3 lack one of them."""
    sources = setting.root / "sources.toml"
    sources.write_text(sources.read_text() + LATER)
    setting.add("2.2", "one", "common/message", message("A", "0-1", [NAME]))
    setting.add("2.3", "one", "common/message", message("A", "0-1", [NAME]))
    return setting


def absent(files: ReleaseFiles) -> list[str]:
    return [artifact.name for artifact in files.absent]


@pytest.mark.parametrize("version", ["2.2", "2.3"])
def test_an_artifact_that_an_earlier_release_has_is_absent(later: Setting, version: str) -> None:
    assert absent(later.files(version)) == ["two"]
    assert absent(later.files(version)) == ["two"], "from the cache too"


def test_what_no_earlier_release_has_is_not_absent(setting: Setting) -> None:
    setting.add("0.9", "one", "common/message", message("A", "0", []))
    assert absent(setting.files("0.9")) == absent(setting.files("2.0")) == absent(setting.files("1.0")) == []


def test_an_absent_jar_is_looked_for_again_until_it_is_there(later: Setting) -> None:
    for calls in (1, 2, 3):
        assert sorted(later.files("2.3").contents) == ["clients/A.json"]
        assert later.calls == calls
    later.add("2.3", "two", "message", message("B", "0", [NAME]))
    for _ in range(2):
        files = later.files("2.3")
        assert sorted(files.contents) == ["clients/A.json", "records/B.json"]
        assert absent(files) == []
        assert later.calls == 4


def test_what_the_sources_call_absent_is_not_looked_for(later: Setting) -> None:
    for _ in range(2):
        later.files("2.2")
    assert later.calls == 1


def test_what_is_kept_is_used_where_maven_is_gone(later: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    first = later.files("2.3")
    monkeypatch.setenv("PATH", "")
    assert later.files("2.3") == first
    assert absent(first) == ["two"]
