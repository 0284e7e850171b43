"""Read options: how they are written, and which tables they fit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

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
        ("topic", {"no_ops": "true"}, "it is for table 'records', not for 'topic'"),
        ("acl_history", {"no_ops": "true"}, "it is for table 'records', not for 'acl_history'"),
        ("records", {"record_types": "TOPIC"}, "no record type 'TOPIC'; did you mean TOPIC_RECORD?"),
        ("records", {"record_types": "topic_record"}, "no record type 'topic_record'; did you mean TOPIC_RECORD?"),
        ("records", {"record_types": "17"}, "no record type '17'; column record_type of table records has the names"),
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


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("65536", 65536),
        ("1b", 1),
        ("64k", 64 << 10),
        ("64m", 64 << 20),
        ("64MB", 64 << 20),
        ("64MiB", 64 << 20),
        (" 64 mib ", 64 << 20),
        ("1g", 1 << 30),
        ("2T", 2 << 40),
    ],
)
def test_sizes_are_bytes_or_have_units(text: str, size: int) -> None:
    assert value_of(text, SIZE, "max_frame_bytes") == size


@pytest.mark.parametrize("text", ["", "0", "-1", "m", "64x", "64ib", "1.5g", "٣m", "9999999999t"])
def test_the_error_of_a_malformed_size_says_what_is_accepted(text: str) -> None:
    with pytest.raises(OptionError) as refused:
        value_of(text, SIZE, "max_frame_bytes")
    expected = "not a size: give bytes, or a number with k, m, g or t, such as 65536, 64m, 64MiB or 1g"
    assert refused.value.reason == f"{text!r} is {expected}"


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("30s", 30), ("10m", 600), ("1H", 3600)])
def test_durations_are_seconds_or_have_units(text: str, seconds: int) -> None:
    assert value_of(text, DURATION, "gap_timeout") == seconds


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(OptionError) as refused:
        ReadOptions(from_offset=9, until_offset=2)
    reason = "2 is before 9, where the range begins: give a later end, or an earlier beginning"
    assert (refused.value.option, refused.value.reason) == ("until_offset", reason)
    with pytest.raises(OptionError, match="'until_time': 2026-03-01T00:00:00"):
        parsed(ReadOptions, {"from_time": "2026-03-02", "until_time": "2026-03-01"})
    with pytest.raises(OptionError, match="until_time"):
        ReadOptions(from_time=datetime(2026, 3, 2), until_time=datetime(2026, 3, 1, tzinfo=UTC))  # noqa: DTZ001


def test_a_range_may_be_empty() -> None:
    assert ReadOptions(from_offset=9, until_offset=9).until_offset == 9


def test_names_of_tables_ignore_the_case_of_letters() -> None:
    assert table_named("ACL_History").name == "acl_history"
    assert table_named("Records").name == "records"
    assert table_named("Topic").name == "topic"
