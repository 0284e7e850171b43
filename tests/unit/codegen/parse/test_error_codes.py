"""The table of error codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkawire.codegen.parse.error_codes import (
    ErrorCode,
    ErrorCodesError,
    format_error_codes,
    parse_error_codes,
    read_error_codes,
)

HEADING = "code,name,retriable,invalid_metadata\n"


def test_codes_are_read_in_ascending_order_and_written_back() -> None:
    codes = parse_error_codes(f"{HEADING}3,UNKNOWN,true,true\n-1,UNEXPECTED,false,false\n", "codes.csv")

    assert codes == (ErrorCode(-1, "UNEXPECTED", False, False), ErrorCode(3, "UNKNOWN", True, True))
    assert parse_error_codes(format_error_codes(codes), "codes.csv") == codes


def test_a_folder_need_not_have_codes(tmp_path: Path) -> None:
    assert read_error_codes(tmp_path) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "codes.csv:1: the heading must be code,name,retriable,invalid_metadata"),
        (HEADING + "1,A,true\n", "codes.csv:2: 4 values are needed, found 3"),
        (HEADING + "x,A,true,true\n", "codes.csv:2: 'x' is not an int16"),
        (HEADING + "32768,A,true,true\n", "codes.csv:2: '32768' is not an int16"),
        (HEADING + "1,A B,true,true\n", "codes.csv:2: 'A B' is not a name"),
        (HEADING + "1,A,yes,true\n", "codes.csv:2: 'yes' is neither true nor false"),
        (HEADING + "1,A,true,true\n1,B,true,true\n", "codes.csv: code given twice: 1"),
        (HEADING + "1,A,true,true\n2,A,true,true\n", "codes.csv: name given twice: A"),
    ],
)
def test_errors_name_place_and_problem(text: str, message: str) -> None:
    with pytest.raises(ErrorCodesError) as refused:
        parse_error_codes(text, "codes.csv")
    assert str(refused.value) == message
