"""Accounts add up, can be sent between processes, and fit on one line."""

from __future__ import annotations

from kafkawire.logs import Accounts


def booked() -> Accounts:
    accounts = Accounts()
    accounts.decoded(100)
    accounts.decoded(50)
    accounts.not_decoded_after_all("bad_records", 50)
    accounts.skipped("bad_crc", 7)
    accounts.failed("bad_crc")
    accounts.failed("bad_records")
    accounts.records_read, accounts.rows = 5, 3
    accounts.dropped("no_op", 2)
    accounts.dropped("other_type", 0)
    return accounts


def test_accounts_balance_and_merge() -> None:
    accounts = booked()
    assert accounts.balanced
    accounts.merge(booked())
    assert (accounts.bytes_read, accounts.bytes_decoded) == (314, 200)
    assert accounts.bytes_skipped == {"bad_records": 100, "bad_crc": 14}
    assert accounts.records_dropped == {"no_op": 4}
    assert accounts.balanced


def test_accounts_survive_json() -> None:
    assert Accounts.from_json(booked().to_json()) == booked()


def test_accounts_fit_on_one_line() -> None:
    assert booked().line() == (
        "bytes read 157 = 100 decoded + 57 skipped (bad_records 50, bad_crc 7); "
        "records read 5, rows 3, dropped 2 (no_op 2); errors 2 (bad_crc 1, bad_records 1)"
    )
