"""Read options: how they are written, and which tables they fit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pytest

from kafkawire.logs import OptionError, ReadMode, ReadOptions, table_named
from kafkawire.logs.option_records import DURATION, SIZE, TIME, option, options_of, parsed, value_of
from kafkawire.logs.options import READ_OPTIONS


def test_each_field_is_an_option() -> None:
    assert {each.name for each in READ_OPTIONS} == set(ReadOptions.__dataclass_fields__)
    assert all(each.help.endswith(".") for each in READ_OPTIONS)


def test_an_option_is_spelled_as_commands_and_spark_spell_theirs() -> None:
    (as_of,) = (each for each in READ_OPTIONS if each.name == "as_of")
    assert (as_of.flag, as_of.spark_name, as_of.shown_default) == ("--as-of", "asOf", "")
    (corrupt,) = (each for each in READ_OPTIONS if each.name == "corrupt_record_column")
    assert (corrupt.spark_name, corrupt.shown_default) == ("columnNameOfCorruptRecord", "_corrupt_record")


def test_options_are_parsed_and_missing_ones_keep_their_defaults() -> None:
    texts = {"mode": "failfast", "columns": "file, log_offset,", "max_frame_bytes": "1m", "unknown": "1"}
    assert parsed(ReadOptions, texts) == ReadOptions(
        mode=ReadMode.FAILFAST, columns=("file", "log_offset"), max_frame_bytes=1 << 20
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01T00:00Z", "2026-03-01T00:00:00+00:00"),
        ("2026-03-01 12:30:00.25+02:00", "2026-03-01T10:30:00.250000+00:00"),
        (" 20260301T123000Z ", "2026-03-01T12:30:00+00:00"),
        ("0001-01-01", "0001-01-01T00:00:00+00:00"),
    ],
)
def test_a_time_is_in_utc_unless_it_has_a_zone(text: str, expected: str) -> None:
    time = value_of(text, TIME, "as_of")
    assert isinstance(time, datetime)
    assert time.isoformat() == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30", "1700000000", "0001-01-01T00:00+23:00"])
def test_a_malformed_time_is_named_with_its_option(text: str) -> None:
    with pytest.raises(OptionError) as refused:
        parsed(ReadOptions, {"as_of": text})
    assert refused.value.option == "as_of"
    assert str(refused.value) == f"option 'as_of': {text!r} is not a time such as 2026-03-01 or 2026-03-01T12:30:00Z"


def test_defaults_are_shown_as_they_are_written() -> None:
    @dataclass(frozen=True)
    class Some:
        size: int = option(5 << 20, SIZE, "A size.")
        odd_size: int = option(1000, SIZE, "A size.")
        pause: int = option(600, DURATION, "A time.")
        short_pause: int = option(90, DURATION, "A time.")

    shown = [each.shown_default for each in options_of(Some)]
    assert shown == ["5m", "1000", "10m", "90s"]
    assert parsed(Some, {each.spelling: each.shown_default for each in options_of(Some)}) == Some()


@pytest.mark.parametrize(
    ("table", "options", "complaint"),
    [
        (
            "topic",
            {"as_of": "2026-03-01"},
            "it needs a history; table 'topic' has a row for each record",
        ),
        (
            "topic",
            {"record_types": "TOPIC_RECORD"},
            "it is for table 'records', not for 'topic'",
        ),
        ("records", {"record_types": "topic_record"}, "no record type 'topic_record'; did you mean TOPIC_RECORD?"),
        ("records", {"record_types": "17"}, "no record type '17'; it is named as in column record_type"),
    ],
)
def test_an_option_that_does_not_fit_the_table_is_refused(table: str, options: dict[str, str], complaint: str) -> None:
    with pytest.raises(OptionError) as refused:
        table_named(table, parsed(ReadOptions, options))
    assert str(refused.value).endswith(complaint)


def test_numbers_and_markers_are_record_types_too() -> None:
    table_named("records", ReadOptions(record_types=("UNKNOWN(900)", "COMMIT")))


def test_no_ops_are_kept_if_their_type_is_chosen() -> None:
    assert ReadOptions(record_types=("NO_OP_RECORD",)).keeps_no_ops
    assert ReadOptions(no_ops=True).keeps_no_ops
    assert not ReadOptions(record_types=("TOPIC_RECORD",)).keeps_no_ops
