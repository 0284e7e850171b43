"""A reset has exactly one target, by the names of Kafka's own tool."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafkawire.admin import ByDuration, OffsetSpec, ShiftBy, ToOffset, ToTime
from kafkawire.cli.app import main
from kafkawire.cli.groups.reset_targets import GivenTargets, chosen_target
from kafkawire.cli.outcome import CommandError, ExitCode

NOTHING = GivenTargets(
    to_earliest=False,
    to_latest=False,
    to_current=False,
    to_offset=None,
    to_datetime=None,
    by_duration=None,
    shift_by=None,
    from_file=None,
)


@pytest.mark.parametrize(
    ("given", "target"),
    [
        (NOTHING._replace(to_earliest=True), OffsetSpec.EARLIEST),
        (NOTHING._replace(to_offset=0), ToOffset(0)),
        (NOTHING._replace(shift_by=-3), ShiftBy(-3)),
        (NOTHING._replace(to_datetime="2026-03-01T12:00"), ToTime(datetime(2026, 3, 1, 12, tzinfo=UTC))),
        (NOTHING._replace(by_duration="7d"), ByDuration(timedelta(days=7))),
    ],
)
def test_one_target_is_taken(given: GivenTargets, target: object) -> None:
    assert chosen_target(given) == target


@pytest.mark.parametrize("given", [NOTHING, NOTHING._replace(to_earliest=True, to_offset=3)])
def test_none_and_several_are_refused(given: GivenTargets) -> None:
    with pytest.raises(CommandError, match="give one of --to-earliest, --to-latest"):
        chosen_target(given)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["g", "--to-datetime", "yesterday"], "not a time such as"),
        (["g", "--by-duration", "soon"], "not a duration"),
        (["--to-earliest"], "no group is named"),
        (["g", "--to-earliest", "--topic", "t:x"], "--topic: 't:x': write TOPIC:PARTITION"),
    ],
)
def test_malformed_words_are_wrong_usage(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["groups", "reset", *words, "-b", "localhost:1"]) == ExitCode.USAGE
    assert message in capsys.readouterr().err
