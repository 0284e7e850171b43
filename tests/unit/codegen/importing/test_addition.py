"""Adding a release: what is found, what is reported, and that a failure changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.made.release_jars import Json, Releases, field, install_maven, message

from kafkawire.codegen.importing.addition import AddedRelease, add_release
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.run import ImportRequest, import_specs
from kafkawire.codegen.importing.sources import read_sources

NAME = field("Name", "string", "0+")
RECORD = message("R", "0", [NAME])


@pytest.fixture
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Releases:
    """Release 1.0 is imported; 2.0 can be published. Maven fetches from the folder of jars."""
    made = Releases(tmp_path)
    made.add("1.0", [message("Kept", "0", [NAME]), message("Changed", "0-1", [NAME])], [RECORD])
    install_maven(tmp_path / "bin", made.jars)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    import_specs(ImportRequest(made.sources, made.specs), lambda _: None)
    return made


def added(releases: Releases, version: str = "2.0", *, offline: bool = False, fails: bool = False) -> AddedRelease:
    def generate(folder: Path) -> None:
        if fails:
            raise ZeroDivisionError(folder)

    jars = releases.jars if offline else None
    return add_release(version, releases.specs, offline_jars=jars, generate=generate, progress=lambda _: None)


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def newer(*changed: Json) -> list[Json]:
    return [message("Kept", "0", [NAME]), *changed]


@pytest.mark.parametrize("offline", [False, True], ids=["maven", "jars"])
def test_a_release_is_added_as_an_entry_by_hand_would(releases: Releases, tmp_path: Path, offline: bool) -> None:
    clients = newer(message("Changed", "1-2", [field("Title", "string", "0+")]), message("New", "0", [NAME]))
    releases.publish("2.0", clients)

    news = added(releases, offline=offline)

    by_hand = Releases(tmp_path / "by-hand")
    by_hand.add("1.0", [message("Kept", "0", [NAME]), message("Changed", "0-1", [NAME])], [RECORD])
    by_hand.add("2.0", clients, pinned=False)
    import_specs(ImportRequest(by_hand.sources, by_hand.specs, by_hand.jars, pin=True), lambda _: None)
    assert {path: text for path, text in contents(releases.specs).items() if path != "sources.toml"} == {
        path: text for path, text in contents(by_hand.specs).items() if path != "sources.toml"
    }
    assert read_sources(releases.sources).releases[1].absent == ("two",)
    assert [release.sha256.keys() for release in read_sources(releases.sources).releases] == [{"one", "two"}, {"one"}]
    assert (news.unpublished, news.without_definitions) == (("two",), ())
    assert [each.name for each in news.new_messages] == ["New"]
    assert (news.new_versions, news.dropped_versions) == (
        {"Changed": frozenset({2})},
        {"Changed": frozenset({0})},
    )
    assert [(each.release, each.message, each.versions, each.relation) for each in news.changes] == [
        ("1.0", "Changed", "1", "renamed")
    ]


def test_an_artifact_whose_jar_has_no_definitions_is_absent(releases: Releases) -> None:
    releases.publish("2.0", newer(), [RECORD])
    (releases.jars / "2.0" / "one.jar").replace(releases.jars / "2.0" / "two.jar")
    releases.publish("2.0", newer())

    news = added(releases)

    assert (news.unpublished, news.without_definitions) == ((), ("two",))
    assert read_sources(releases.sources).releases[1].absent == ("two",)


def test_a_change_in_place_is_a_decision_that_is_printed_ready_to_be_copied(releases: Releases) -> None:
    releases.publish("2.0", newer(message("Changed", "0-1", [field("Name", "bytes", "0+")])))
    before = contents(releases.specs)

    with pytest.raises(SpecsImportError) as refused:
        added(releases)

    assert contents(releases.specs) == before
    advice = refused.value.problems[-1]
    entries = advice[advice.index("[[decisions]]") :]
    assert entries.count("[[decisions]]") == 2
    releases.sources.write_text(releases.sources.read_text() + "\n" + entries.replace('reason = ""', 'reason = "r"'))
    news = added(releases)
    assert {(d.message, d.version, d.older, d.newer) for d in read_sources(releases.sources).decisions} == {
        ("Changed", 0, "1.0", "2.0"),
        ("Changed", 1, "1.0", "2.0"),
    }
    assert [change.relation for change in news.changes] == ["replaced"]


def test_a_generation_that_fails_changes_nothing(releases: Releases) -> None:
    releases.publish("2.0", newer(message("New", "0", [NAME])))
    before = contents(releases.specs)

    with pytest.raises(ZeroDivisionError):
        added(releases, fails=True)

    assert contents(releases.specs) == before


def test_definitions_that_cannot_be_written_are_generated_from_again(
    releases: Releases, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases.publish("2.0", newer(message("New", "0", [NAME])))
    before = contents(releases.specs)
    generated_from: list[Path] = []

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kafkawire.codegen.importing.addition.replace_files", full_disk)
    with pytest.raises(OSError, match="No space left"):
        add_release("2.0", releases.specs, offline_jars=None, generate=generated_from.append, progress=lambda _: None)

    assert generated_from[1:] == [releases.specs]
    assert contents(releases.specs) == before


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("1.0", "already has release 1.0"),
        ("9.0", "Maven's repositories have no artifact of release 9.0: check the version"),
    ],
)
def test_a_release_that_cannot_be_added_is_refused(releases: Releases, version: str, reason: str) -> None:
    before = contents(releases.specs)

    with pytest.raises(SpecsImportError, match=reason):
        added(releases, version)

    assert contents(releases.specs) == before


def test_an_older_release_goes_between_the_others(releases: Releases) -> None:
    releases.publish("2.0", newer(message("Changed", "1-2", [NAME])))
    added(releases)
    releases.publish("1.5", newer(message("Changed", "0-2", [NAME])))

    news = added(releases, "1.5")

    assert [release.version for release in read_sources(releases.sources).releases] == ["1.0", "1.5", "2.0"]
    assert (news.new_messages, news.new_versions, news.dropped_versions) == ((), {}, {})
