"""The import as a whole, on made-up releases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.made.packages import generated
from tests.made.release_jars import Json, Releases, field, message, retired

from kafkawire.codegen.generate import Target
from kafkawire.codegen.importing.problem import SpecsImportError
from kafkawire.codegen.importing.recheck import recheck
from kafkawire.codegen.importing.run import ImportRequest, ImportResult, import_specs
from kafkawire.codegen.importing.summary import changes_of, counts_of
from kafkawire.codegen.merge.released_versions import aliases_of
from kafkawire.codegen.specs_tree import load_specs

NAME = field("Name", "string", "0+")


@pytest.fixture
def releases(tmp_path: Path) -> Releases:
    return Releases(tmp_path)


def run(releases: Releases, *, pin: bool = False, progress: Callable[[str], None] = lambda _: None) -> ImportResult:
    return import_specs(ImportRequest(releases.sources, releases.specs, releases.jars, pin), progress)


def refused(releases: Releases, *, pin: bool = False) -> tuple[str, ...]:
    with pytest.raises(SpecsImportError) as failed:
        run(releases, pin=pin)
    return failed.value.problems


def files_in(root: Path) -> dict[str, tuple[str, int]]:
    """Every file with its text and the time it was written."""
    return {
        str(path.relative_to(root)): (path.read_text(), path.stat().st_mtime_ns)
        for path in root.rglob("*")
        if path.is_file()
    }


def request_and_response(stem: str, key: int, valid: str, fields: list[Json], **attributes: object) -> list[Json]:
    return [
        message(f"{stem}Request", valid, fields, type="request", apiKey=key, **attributes),
        message(f"{stem}Response", valid, fields, type="response", apiKey=key),
    ]


def test_definitions_are_written_as_facts_only(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0-1", [field("Name", "string", "0+", about="What it is.")])])

    run(releases)

    assert (releases.specs / "clients" / "A.json").read_text() == (
        '{\n  "type": "data",\n  "name": "A",\n  "validVersions": "0-1",\n  "flexibleVersions": "none",\n'
        '  "fields": [\n    { "name": "Name", "type": "string", "versions": "0+" }\n  ]\n}\n'
    )


def test_dropped_versions_come_back_and_new_ones_stay(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0-2", [NAME, field("Old", "int8", "0-1")])])
    releases.add("2.0", [message("A", "2-3", [NAME, field("New", "int16", "3+")])])

    result = run(releases)

    (merged,) = result.messages
    assert str(merged.valid_versions) == "0-3"
    assert [(f.name, str(f.versions)) for f in merged.fields] == [("Name", "0+"), ("New", "3+"), ("Old", "0-1")]
    assert [(c.release, c.messages, c.versions) for c in counts_of(result.versions)] == [("1.0", 1, 3), ("2.0", 1, 2)]


def test_retired_message_keeps_the_older_versions(releases: Releases) -> None:
    releases.add("1.0", request_and_response("Stop", 5, "0-4", [NAME], listeners=["zkBroker"]))
    releases.add("2.0", [retired("StopRequest", "request", 5), retired("StopResponse", "response", 5)])

    result = run(releases)

    assert [(m.name, str(m.valid_versions), m.listeners) for m in result.messages] == [
        ("StopRequest", "0-4", ("zkBroker",)),
        ("StopResponse", "0-4", ()),
    ]
    assert {version.release for version in result.versions if version.version >= 0} == {"1.0"}
    assert [count.retired for count in counts_of(result.versions)] == [0, 2]


def test_a_new_name_under_the_same_key_is_an_alias(releases: Releases) -> None:
    releases.add("1.0", request_and_response("ListMetrics", 74, "0", [NAME]))
    releases.add("2.0", request_and_response("ListResources", 74, "0-1", [field("ResourceName", "string", "0+")]))

    result = run(releases)

    aliases = {"ListMetricsRequest": "ListResourcesRequest", "ListMetricsResponse": "ListResourcesResponse"}
    assert aliases_of(result.versions) == aliases
    assert [str(d) for change in changes_of(result.versions) for d in change.differences] == [
        "Name is now ResourceName",
        "Name is now ResourceName",
    ]
    loaded = load_specs(releases.specs)
    assert (loaded.aliases, loaded.releases) == (aliases, ("1.0", "2.0"))
    assert {version.merged_message for version in loaded.released} == set(aliases.values())


def test_a_tagged_field_added_to_an_existing_version_is_recorded(releases: Releases) -> None:
    tagged = field("Hash", "int64", "0+", tag=0, taggedVersions="0+")
    releases.add("1.0", [message("A", "0", [NAME], flexibleVersions="0+")])
    releases.add("2.0", [message("A", "0", [NAME, tagged], flexibleVersions="0+")])

    result = run(releases)

    (change,) = changes_of(result.versions)
    assert (change.release, change.versions, change.relation) == ("1.0", "0", "extended")
    assert [str(difference) for difference in change.differences] == ["Hash was added as tag 0"]


def test_a_change_in_place_is_a_conflict_that_names_both(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [field("Count", "int32", "0+")])])
    releases.add("2.0", [message("A", "0", [field("Count", "int64", "0+")])])

    problem, advice = refused(releases)

    assert problem == "1.0 and 2.0 disagree about A 0, Count: int32 and int64"
    assert advice == (
        "If the newer layout may replace the older one, add to sources.toml, with the reason of each:\n\n"
        '[[decisions]]\nmessage = "A"\nversion = 0\nolder = "1.0"\nnewer = "2.0"\nreason = ""\n'
    )


def test_a_decision_lets_the_newer_win_and_still_does_after_further_releases(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [field("Count", "int32", "0+")])])
    releases.add("2.0", [message("A", "0", [field("Count", "int64", "0+")])])
    releases.decide("A", 0, "1.0", "2.0")
    assert [change.relation for change in changes_of(run(releases).versions)] == ["replaced"]

    releases.add("3.0", [message("A", "0-1", [field("Count", "int64", "0+")])])
    result = run(releases)

    assert [str(f.type) for f in result.messages[0].fields] == ["int64"]
    assert [(change.release, change.relation) for change in changes_of(result.versions)] == [("1.0", "replaced")]


def test_a_decision_about_no_difference_is_refused(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [NAME])])
    releases.add("2.0", [message("A", "0", [NAME])])
    releases.decide("A", 0, "1.0", "2.0")

    assert refused(releases) == ("the decision about A 0 (1.0, 2.0) matches no difference: remove it",)


def test_versions_that_no_range_can_hold_are_a_conflict(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0-1", [NAME])])
    releases.add("2.0", [message("A", "4-5", [NAME])])

    (problem,) = refused(releases)

    assert problem.startswith("1.0 and 2.0 disagree about A 2-3, validVersions: neither definition has these versions")


def test_all_conflicts_are_reported_together(releases: Releases) -> None:
    releases.add("1.0", [message(name, "0-1", [field("Count", "int32", "0+")]) for name in "AB"])
    releases.add("2.0", [message(name, "1-2", [field("Count", "int64", "0+")]) for name in "AB"])

    assert [problem.split(",")[0] for problem in refused(releases)] == [
        "1.0 and 2.0 disagree about A 0",
        "1.0 and 2.0 disagree about B 0",
    ]


def test_another_type_or_key_under_the_same_name_is_a_conflict(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [NAME], type="metadata", apiKey=1)])
    releases.add("2.0", [message("A", "0", [NAME], type="metadata", apiKey=2)])

    assert refused(releases) == ("1.0 and 2.0 disagree about A, apiKey: 1 and 2",)


def test_coordinator_records_take_the_newer_form(releases: Releases) -> None:
    key, value = field("Group", "string", "0+"), field("Epoch", "int32", "0+")
    older = [
        message("OffsetKey", "0-1", [key]),
        message("OffsetValue", "0-1", [value]),
        message("GoneKey", "9", [key, field("Lost", "int8", "0-8")]),
        message("GoneValue", "0", [value]),
        message("Other", "0", [value]),
    ]
    newer = [
        message("LegacyOffsetKey", "0", [key], type="coordinator-key", apiKey=0),
        message("LegacyOffsetValue", "0", [value], type="coordinator-value", apiKey=0),
        message("OffsetKey", "0", [key], type="coordinator-key", apiKey=1),
        message("OffsetValue", "0-1", [value], type="coordinator-value", apiKey=1),
    ]
    releases.add("1.0", [message("A", "0", [NAME])], older)
    releases.add("2.0", [message("A", "0", [NAME])], newer)

    result = run(releases)

    records = {m.name: (m.type, m.api_key, str(m.valid_versions)) for m in result.messages if m.group == "records"}
    assert records == {
        "GoneKey": ("coordinator-key", 9, "0"),
        "GoneValue": ("coordinator-value", 9, "0"),
        "LegacyOffsetKey": ("coordinator-key", 0, "0"),
        "LegacyOffsetValue": ("coordinator-value", 0, "0"),
        "OffsetKey": ("coordinator-key", 1, "0"),
        "OffsetValue": ("coordinator-value", 1, "0-1"),
        "Other": ("data", None, "0"),
    }
    became = {
        (v.message, v.version): (v.merged_message, v.merged_version) for v in result.versions if v.release == "1.0"
    }
    assert became["OffsetKey", 0] == ("LegacyOffsetKey", 0)
    assert became["OffsetKey", 1] == ("OffsetKey", 0)
    assert became["GoneKey", 9] == ("GoneKey", 0)
    assert aliases_of(result.versions) == {}
    assert changes_of(result.versions) == ()


def test_importing_again_touches_nothing(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [NAME])], [message("R", "0", [NAME])])
    run(releases)
    before = files_in(releases.specs)

    result = run(releases)

    assert files_in(releases.specs) == before
    assert (result.changes.written, result.changes.removed) == ((), ())


def test_a_message_that_left_all_releases_is_removed(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [NAME])])
    (releases.specs / "clients").mkdir()
    (releases.specs / "clients" / "Stale.json").write_text("{}")

    assert run(releases).changes.removed == ("clients/Stale.json",)


@pytest.mark.parametrize("fault", ["digest", "syntax", "conflict", "missing"])
def test_a_failed_import_leaves_everything_as_it_was(releases: Releases, fault: str) -> None:
    releases.add("1.0", [message("A", "0", [NAME])])
    run(releases)
    newer = {
        "digest": message("A", "0-1", [NAME]),
        "syntax": message("A", "0-1", [NAME, field("Bad", "int24", "0+")]),
        "conflict": message("A", "0", [field("Name", "int8", "0+")]),
        "missing": message("A", "0-1", [NAME]),
    }[fault]
    releases.add("2.0", [newer], pinned=False)
    if fault == "missing":
        (releases.jars / "2.0" / "one.jar").unlink()
    before = files_in(releases.specs)

    problems = refused(releases, pin=fault != "digest")

    assert problems != ()
    assert files_in(releases.specs) == before


def test_pinning_records_the_digests_of_new_jars(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [NAME])], pinned=False)

    result = run(releases, pin=True)

    assert result.pinned == ("org.example:one:1.0",)
    assert 'sha256]\none = "' in releases.sources.read_text()
    assert run(releases).pinned == ()


def test_sources_may_stand_elsewhere(releases: Releases, tmp_path: Path) -> None:
    releases.add("1.0", [message("A", "0", [NAME])], pinned=False)

    import_specs(ImportRequest(releases.sources, tmp_path / "other", releases.jars, pin=True), lambda _: None)

    assert sorted(files_in(tmp_path / "other")) == ["clients/A.json", "releases.csv"]
    assert "sha256" in releases.sources.read_text()


def test_every_step_is_reported(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [NAME])])
    steps: list[str] = []

    run(releases, progress=steps.append)

    assert steps == [
        "checking digests",
        "reading the definitions of 1.0",
        "merging releases",
        "proving the merge",
        "writing definitions",
    ]


def test_a_rule_that_releases_break_is_reported_with_its_place(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0", [field("Bad", "int24", "0+")])])

    (problem,) = refused(releases)

    assert problem.startswith("1.0 clients: common/message/A.json:2: field-type-unknown: ")


def test_the_record_proves_the_definitions_again(releases: Releases) -> None:
    releases.add("1.0", [message("A", "0-1", [field("Old", "string", "0+"), field("Gone", "int8", "0")])])
    releases.add("2.0", [message("A", "1-2", [field("New", "string", "0+")])])
    versions = run(releases).versions
    path = releases.specs / "clients" / "A.json"
    good = path.read_text()

    assert recheck(load_specs(releases.specs).messages, versions) == ()
    path.write_text(good.replace('"int8"', '"int16"'))
    assert recheck(load_specs(releases.specs).messages, versions) == (
        "1.0 A 0: the layout of A 0 is not that of the release",
    )
    path.write_text(good.replace('"0-2"', '"0-1"'))
    assert recheck(load_specs(releases.specs).messages, versions) == ("2.0 A 2: there is no version 2 of A",)


def test_a_further_release_changes_only_the_modules_of_messages_that_it_changed(
    releases: Releases, tmp_path: Path
) -> None:
    kept, changed = message("Kept", "0", [NAME]), message("Changed", "0", [NAME])
    target = Target(releases.specs, "acme.protocol", tmp_path / "out", tmp_path / "tests")
    releases.add("1.0", [kept, changed])
    run(releases)
    generated(target)

    releases.add("2.0", [kept, message("Changed", "0-1", [NAME])])
    run(releases)
    summary = generated(target)

    assert summary is not None
    assert set(summary.package.written) == {"__init__.py", "clients/changed.py", "clients/_layouts/changed.py"}
    assert summary.tests.written == ()
    assert 'RELEASES: tuple[str, ...] = (\n    "1.0",\n    "2.0",\n)' in (
        target.package_folder / "__init__.py"
    ).read_text("utf-8")
