"""The laws themselves: each notices a codec that breaks it."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from kafkawire.layout import Uuid
from kafkawire.protocol import DescribeClientQuotasResponse, MetadataRequest
from kafkawire.wire.laws import check_engines_agree, check_round_trip, damaged, same, without_unknown_tags
from kafkawire.wire.message_codec import GeneratedCodec

Topic = MetadataRequest.MetadataRequestTopic
REQUEST = MetadataRequest((Topic(Uuid(b"\1" * 16), "orders"),), unknown_tagged_fields=((5, b"x"),))
VERSION = 12
READ = MetadataRequest.fast_codec(VERSION).read
WRITE = MetadataRequest.fast_codec(VERSION).write

Reader = Callable[[bytes, int], tuple[MetadataRequest, int]]
Encoder = Callable[[MetadataRequest], bytes]


def with_reader(monkeypatch: pytest.MonkeyPatch, reader: Reader) -> None:
    monkeypatch.setattr(MetadataRequest, "_codecs", {VERSION: GeneratedCodec(reader, WRITE)})


def with_encoder(monkeypatch: pytest.MonkeyPatch, encoder: Encoder) -> None:
    monkeypatch.setattr(MetadataRequest, "_codecs", {VERSION: GeneratedCodec(READ, encoder)})


def test_right_codecs_pass() -> None:
    check_round_trip(REQUEST, VERSION)
    check_engines_agree(MetadataRequest, VERSION, REQUEST.encode(VERSION))
    check_engines_agree(MetadataRequest, VERSION, b"\xff")


def test_an_encoder_that_writes_other_bytes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    with_encoder(monkeypatch, lambda item: WRITE(without_unknown_tags(item)))
    with pytest.raises(AssertionError, match="the engines write different bytes"):
        check_round_trip(REQUEST, VERSION)


def test_a_reader_that_reads_something_else_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(buffer: bytes, at: int) -> tuple[MetadataRequest, int]:
        message, end = READ(buffer, at)
        return without_unknown_tags(message), end

    whole = REQUEST.encode(VERSION)
    with_reader(monkeypatch, forgetful)
    with pytest.raises(AssertionError, match=r"the generated code reads another message from"):
        check_round_trip(REQUEST, VERSION)
    with pytest.raises(AssertionError, match=r"the engines read .* differently"):
        check_engines_agree(MetadataRequest, VERSION, whole)


def test_a_reader_that_stops_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = REQUEST.encode(VERSION)
    with_reader(monkeypatch, lambda buffer, at: (READ(buffer, at)[0], len(buffer) - 1))
    with pytest.raises(AssertionError, match=r"the engines read .* differently"):
        check_engines_agree(MetadataRequest, VERSION, whole)


def test_a_reader_that_is_too_lax_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    with_reader(monkeypatch, lambda buffer, _: (MetadataRequest(), len(buffer)))
    with pytest.raises(
        AssertionError, match="the generated code reads what the reference refuses: MetadataRequest v12"
    ):
        check_engines_agree(MetadataRequest, VERSION, b"\xff")


def test_a_reader_that_is_too_strict_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(*_: object) -> tuple[MetadataRequest, int]:
        raise ValueError

    whole = REQUEST.encode(VERSION)
    with_reader(monkeypatch, strict)
    with pytest.raises(AssertionError, match="the generated code refuses what the reference reads"):
        check_engines_agree(MetadataRequest, VERSION, whole)


def test_a_reader_that_fails_in_another_way_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> tuple[MetadataRequest, int]:
        raise NameError("at")

    with_reader(monkeypatch, broken)
    with pytest.raises(NameError):
        check_engines_agree(MetadataRequest, VERSION, b"")


def quotas(value: float, *rest: float) -> DescribeClientQuotasResponse:
    cls = DescribeClientQuotasResponse
    values = tuple(cls.ValueData("consumer_byte_rate", each) for each in (value, *rest))
    return cls(entries=(cls.EntryData(values=values),))


def test_not_a_number_is_the_same_as_itself() -> None:
    assert same(quotas(math.nan, 1.0), quotas(math.nan, 1.0))
    assert not same(quotas(math.nan), quotas(1.0))
    assert not same(quotas(math.nan), quotas(math.nan, 1.0))
    assert not same(quotas(1.0), REQUEST)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.5])
def test_numbers_that_json_cannot_hold_are_held_to_the_other_laws(value: float) -> None:
    check_round_trip(quotas(value), 1)


@given(st.data())
def test_damage_is_done(data: st.DataObject) -> None:
    whole = REQUEST.encode(VERSION)
    made = data.draw(damaged(whole))
    assert isinstance(made, bytes)
    assert len(made) <= len(whole) + 5


def test_nothing_can_be_damaged_too() -> None:
    @given(damaged(b""))
    def law(made: bytes) -> None:
        assert len(made) <= 5

    law()
