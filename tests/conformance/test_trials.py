"""The comparison covers every class and version, and the documentation has its figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

import pytest
from tests.apache_kafka.fixtures import Oracles
from tests.apache_kafka.releases import BROKER, REPOSITORY, releases, releases_with
from tests.conformance import test_malformed_bytes, test_malformed_json
from tests.conformance.test_json import WITHOUT_JSON
from tests.conformance.trials import (
    EXTREME_INSTANCES,
    RANDOM_INSTANCES,
    RANDOM_INSTANCES_WITH_UNKNOWN_TAGS,
    by_message,
    released_versions,
    trials,
    values,
)

from kafkawire.codegen.merge.released_versions import ReleasedVersion
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
    compared = releases_with(BROKER)
    assert tried == {(row.merged_message, row.merged_version) for row in released_versions() if row.release in compared}
    assert all(version in message_class(name).VERSIONS for name, version in tried)


@pytest.mark.parametrize("without", [(), WITHOUT_JSON])
def test_each_trial_is_part_of_make_test_or_of_make_test_all(without: tuple[str, ...]) -> None:
    parameters = by_message(without=without)
    rows = [row for parameter in parameters for row in cast("Sequence[ReleasedVersion]", parameter.values[0])]
    assert len(rows) == len(set(rows))
    assert set(rows) == {row for name, of_message in trials().items() if name not in without for row in of_message}


def test_make_test_tries_each_layout() -> None:
    parameters = [parameter for parameter in by_message() if not parameter.marks]
    tried = [row for parameter in parameters for row in cast("Sequence[ReleasedVersion]", parameter.values[0])]
    assert set(map(layout, tried)) == {layout(row) for rows in trials().values() for row in rows}


def layout(row: ReleasedVersion) -> tuple[str, int]:
    return row.merged_message, message_class(row.merged_message).layouts().by_version[row.merged_version]


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
