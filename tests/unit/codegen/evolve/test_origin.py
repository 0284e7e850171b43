"""What OLD and NEW may be, and the errors if one cannot be read."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.made.release_jars import Json, field, install_maven, message

from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.side import OriginError, Side
from kafkawire.codegen.versions import Versions

pytestmark = pytest.mark.usefixtures("folder")

NAME = field("Name", "string", "0+")


def write(folder: Path, *definitions: Json) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for definition in definitions:
        (folder / f"{definition['name']}.json").write_text(json.dumps(definition))


def commit(root: Path) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "change"]):
        subprocess.run(["git", *identity, *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: a repository with ``specs/clients/A.json``, whose working tree has B too."""
    for variable in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(variable, raising=False)
    write(tmp_path / "specs" / "clients", message("A", "0", [NAME]))
    commit(tmp_path)
    write(tmp_path / "specs" / "clients", message("B", "0", [NAME]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(side: Side) -> tuple[list[str], list[str]]:
    assert not side.findings, side.findings
    return sorted(side.messages), sorted(side.sources)


def test_a_folder() -> None:
    side = load_side("specs")

    assert names(side) == (["A", "B"], ["specs/clients/A.json", "specs/clients/B.json"])
    assert (side.name, side.is_single_file) == ("specs", False)


def test_a_file() -> None:
    side = load_side("specs/clients/B.json")

    assert names(side) == (["B"], ["specs/clients/B.json"])
    assert side.is_single_file


def test_builtin() -> None:
    side = load_side("builtin")

    assert side.sources["builtin/clients/ProduceRequest.json"]
    assert side.messages["ProduceRequest"].place.file == "builtin/clients/ProduceRequest.json"


def test_git_with_a_folder() -> None:
    side = load_side("git:main:specs", "builtin")

    assert names(side) == (["A"], ["git:main:specs/clients/A.json"])
    assert (side.name, side.is_single_file) == ("git:main:specs", False)


def test_git_with_the_root() -> None:
    assert names(load_side("git:main:", "builtin")) == (["A"], ["git:main:specs/clients/A.json"])


def test_git_with_a_file() -> None:
    side = load_side("git:main:specs/clients/A.json")

    assert names(side) == (["A"], ["git:main:specs/clients/A.json"])
    assert side.is_single_file


def test_git_without_a_path_takes_that_of_the_other_side(folder: Path) -> None:
    write(folder / "elsewhere", message("C", "0", [NAME]))
    commit(folder)

    assert names(load_side("git:main", "elsewhere"))[0] == ["C"]
    assert names(load_side("git:main", str(folder / "elsewhere")))[0] == ["C"]
    assert names(load_side("git:main", "git:HEAD:elsewhere"))[0] == ["C"]
    assert names(load_side("git:main", "specs/clients/A.json")) == (["A"], ["git:main:specs/clients/A.json"])


@pytest.mark.parametrize("other", ["builtin", "kafka:3.9.2", "git:HEAD"])
def test_git_without_a_path_anywhere_takes_all_definitions(other: str) -> None:
    assert names(load_side("git:main", other)) == (["A"], ["git:main:specs/clients/A.json"])


def test_what_is_committed_may_have_a_struct_that_nothing_declares(folder: Path) -> None:
    write(folder / "specs" / "clients", message("A", "0", [NAME, field("Text", "String", "0+")]))
    commit(folder)
    side = load_side("git:main:specs", "builtin")
    assert [(finding.rule, finding.severity) for finding in side.findings] == [("struct-undeclared", "warning")]
    assert sorted(side.messages) == ["A", "B"]
    assert sorted(load_side("specs").messages) == ["B"], "in the working tree it can be corrected"


def test_git_without_definitions(folder: Path) -> None:
    write(folder / "empty")
    (folder / "empty" / "README").touch()
    commit(folder)

    with pytest.raises(OriginError, match=r"git:main:empty: there is no definition \(\*\.json\) in git:main:empty"):
        load_side("git:main:empty")


@pytest.mark.parametrize("name", ["builtin", "git:x", "kafka:3.9.2"])
def test_a_folder_of_such_a_name_is_reached_with_a_dot(folder: Path, name: str) -> None:
    write(folder / name, message("Own", "0", [NAME]))

    assert names(load_side(f"./{name}"))[0] == ["Own"]


def test_a_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(folder, monkeypatch, message("A", "0", [NAME]))

    side = load_side("kafka:3.0.0")

    assert names(side) == (["A"], ["kafka:3.0.0/clients/A.json"])
    assert side.name == "kafka:3.0.0"


def test_what_older_generators_of_kafka_let_pass_is_no_error_in_a_release(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    struct = {"name": "State", "type": "State", "taggedVersions": "1+", "tag": 0, "fields": [NAME]}
    old: Json = {"name": "A", "type": "data", "validVersions": "0", "fields": []}
    publish(folder, monkeypatch, old, message("B", "0-1", [struct], flexibleVersions="1+"), behind="]")

    side = load_side("kafka:3.0.0")

    assert {finding.severity for finding in side.findings} == {"warning"}
    assert not side.messages["A"].flexible_versions
    assert side.messages["B"].fields[0].versions == Versions(1, 32767)


def publish(folder: Path, monkeypatch: pytest.MonkeyPatch, *definitions: Json, behind: str = "") -> None:
    """Have Maven know a release 3.0.0 with these definitions."""
    jar = folder / "jars" / "3.0.0" / "kafka-clients.jar"
    jar.parent.mkdir(parents=True)
    with zipfile.ZipFile(jar, "w") as archive:
        for definition in definitions:
            archive.writestr(f"common/message/{definition['name']}.json", json.dumps(definition) + behind)
    install_maven(folder / "bin", folder / "jars")
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


@pytest.mark.parametrize("text", ["missing", "./builtin", "https://example.org", ""])
def test_a_missing_object_is_reported(text: str) -> None:
    with pytest.raises(OriginError, match="there is no file or folder"):
        load_side(text)


def test_a_message_that_is_defined_twice_cannot_be_compared(folder: Path) -> None:
    write(folder / "specs" / "other", message("A", "0", [NAME]))

    with pytest.raises(OriginError, match=r"specs defines A twice, in specs/clients/A.json and specs/other/A.json"):
        load_side("specs")


def test_proposals_lie_over_what_is_released_and_are_unstable(folder: Path) -> None:
    write(folder / "specs" / "proposals" / "kip-1", message("A", "1", [NAME]), message("C", "0-1", [NAME]))

    side = load_side("specs")

    assert side.messages["A"].valid_versions == Versions(0, 1)
    assert side.unstable == {"A": Versions(1, 1), "C": Versions(0, 1)}
    assert side.unstable_versions("A") == Versions(1, 1)
    assert not side.unstable_versions("B")


def test_a_definition_with_errors_is_a_finding_and_no_message(folder: Path) -> None:
    write(folder / "specs" / "clients", message("B", "0+", [NAME]))

    side = load_side("specs")

    assert sorted(side.messages) == ["A"]
    assert [(finding.file, finding.severity) for finding in side.findings] == [("specs/clients/B.json", "error")]
