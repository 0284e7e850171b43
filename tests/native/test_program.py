"""Programs that the native engine refuses when it gets them, so that it can trust them when it runs them."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import cast

import msgspec
import pytest

from kafkawire.layout import FIELD_TYPES, FieldLayout, StructLayout, integer
from kafkawire.protocol import DescribeAclsResponse, FetchResponse, MetadataResponse, UpdateFeaturesRequest
from kafkawire.wire.programs import FORM, FieldProgram, StructProgram, program_of

native = pytest.importorskip("kafkawire._native", reason="the native engine is not built here")

REFUSALS = (ValueError, TypeError, OverflowError)
"""What the engine raises for a program that it cannot run."""


class Pair(msgspec.Struct, frozen=True, gc=False):
    number: int = 0
    text: str = ""
    unknown_tagged_fields: tuple[tuple[int, bytes], ...] = ()


NUMBER = FieldProgram("number", 0, 0, "i", "i", False, False, False, False, 0, 0, 0, None)
TEXT = FieldProgram("text", 1, 0, "s", "h", False, False, True, False, 0, 0x7FFF, "", None)
PAIR = StructProgram(Pair, True, (NUMBER, TEXT))


def test_the_form_of_programs_is_that_of_the_engine() -> None:
    assert native.FORM == FORM


def test_a_program_reads_and_writes() -> None:
    codec = native.Codec(PAIR)
    octets = codec.write(Pair(7, "seven"))
    assert octets.hex(" ") == "00 00 00 07 01 00 06 06 73 65 76 65 6e"
    assert codec.read(b"?" + octets, 1) == (Pair(7, "seven"), 1 + len(octets))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"code": "x"}, "a field of an unknown type"),
        ({"code": "é"}, "a field of an unknown type"),
        ({"code": "s", "length_code": "q"}, "a length of an unknown type"),
        ({"code": "S"}, "a struct without fields"),
        ({"child": PAIR}, "a struct without fields"),
        ({"presence": 3}, "a field"),
        ({"marker": 1}, "a marker of null"),
        ({"marker": 3}, "a field"),
        ({"longest": 2**31}, "a limit"),
        ({"tag": 2**31 - 1}, "a limit"),
        ({"attribute": "numbers"}, "class: a field has no slot"),
        ({"attribute": "text"}, "class: a field comes twice"),
        ({"presence": 2}, "fields are in another order"),
    ],
)
def test_a_broken_field_is_refused(change: dict[str, object], reason: str) -> None:
    broken = PAIR._replace(fields=(NUMBER._replace(**change), TEXT))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"^(layout: )?{reason}$"):
        native.Codec(broken)


def test_a_program_leaves_no_field_out() -> None:
    with pytest.raises(ValueError, match="its objects have another form"):
        native.Codec(PAIR._replace(fields=(NUMBER,)))


@pytest.mark.parametrize("tag", [0, 1])
def test_tags_ascend(tag: int) -> None:
    first = NUMBER._replace(presence=1, tag=1)
    with pytest.raises(ValueError, match="tags do not ascend"):
        native.Codec(PAIR._replace(fields=(first, TEXT._replace(tag=tag))))


def test_only_flexible_versions_have_tags() -> None:
    with pytest.raises(ValueError, match="tagged fields"):
        native.Codec(PAIR._replace(flexible=False))


def test_classes_that_the_collector_follows_are_refused() -> None:
    fields = [("number", int, 0), ("text", str, ""), ("unknown_tagged_fields", tuple, ())]
    with pytest.raises(ValueError, match="the collector follows its objects"):
        native.Codec(PAIR._replace(cls=msgspec.defstruct("Followed", fields)))


def test_a_class_that_is_no_struct_is_refused() -> None:
    for cls in (int, dict, type("Plain", (), {"__slots__": ("number", "text", "unknown_tagged_fields")})):
        with pytest.raises(REFUSALS):
            native.Codec(PAIR._replace(cls=cls))


def test_a_program_as_deep_as_no_message_is_refused() -> None:
    nested = PAIR
    for _ in range(40):
        child = NUMBER._replace(code="S", child=nested)
        nested = PAIR._replace(fields=(child, TEXT))
    with pytest.raises(ValueError, match="too deep"):
        native.Codec(nested)


def test_types_that_the_engine_does_not_know_have_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FIELD_TYPES, "int128", integer("int128", 16))
    layout = StructLayout("Pair", (FieldLayout("Number", "number", "int128"),), flexible=False)
    with pytest.raises(ValueError, match="the native engine cannot read or write int128"):
        program_of(Pair, layout)


def test_arguments_of_other_types_are_refused() -> None:
    codec = native.Codec(PAIR)
    for arguments in ((), (b"",), (bytearray(9), 0), ("a", 0), (b"a", "0"), (b"a", 0, 0)):
        with pytest.raises(TypeError):
            codec.read(*arguments)
    for at in (-1, 2, 2**40, -(2**40)):
        with pytest.raises(ValueError, match=r"^$"):
            codec.read(b"a", at)
    with pytest.raises(REFUSALS):
        native.Codec()
    with pytest.raises(TypeError):
        native.Codec(program=PAIR)


def damaged(value: object, chance: random.Random) -> object:
    """A program in which one thing is another."""
    if isinstance(value, tuple) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        parts = list(value)
        parts[at] = damaged(value[at], chance)
        if chance.random() < 0.1:
            parts.insert(at, parts[chance.randrange(len(parts))])
        if chance.random() < 0.05:
            del parts[at]
        return tuple(parts)
    return chance.choice(
        (0, 1, 2, 3, -1, 63, 64, 2**31, 2**32, 2**64, True, None, "", "i", "q", "s", "u", "S", "o", "h", "error_code",
         "unknown_tagged_fields", b"", (), int, tuple, type(value), MetadataResponse, Pair, PAIR, (PAIR,), PAIR.fields)
    )  # fmt: skip


def programs() -> Iterator[StructProgram]:
    for cls, version in (
        (MetadataResponse, 12),
        (FetchResponse, 17),
        (UpdateFeaturesRequest, 1),
        (DescribeAclsResponse, 3),
    ):
        yield program_of(cls, cls.layouts().of_version(version))


def test_a_damaged_program_is_refused_or_does_no_harm() -> None:
    """What it reads may be nonsense; it reads no other memory, as the sanitizers show."""
    chance = random.Random(18)
    kept = [(program, [chance.randbytes(chance.randrange(300)) for _ in range(3)]) for program in programs()]
    accepted = 0
    for _ in range(4000):
        program, buffers = chance.choice(kept)
        try:
            codec = native.Codec(cast(StructProgram, damaged(program, chance)))
        except REFUSALS:
            continue
        accepted += 1
        for octets in (*buffers, bytes(200)):
            with suppress(ValueError):
                message, _ = codec.read(octets, 0)
                with suppress(*REFUSALS, AttributeError):
                    codec.write(message)
    assert 100 < accepted < 3900


def test_a_codec_does_not_keep_a_class_alive() -> None:
    fields = [("number", int, 0), ("text", str, ""), ("unknown_tagged_fields", tuple, ())]
    cls = msgspec.defstruct("Short", fields, frozen=True, gc=False)
    cls.codec = native.Codec(PAIR._replace(cls=cls))  # type: ignore[attr-defined]
    alive = weakref.ref(cls)
    del cls
    gc.collect()
    assert alive() is None
