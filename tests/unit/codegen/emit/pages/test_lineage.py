"""Where versions come from, in words."""

from __future__ import annotations

import pytest

from kafkawire.codegen.emit.pages.lineage import (
    Lineage,
    lineage_text,
    lineages,
    proposed_versions,
    unpublished_folders,
    versions_by_release,
)
from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.codegen.package_data import specs_dir
from kafkawire.codegen.specs_tree import load_specs

RELEASES = ("1.0", "2.0", "3.0")


@pytest.mark.parametrize(
    ("lineage", "text"),
    [
        (Lineage(RELEASES), "all"),
        (Lineage(("2.0", "3.0")), "2.0, 3.0"),
        (Lineage(("1.0",)), "1.0"),
        (Lineage(("2.0",)), "2.0"),
        (Lineage((), "kip-7"), "proposal kip-7"),
        (Lineage(), ""),
    ],
)
def test_a_version_has_the_releases_or_the_proposal_that_it_is_from(lineage: Lineage, text: str) -> None:
    assert lineage_text(lineage, RELEASES) == text


def test_versions_of_releases_and_proposals() -> None:
    lineage = {0: Lineage(("1.0",)), 1: Lineage(("1.0", "2.0")), 2: Lineage((), "kip-7"), 3: Lineage((), "kip-8")}
    assert versions_by_release(lineage, RELEASES, ()) == (("1.0", "0-1"), ("2.0", "1"), ("3.0", "none"))
    assert versions_by_release(lineage, RELEASES, {"3.0"})[2] == ("3.0", "not published")
    assert proposed_versions(lineage) == "2 (kip-7), 3 (kip-8)"
    assert proposed_versions({0: Lineage(RELEASES)}) == ""


def test_a_folder_that_a_later_release_did_not_publish_is_not_dropped() -> None:
    released = [
        ReleasedVersion(release, folder, folder.title(), 0, "", folder.title(), 0, "same", ())
        for release, folders in {"1.0": ("a", "b"), "2.0": ("a", "c"), "3.0": ("a", "b", "c")}.items()
        for folder in folders
    ]
    assert unpublished_folders(released) == {"b": {"2.0"}}


def test_every_version_of_kafka_has_an_origin() -> None:
    specs = load_specs(specs_dir())
    known = lineages(specs)
    for message in specs.messages:
        assert list(known[message.name]) == list(message.valid_versions), message.name
        for version, lineage in known[message.name].items():
            assert bool(lineage.proposal) != bool(lineage.releases), (message.name, version)
    assert lineage_text(known["MetadataResponse"][13], specs.releases) == "4.3.1, 4.4.0"
    assert lineage_text(known["FetchRequest"][3], specs.releases) == "3.9.2"
    assert lineage_text(known["DescribeAclsRequest"][4], specs.releases) == "proposal kip-888"
    assert known["VoteRequest"][0].differences[0][0] == "3.9.2"
