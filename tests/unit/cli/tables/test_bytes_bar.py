"""The bar tells bytes as they are read, also of a log that is smaller than a MiB, and is for terminals only."""

from __future__ import annotations

import io

from rich.console import Console

from kafkawire.cli.tables.bytes_bar import BytesBar
from kafkawire.logs import Accounts


def shown(bar: BytesBar) -> str:
    console = Console(file=io.StringIO(), width=120)
    with console.capture() as text:
        console.print(bar)
    return text.get()


def test_small_logs_are_counted_in_bytes_and_large_ones_in_what_fits() -> None:
    accounts, terminal = Accounts(), Console(file=io.StringIO(), force_terminal=True, width=120)
    bar = BytesBar(terminal, "records", 1000, accounts)
    accounts.decoded(300)
    accounts.skipped("bad_crc", 100)
    assert "records" in shown(bar)
    assert "400/1,000 bytes" in shown(bar)
    assert "1.5/3.0 GiB" in shown(_read(BytesBar(terminal, "records", 3 << 30, large := Accounts()), large, 3 << 29))


def test_bar_begins_at_zero_whatever_was_read_before() -> None:
    accounts = Accounts()
    accounts.decoded(5000)
    bar = BytesBar(Console(file=io.StringIO(), force_terminal=True, width=120), "records", 1000, accounts)
    assert "0/1,000 bytes" in shown(bar)
    accounts.decoded(2000)  # a file that grew while it was read
    assert "1,000/1,000 bytes" in shown(bar)


def test_nothing_is_written_where_there_is_no_terminal() -> None:
    output = io.StringIO()
    with BytesBar(Console(file=output), "records", 1000, Accounts()) as bar:
        bar.refresh()
    assert output.getvalue() == ""


def _read(bar: BytesBar, accounts: Accounts, size: int) -> BytesBar:
    accounts.decoded(size)
    return bar
