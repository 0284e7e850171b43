"""Nothing is left out of the comparison, and the documentation says how much is compared."""

from __future__ import annotations

import re

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.releases import BROKER, REPOSITORY, releases, releases_with
from tests.conformance import test_malformed_bytes, test_malformed_json
from tests.conformance.test_json import WITHOUT_JSON
from tests.conformance.trials import (
    EXTREME_INSTANCES,
    RANDOM_INSTANCES,
    RANDOM_INSTANCES_WITH_UNKNOWN_TAGS,
    released_versions,
    trials,
    values,
)

from kafkawire.protocol import message_class


@pytest.mark.conformance
@pytest.mark.parametrize("release", releases())
def test_no_class_and_no_version_of_a_release_is_left_out(release: str, oracles: Oracles) -> None:
    classes = oracles(release).classes
    in_java = {(name, v) for name, found in classes.items() for v in range(found.lowest, found.highest + 1)}
    ours = {(row.message, row.version) for row in released_versions() if row.release == release}
    assert {(name if name in classes else f"{name}Data", version) for name, version in ours} == in_java


def test_each_version_that_was_ever_released_is_tried() -> None:
    tried = {(row.merged_message, row.merged_version) for rows in trials().values() for row in rows}
    asked = releases_with(BROKER)
    assert tried == {(row.merged_message, row.merged_version) for row in released_versions() if row.release in asked}
    assert all(version in message_class(name).VERSIONS for name, version in tried)


def test_values_are_the_same_at_each_run_and_as_many_as_said() -> None:
    message = message_class("MetadataResponse")
    without_tags = list(values(message, 12, unknown_tags=False))
    with_tags = list(values(message, 12, unknown_tags=True))
    assert len(without_tags) == EXTREME_INSTANCES + RANDOM_INSTANCES
    assert len(with_tags) == RANDOM_INSTANCES_WITH_UNKNOWN_TAGS
    assert list(values(message, 12, unknown_tags=False)) == without_tags
    assert list(values(message, 12, unknown_tags=True)) == with_tags


def test_documented_figures() -> None:
    """The page says "more than"; a further release makes them more, and need not change it before it doubles them."""
    rows = [row for of_message in trials().values() for row in of_message]
    with_json = [row for row in rows if row.merged_message not in WITHOUT_JSON]
    without_tags = EXTREME_INSTANCES + RANDOM_INSTANCES
    figures = [
        len(rows) * (without_tags + RANDOM_INSTANCES_WITH_UNKNOWN_TAGS),
        len(rows),
        len(with_json) * (without_tags + RANDOM_INSTANCES_WITH_UNKNOWN_TAGS),
        sum(row.relation != "extended" for row in with_json) * without_tags,
        len(rows) * test_malformed_bytes.DAMAGED,
        sum(row.relation == "same" for row in with_json)
        * (test_malformed_json.DAMAGED + test_malformed_json.OF_ANOTHER_VERSION),
    ]
    page = (REPOSITORY / "docs" / "conformance.md").read_text("utf-8")
    documented = [int(number.replace(" ", "")) for number in re.findall(r"more than ([\d ]+\d)", page)]
    assert len(documented) == len(figures)
    for said, figure in zip(documented, figures, strict=True):
        assert said < figure < 2 * said
