"""What two real releases understand of each other's bytes, version by version, and values that bear it out."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from tests.apache_kafka.prerequisites import lacking, program
from tests.laws.codegen.evolve.peers import Peer
from tests.laws.codegen.evolve.statements import hold

from kafkawire.codegen.evolve.origin import load_side
from kafkawire.codegen.evolve.pairing import pair_messages
from kafkawire.codegen.evolve.readability import VersionCompatibility, byte_compatibility
from kafkawire.codegen.evolve.side import OriginError
from kafkawire.codegen.merge.difference import layout_differences
from kafkawire.codegen.resolve.layouts import resolve_message
from kafkawire.layout import StructLayout

pytestmark = pytest.mark.conformance

Compared = tuple[str, VersionCompatibility, StructLayout, StructLayout]

SHARED_VERSIONS = 630

CHANGED = {
    ("VoteRequest", 0): ({"renamed"}, "compatible"),
    ("VoteRequest", 1): ({"renamed"}, "compatible"),
    ("ListConfigResourcesResponse", 0): ({"renamed"}, "compatible"),
    ("ConsumerGroupCurrentMemberAssignmentValue", 0): ({"added-tag"}, "compatible"),
    ("ConsumerGroupMetadataValue", 0): ({"added-tag"}, "compatible"),
    ("ConsumerGroupTargetAssignmentMetadataValue", 0): ({"added-tag"}, "compatible"),
    ("OffsetCommitValue", 4): ({"added-tag"}, "compatible"),
    ("RemoteLogSegmentMetadataRecord", 0): ({"added-tag"}, "compatible"),
    ("RemoteLogSegmentMetadataSnapshotRecord", 0): ({"added-tag"}, "compatible"),
    ("TransactionLogValue", 1): ({"added-tag"}, "compatible"),
    ("ReadShareGroupStateSummaryResponse", 0): ({"wire"}, "conditional"),
    ("ShareGroupMetadataValue", 0): ({"wire"}, "incompatible"),
}
"""The versions that are not the same in 3.9.2 and 4.3.1: what differs, and the verdict, which is one for both ways."""


@pytest.fixture(scope="module")
def compared() -> tuple[Compared, ...]:
    """Every version that both releases have."""
    program("mvn")
    return tuple(_compared())


def _compared() -> Iterator[Compared]:
    try:
        older, newer = load_side("kafka:3.9.2"), load_side("kafka:4.3.1")
    except OriginError as error:
        if "could not fetch" in str(error):
            lacking(str(error))
        raise
    for pair in pair_messages(older, newer):
        if pair.older is not None and pair.newer is not None:
            old, new = resolve_message(pair.older), resolve_message(pair.newer)
            for found in byte_compatibility(old, new):
                yield pair.name, found, old.of_version(found.version), new.of_version(found.version)


def test_all_versions_but_the_known_ones_are_the_same(compared: tuple[Compared, ...]) -> None:
    found = {}
    for name, row, old, new in compared:
        # Whether a value may be dropped where a version lacks the field says nothing about the versions that have it.
        kinds = {difference.kind for difference in layout_differences(old, new)} - {"attribute"}
        verdicts = {row.old_to_new.verdict, row.new_to_old.verdict}
        if kinds or verdicts != {"compatible"}:
            found[name, row.version] = kinds, *verdicts

    assert found == CHANGED
    assert len(compared) == SHARED_VERSIONS


def test_values_of_what_changed_come_out_as_is_said(compared: tuple[Compared, ...]) -> None:
    changed = [row for row in compared if (row[0], row[1].version) in CHANGED]

    for _, row, old, new in changed:
        older, newer = Peer(old), Peer(new)
        hold(row.old_to_new, older, newer, random.Random(1))
        hold(row.new_to_old, newer, older, random.Random(1))
    assert len(changed) == len(CHANGED)
