"""The reference page of the read options has every record of the table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from kafkawire.logs.option_records import Option, options_of
from kafkawire.logs.options import READ_OPTIONS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "read-options.md"
HEAD = "| command line | Spark | Python | default | meaning |\n| --- | --- | --- | --- | --- |\n"


def row(option: Option) -> str:
    flag = f"--no-{option.flag[2:]}" if option.default is True else option.flag
    python = f"`{option.name}`" if option in READ_OPTIONS else ""
    cells = [f"`{flag}`" if option.in_commands else "", f"`{option.spark_name}`", python]
    cells += [f"`{option.shown_default}`" if option.shown_default else "", option.help.rstrip(".")]
    return f"| {' | '.join(cells)} |\n"


def check(block: str, options: Iterable[Option], *, update: bool) -> None:
    text = PAGE.read_text("utf-8")
    expected = f"\n{HEAD}{''.join(map(row, options))}\n"
    shown = re.compile(rf"(<!-- {block}: made .*?-->\n)(.*?)(<!-- end of {block} -->)", flags=re.DOTALL)
    if update:
        PAGE.write_text(shown.sub(lambda found: found[1] + expected + found[3], text), "utf-8")
        return
    found = shown.search(text)
    assert found is not None
    assert found[2] == expected, "pytest tests/golden --update-golden writes the page"


def test_the_page_has_every_option(update_golden: bool) -> None:
    check("read options", READ_OPTIONS, update=update_golden)


def test_the_page_has_every_option_of_spark(update_golden: bool) -> None:
    pytest.importorskip("pyspark")
    from kafkawire.spark.options import SourceOptions  # noqa: PLC0415 needs an extra

    check("spark options", options_of(SourceOptions), update=update_golden)
