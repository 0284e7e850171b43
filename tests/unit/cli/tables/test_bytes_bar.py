"""The progress bar shows the bytes read, also for a log of less than 1 MiB, and only on terminals."""

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
    ("read", "total", "expected"), [(400, 900, "400/900 bytes"), (15 * 10**8, 3 * 10**9, "1.5/3.0 GB")]
)
def test_the_unit_depends_on_the_number_of_bytes(read: int, total: int, expected: str) -> None:
    accounts = Accounts()
    bar = BytesBar(Console(file=io.StringIO(), force_terminal=True, width=120), "records", total, accounts)
    accounts.decoded(read - 100)
    accounts.skipped("bad_crc", 100)
    assert "records" in shown(bar)
    assert expected in shown(bar)


def test_bar_starts_at_zero_even_after_an_earlier_read() -> None:
    accounts = Accounts()
    accounts.decoded(5000)
    bar = BytesBar(Console(file=io.StringIO(), force_terminal=True, width=120), "records", 900, accounts)
    assert "0/900 bytes" in shown(bar)
    accounts.decoded(2000)  # a file that grew while it was read
    assert "900/900 bytes" in shown(bar)


def test_nothing_is_written_without_a_terminal() -> None:
    output = io.StringIO()
    with BytesBar(Console(file=output), "records", 900, Accounts()) as bar:
        bar.refresh()
    assert output.getvalue() == ""
