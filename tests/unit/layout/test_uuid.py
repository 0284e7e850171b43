"""Kafka's uuids: sixteen bytes whose text is URL-safe base64 (wire-uuid, json-uuid, json-read-uuid)."""

from __future__ import annotations

import copy
import pickle
import uuid

import pytest
from hypothesis import given, strategies as st

from kafkawire.layout import Uuid

EXAMPLE = uuid.UUID("1f728a38-ee13-4cf6-825a-d1269b7bd6ec").bytes


def test_json_uuid() -> None:
    assert str(Uuid(EXAMPLE)) == "H3KKOO4TTPaCWtEmm3vW7A"
    assert str(Uuid()) == "A" * 22
    assert repr(Uuid(EXAMPLE)) == "Uuid.from_text('H3KKOO4TTPaCWtEmm3vW7A')"
    assert eval(repr(Uuid(EXAMPLE)), {"Uuid": Uuid}) == EXAMPLE  # noqa: S307 what a repr is for


@given(st.binary(min_size=16, max_size=16))
def test_text_round_trip(octets: bytes) -> None:
    text = str(Uuid(octets))
    assert len(text) == 22
    assert Uuid.from_text(text) == Uuid.from_text(text + "==") == octets


@pytest.mark.parametrize("text", ["H3KKOO4TTPaCWtEmm3vW7A", "H3KKOO4TTPaCWtEmm3vW7A==", "H3KKOO4TTPaCWtEmm3vW7B"])
def test_json_read_uuid_takes_all_of_the_padding_or_none_and_ignores_unused_bits(text: str) -> None:
    assert Uuid.from_text(text) == EXAMPLE
    assert type(Uuid.from_text(text)) is Uuid


@pytest.mark.parametrize(
    "text",
    [
        "", "abc", "A" * 21, "A" * 23, "A" * 24, "A" * 22 + "=", "A" * 21 + "=", "A" * 20 + "====", "=" * 24,
        "H3KKOO4TTPaCWtEmm3vW+/", "H3KKOO4TTPaCWtEmm3vW7 ", " H3KKOO4TTPaCWtEmm3vW7", "H3KKOO4TTPaCWtEmm3vW7\n",
        "1f728a38-ee13-4cf6-825a-d1269b7bd6ec", "é" * 22, "٣" * 22, "A" * 1000,
    ],
)  # fmt: skip
def test_json_read_uuid_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a uuid in Kafka's base64 form") as caught:
        Uuid.from_text(text)
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize("octets", [b"", bytes(15), bytes(17)])
def test_a_uuid_has_sixteen_bytes(octets: bytes) -> None:
    with pytest.raises(ValueError, match=f"a uuid has 16 bytes, not {len(octets)}"):
        Uuid(octets)


def test_it_is_made_of_the_uuid_of_the_standard_library() -> None:
    assert Uuid(uuid.UUID(bytes=EXAMPLE)) == EXAMPLE


def test_text_is_read_by_from_text() -> None:
    with pytest.raises(TypeError, match=r"expected 16 bytes or a uuid.UUID, not str; Uuid.from_text reads text"):
        Uuid("H3KKOO4TTPaCWtEmm3vW7A")  # type: ignore[arg-type]


def test_a_uuid_equals_its_bytes() -> None:
    assert Uuid(EXAMPLE) == EXAMPLE
    assert hash(Uuid(EXAMPLE)) == hash(EXAMPLE)
    assert Uuid() == bytes(16)
    assert {EXAMPLE: 1}[Uuid(EXAMPLE)] == 1
    assert sorted([Uuid(EXAMPLE), Uuid()]) == [Uuid(), Uuid(EXAMPLE)]


def test_copies_are_uuids() -> None:
    original = Uuid(EXAMPLE)
    for made in (copy.copy(original), copy.deepcopy(original), pickle.loads(pickle.dumps(original))):  # noqa: S301 ours
        assert made == original
        assert type(made) is Uuid


def test_a_uuid_has_no_room_for_attributes() -> None:
    with pytest.raises(AttributeError):
        Uuid().name = "x"  # type: ignore[attr-defined]


def test_random_ids_are_of_version_4_and_never_look_like_an_option() -> None:
    made = [Uuid.random() for _ in range(300)]
    assert len(set(made)) == len(made)
    assert {uuid.UUID(bytes=bytes(each)).version for each in made} == {4}
    assert not any(str(each).startswith("-") for each in made)
