from __future__ import annotations

import pytest

from kafkawire.model.configs.checks import (
    Check,
    Entries,
    InvalidValueError,
    NotEmpty,
    NotNull,
    OffsetReset,
    OneOf,
    Range,
    RangeOr,
    ThrottledReplicas,
    Value,
)

_REPLICAS = (
    "name must be the literal '*' or a list of replicas in the following format: "
    "[partitionId]:[brokerId],[partitionId]:[brokerId],..."
)


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (Range(1, 5), 5),
        (Range(None, 0.5), 0.5),
        (RangeOr(1, 9, -1), -1),
        (OneOf(("a", "b")), "b"),
        (OneOf(("A",), ignoring_case=True), "a"),
        (Entries(("a", "b")), ("b",)),
        (Entries(("a", "b")), ()),
        (Entries(may_be_null=True), None),
        (NotNull(), ""),
        (NotEmpty(), None),
        (ThrottledReplicas(), ("*",)),
        (ThrottledReplicas(), ("0:1", "1:1", "")),
        (ThrottledReplicas(), ()),
        (OffsetReset(), "latest"),
        (OffsetReset(), "by_duration:P1DT2H3M4.5S"),
        (OffsetReset(), "by_duration:PT1,5S"),
        (OffsetReset(), "by_duration:PT1H-30M"),
        (OffsetReset(), "by_duration:-PT-1H"),
        (OffsetReset(), "by_duration:pt0s"),
    ],
)
def test_good_values_pass(check: Check, value: Value) -> None:
    check.verify("name", value)


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (Range(1), 0, "Invalid value 0 for configuration name: Value must be at least 1"),
        (Range(0, 1), 1.5, "Invalid value 1.5 for configuration name: Value must be no more than 1"),
        (Range(1), None, "Invalid value null for configuration name: Value must be non-null"),
        (
            RangeOr(1, 9, -1),
            0,
            "Invalid value 0 for configuration name: Value must be between 1 and 9 or equal to -1",
        ),
        (OneOf(("a", "b")), "c", "Invalid value c for configuration name: String must be one of: a, b"),
        (
            OneOf(("a",), ignoring_case=True),
            "c",
            "Invalid value c for configuration name: String must be one of (case insensitive): a",
        ),
        (Entries(("a",)), ("c",), "Invalid value c for configuration name: String must be one of: a"),
        (Entries(), None, "Configuration 'name' values must not be null."),
        (Entries(), ("a", ""), "Configuration 'name' values must not be empty."),
        (
            Entries(may_be_empty=False),
            (),
            "Configuration 'name' must not be empty. Valid values include: any non-empty value",
        ),
        (NotNull(), None, "Invalid value null for configuration name: entry must be non null"),
        (NotEmpty(), "", "Invalid value  for configuration name: String must be non-empty"),
        (
            ThrottledReplicas(),
            ("0:1", "*"),
            f"Invalid value [0:1, *] for configuration name: {_REPLICAS}",
        ),
    ],
)
def test_others_do_not(check: Check, value: Value, message: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        check.verify("name", value)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    "value",
    [
        "",
        "EARLIEST",
        "by_duration:",
        "by_duration:P",
        "by_duration:PT",
        "by_duration:P1Y",
        "by_duration",
        "BY_DURATION:PT1H",
        "by_duration:PT-1H",
        "by_duration:PT-0.5S",
        "by_duration:P106751991167301D",
        "none",
    ],
)
def test_strategies_for_offsets_that_do_not_exist(value: str) -> None:
    with pytest.raises(InvalidValueError, match="The value must be either"):
        OffsetReset().verify("share.auto.offset.reset", value)
