"""Snapshots follow each other until Ctrl-C, each with its time."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator

import pytest
import yaml

from kafkawire.cli.rows.formats import RowFormat
from kafkawire.cli.rows.row import Row
from kafkawire.cli.rows.watching import print_watched


class CountRow(Row, frozen=True):
    """A count.

    Attributes:
        name: what is counted.
        count: how many.
    """

    name: str
    count: int


def two_snapshots() -> Callable[[], list[CountRow]]:
    """Rows of two snapshots; then Ctrl-C."""

    def snapshots() -> Iterator[list[CountRow]]:
        for number in itertools.count(1):
            if number > 2:
                raise KeyboardInterrupt
            yield [CountRow("orders", number)]

    return snapshots().__next__


def watched(form: RowFormat, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(KeyboardInterrupt):
        print_watched(two_snapshots(), CountRow, form, 0.001)
    return capsys.readouterr().out


def test_without_an_interval_rows_are_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    print_watched(two_snapshots(), CountRow, RowFormat.JSONL, None)
    assert capsys.readouterr().out == '{"name":"orders","count":1}\n'


def test_tables_in_a_pipe_follow_the_time(capsys: pytest.CaptureFixture[str]) -> None:
    lines = watched(RowFormat.TABLE, capsys).splitlines()
    assert [line.split() for line in lines if "orders" in line] == [["orders", "1"], ["orders", "2"]]
    times = [line.removeprefix("# ") for line in lines if line.startswith("# ")]
    assert len(times) == 2
    assert all(len(time) == len("2026-03-01T12:30:15.250Z") and time.endswith("Z") for time in times)
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize("form", [RowFormat.JSON, RowFormat.JSONL])
def test_json_has_an_object_with_time_and_rows_on_each_line(
    form: RowFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    objects = [json.loads(line) for line in watched(form, capsys).splitlines()]
    assert [each["rows"] for each in objects] == [[{"name": "orders", "count": count}] for count in (1, 2)]
    assert all(each["time"].endswith("Z") for each in objects)


def test_yaml_has_a_document_for_each_snapshot(capsys: pytest.CaptureFixture[str]) -> None:
    documents = list(yaml.safe_load_all(watched(RowFormat.YAML, capsys)))
    assert [each["rows"] for each in documents] == [[{"name": "orders", "count": count}] for count in (1, 2)]


def test_csv_has_one_heading_and_the_time_in_its_first_column(capsys: pytest.CaptureFixture[str]) -> None:
    heading, *lines = watched(RowFormat.CSV, capsys).splitlines()
    assert heading == '"time","name","count"'
    assert [line.split(",")[1:] for line in lines] == [['"orders"', "1"], ['"orders"', "2"]]


def test_what_could_not_be_read_is_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        print_watched(
            two_snapshots(), CountRow, RowFormat.JSONL, 0.001, failures=lambda: ["readers: GROUP_AUTHORIZATION_FAILED"]
        )
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert printed.err == "kafkawire: readers: GROUP_AUTHORIZATION_FAILED\n" * 2
