"""The committed definitions: known facts about the releases, and the proof of their merge without Maven."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kafkawire.broker.served_apis import RELEASE
from kafkawire.codegen.importing.canonical import canonical_text
from kafkawire.codegen.importing.recheck import recheck
from kafkawire.codegen.importing.sources import read_sources
from kafkawire.codegen.importing.summary import counts_of
from kafkawire.codegen.merge.overlay import proposal_of
from kafkawire.codegen.merge.released_versions import ReleasedVersion, read_released_versions
from kafkawire.codegen.parse.load import load_definitions
from kafkawire.codegen.specs_tree import LoadedSpecs, load_specs
from kafkawire.codegen.versions import Versions

OLD, NEW = "3.9.2", "4.3.1"
"""Releases between which many messages lost versions."""

KNOWN = {OLD: (241, 0, 751), NEW: (281, 8, 739), "4.4.0": (287, 8, 755)}
"""Release to its messages, those of them that are retired, and their versions, counted in its jars by other means."""

Version = tuple[str, str, int]
"""Group, message and version."""


@pytest.fixture(scope="module")
def specs(root: Path) -> LoadedSpecs:
    return load_specs(root / "specs")


@pytest.fixture(scope="module")
def released(root: Path) -> tuple[ReleasedVersion, ...]:
    return read_released_versions(root / "specs")


def of_release(released: tuple[ReleasedVersion, ...], release: str) -> dict[Version, ReleasedVersion]:
    return {(v.group, v.message, v.version): v for v in released if v.release == release and v.version >= 0}


def names(released: tuple[ReleasedVersion, ...], release: str) -> set[tuple[str, str]]:
    return {(v.group, v.message) for v in released if v.release == release}


def test_releases_have_known_facts(released: tuple[ReleasedVersion, ...]) -> None:
    counts = {c.release: (c.messages, c.retired, c.versions) for c in counts_of(released)}
    assert {release: counts[release] for release in KNOWN} == KNOWN
    retired = {
        v.message.removesuffix("Request").removesuffix("Response")
        for v in released
        if v.version < 0 and v.release in KNOWN
    }
    assert retired == {"LeaderAndIsr", "StopReplica", "UpdateMetadata", "ControlledShutdown"}


def test_releases_share_known_facts(released: tuple[ReleasedVersion, ...]) -> None:
    both = {name for name in names(released, OLD) & names(released, NEW) if name[0] != "streams"}
    old, new = of_release(released, OLD), of_release(released, NEW)
    shared = {version for version in old.keys() & new.keys() if version[0] != "streams"}
    differing = {version[1:]: old[version].relation for version in shared if old[version].layout != new[version].layout}

    assert (len(both), len(shared)) == (236, 607)
    assert differing == {
        ("VoteRequest", 0): "renamed",
        ("VoteRequest", 1): "renamed",
        ("OffsetCommitValue", 4): "extended",
        ("ConsumerGroupMetadataValue", 0): "extended",
        ("ConsumerGroupTargetAssignmentMetadataValue", 0): "extended",
        ("ConsumerGroupCurrentMemberAssignmentValue", 0): "extended",
        ("TransactionLogValue", 1): "extended",
        ("RemoteLogSegmentMetadataRecord", 0): "extended",
        ("RemoteLogSegmentMetadataSnapshotRecord", 0): "extended",
        ("ReadShareGroupStateSummaryResponse", 0): "replaced",
        ("ShareGroupMetadataValue", 0): "replaced",
    }


def test_messages_that_lost_versions_have_them_again(specs: LoadedSpecs, released: tuple[ReleasedVersion, ...]) -> None:
    old, new = of_release(released, OLD), of_release(released, NEW)
    valid = {message.name: message.valid_versions for message in specs.messages}
    # Keys of coordinator records did not lose versions: what was a version is a record type now.
    lost = {v[:2] for v in old.keys() - new.keys() if v[:2] in names(released, NEW) and not v[1].endswith("Key")}

    assert len(lost) == 57
    assert all(old[v].merged_version in valid[old[v].merged_message] for v in old)


def test_merged_definitions_have_what_the_releases_have_and_nothing_else(
    root: Path, released: tuple[ReleasedVersion, ...]
) -> None:
    messages = [m for m in load_definitions(root / "specs").messages if proposal_of(m) is None]
    merged = {(message.name, version) for message in messages for version in message.valid_versions}

    assert merged == {(v.merged_message, v.merged_version) for v in released if v.version >= 0}
    assert (len(messages), len(merged)) >= (289, 876)


def test_every_version_of_every_release_has_its_layout(
    specs: LoadedSpecs, released: tuple[ReleasedVersion, ...]
) -> None:
    assert recheck(specs.messages, released) == ()


def test_only_versions_changed_in_place_by_a_recorded_decision_are_replaced(
    root: Path, released: tuple[ReleasedVersion, ...]
) -> None:
    decisions = read_sources(root / "specs" / "sources.toml").decisions

    replaced = [(v.message, v.version, v.release) for v in released if v.relation == "replaced"]
    assert sorted((d.message, d.version, d.older) for d in decisions) == sorted(replaced)


def test_a_renamed_api_is_an_alias(specs: LoadedSpecs) -> None:
    assert specs.aliases == {
        f"ListClientMetricsResources{part}": f"ListConfigResources{part}" for part in ("Request", "Response")
    }


def test_coordinator_records_have_the_newer_form(specs: LoadedSpecs, released: tuple[ReleasedVersion, ...]) -> None:
    became = {
        (v.message, v.version): (v.merged_message, v.merged_version)
        for v in of_release(released, OLD).values()
        if v.group == "group-coordinator" and v.message.endswith("Key")
    }
    messages = {message.name: message for message in specs.messages}

    assert became["OffsetCommitKey", 0] == ("LegacyOffsetCommitKey", 0)
    assert became["OffsetCommitKey", 1] == ("OffsetCommitKey", 0)
    assert became["GroupMetadataKey", 2] == ("GroupMetadataKey", 0)
    assert {(messages[name].type, messages[name].api_key) for name, _ in became.values()} == {
        ("coordinator-key", record_type) for _, record_type in became
    }
    assert (
        messages["ShareGroupPartitionMetadataValue"].type,
        messages["ShareGroupPartitionMetadataValue"].api_key,
    ) == (
        "coordinator-value",
        9,
    )


def test_all_jars_are_pinned(root: Path) -> None:
    sources = read_sources(root / "specs" / "sources.toml")

    assert {release.version for release in sources.releases} >= KNOWN.keys()
    for release in sources.releases:
        assert release.sha256.keys() == {artifact.name for artifact in sources.artifacts_of(release)}


def test_the_readme_names_the_newest_release_and_that_of_the_embedded_broker(root: Path) -> None:
    readme = (root / "README.md").read_text("utf-8")
    newest = read_sources(root / "specs" / "sources.toml").releases[-1].version
    minor = newest.rpartition(".")[0]

    assert f"record of Kafka {minor}," in readme, f"README.md must name Apache Kafka {minor}, the newest release"
    assert f"as Kafka {RELEASE} does" in " ".join(readme.split())


def test_definitions_are_facts_in_canonical_form(root: Path) -> None:
    definitions = load_definitions(root / "specs")

    assert [finding for finding in definitions.findings if finding.severity == "error"] == []
    for message in definitions.messages:
        assert definitions.sources[message.place.file] == canonical_text(message)
    groups = Counter(message.group for message in definitions.messages)
    artifacts = read_sources(root / "specs" / "sources.toml").artifacts
    proposals = {"proposals/kip-888": 4, "proposals/kip-248": 6}
    assert groups.keys() == {artifact.group for artifact in artifacts} | proposals.keys()
    assert {group: groups[group] for group in proposals} == proposals


def test_unstable_are_the_marked_and_the_proposed(specs: LoadedSpecs) -> None:
    expected = {
        "InitProducerId": Versions(6, 6),
        "DescribeAcls": Versions(4, 4),
        "DescribeClientQuotas": Versions(2, 2),
        "ListQuotas": Versions(1, 1),
        "DescribeQuotas": Versions(1, 1),
        "AlterQuotas": Versions(0, 0),
    }
    assert specs.unstable == {f"{api}{part}": v for api, v in expected.items() for part in ("Request", "Response")}


def test_error_codes_are_those_of_the_newest_release(specs: LoadedSpecs) -> None:
    codes = {error.code: error for error in specs.error_codes}

    assert list(codes) == list(range(-1, max(codes) + 1))
    assert (codes[41].name, codes[41].retriable, codes[41].invalid_metadata) == ("NOT_CONTROLLER", True, False)
    assert (codes[6].name, codes[6].retriable, codes[6].invalid_metadata) == ("NOT_LEADER_OR_FOLLOWER", True, True)
    assert codes[133].name == "SHARE_SESSION_LIMIT_REACHED"
    assert codes[136].name == "CONTROLLER_ID_NOT_REGISTERED"
