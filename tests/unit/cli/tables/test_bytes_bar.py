"""The bar shows bytes as they are read, also for a log that is smaller than a MiB, and on terminals only."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from kafkawire.cli.tables.bytes_bar import BytesBar
from kafkawire.logs import Accounts


def shown(bar: BytesBar) -> str:
    console = Console(file=io.StringIO(), width=120)
    with console.capture() as text:
        console.print(bar)
    return text.get()


@pytest.mark.parametrize(
    ("read", "total", "told"), [(400, 900, "400/900 bytes"), (15 * 10**8, 3 * 10**9, "1.5/3.0 GB")]
)
def test_bytes_are_shown_in_a_fitting_unit(read: int, total: int, told: str) -> None:
    accounts = Accounts()
    bar = BytesBar(Console(file=io.StringIO(), force_terminal=True, width=120), "records", total, accounts)
    accounts.decoded(read - 100)
    accounts.skipped("bad_crc", 100)
    assert "records" in shown(bar)
    assert told in shown(bar)


def test_bar_begins_at_zero_whatever_was_read_before() -> None:
    accounts = Accounts()
    accounts.decoded(5000)
    bar = BytesBar(Console(file=io.StringIO(), force_terminal=True, width=120), "records", 900, accounts)
    assert "0/900 bytes" in shown(bar)
    accounts.decoded(2000)  # a file that grew while it was read
    assert "900/900 bytes" in shown(bar)


def test_nothing_is_written_where_there_is_no_terminal() -> None:
    output = io.StringIO()
    with BytesBar(Console(file=output), "records", 900, Accounts()) as bar:
        bar.refresh()
    assert output.getvalue() == ""
