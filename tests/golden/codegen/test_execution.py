"""What generated classes do: byte examples worked out by hand, and the laws, on definitions of every odd shape."""

from __future__ import annotations

import importlib
import math
from types import ModuleType
from typing import Any

import pytest
from hypothesis import Phase, find, settings
from tests.golden.codegen.conftest import GoldenPackage
from tests.made.packages import check_laws, classes_of

from kafkawire.codegen.naming import module_name
from kafkawire.layout import Uuid
from kafkawire.wire import DecodeError, EncodeError, Message


@pytest.fixture(scope="module")
def messages(golden: GoldenPackage) -> ModuleType:
    """The package; its classes are known at run time only."""
    return golden.module


@pytest.mark.parametrize(
    ("version", "fields", "octets"),
    [
        (0, {}, "ff 0001 61 00000001"),
        (1, {"d": None}, "ff 01 02 61 00000001 00 01 01 01 00"),
        (1, {"d": ("b", 2)}, "ff 01 02 61 00000001 00 01 01 08 01 02 62 00000002 00"),
        (1, {}, "ff 01 02 61 00000001 00 00"),
        (1, {"c": ("", 0), "d": None}, "ff 01 02 61 00000001 00 02 00 07 01 01 00000000 00 01 01 00"),
    ],
)
def test_nullable_structs_of_section_6_5(
    messages: ModuleType, version: int, fields: dict[str, Any], octets: str
) -> None:
    cls = messages.NullableStructMessage
    pairs = {name: value and cls.Pair(*value) for name, value in fields.items()}
    message = cls(None, cls.Pair("a", 1), **pairs)
    assert message.encode(version) == bytes.fromhex(octets)
    assert cls.decode(bytes.fromhex(octets), version) == message


def test_laws_of_every_message(golden: GoldenPackage) -> None:
    assert check_laws(classes_of(golden.module)) > 500


def test_value_new_object(messages: ModuleType) -> None:
    made = messages.EveryType()
    assert math.isnan(made.unknown)
    assert {name: getattr(made, name) for name in made.__struct_fields__ if name != "unknown"} == {
        "flag": True, "tiny": -128, "small": 32767, "port": 65535, "wait_ms": -(2**31), "size_bytes": 2**32 - 1,
        "producer_id": -(2**63), "id": Uuid.from_text("H3KKOO4TTPaCWtEmm3vW7A"), "ratio": -1500.0,
        "name": "it's \"quoted\" \\ and\nbroken", "reason": None, "topic": "all", "key": b"", "value": None,
        "trailer": b"", "batch": None, "old_batch": None, "client_id": "", "only_old": 7, "only_new": True,
        "unknown_tagged_fields": (),
    }  # fmt: skip
    assert type(made.id) is Uuid


EVERY_TYPE = {"name": "n", "reason": "r", "topic": "t", "key": b"k", "value": b"v", "batch": b"bb", "only_new": False}
FIXED_WIDTH = (
    "01 80 7fff ffff 80000000 ffffffff 8000000000000000 1f728a38ee134cf6825ad1269b7bd6ec c097700000000000 "
    "7ff8000000000000"
)


@pytest.mark.parametrize(
    ("version", "rest"),
    [
        (2, "0001 6e 0001 72 0001 74 00000001 6b 00000001 76 00000000 00000002 6262 ffffffff 0000 00000007"),
        (3, "02 6e 02 72 02 74 02 6b 02 76 01 03 6262 00 0000 00 00"),
    ],
)
def test_wire_form_of_every_type(messages: ModuleType, version: int, rest: str) -> None:
    message = messages.EveryType(**EVERY_TYPE)
    octets = bytes.fromhex(FIXED_WIDTH + rest)
    assert message.encode(version) == octets
    read = messages.EveryType.decode(octets, version)
    assert (read.topic, read.client_id, read.only_old) == ("t", "", 7)
    assert read.only_new is (version == 2), "the default where the version lacks the field, else what was written"


def test_null_encode_refused_by_version(messages: ModuleType) -> None:
    message = messages.EveryType(**EVERY_TYPE | {"topic": None})
    assert messages.EveryType.decode(message.encode(3), 3).topic is None
    with pytest.raises(EncodeError, match=r"^EveryType v2: topic: null is not allowed here$"):
        message.encode(2)
    with pytest.raises(EncodeError, match=r"^EveryType v3: batch: null is not allowed here$"):
        messages.EveryType().encode(3)


def test_field_flexible_override_keeps_the_plain_length(messages: ModuleType) -> None:
    with_client = messages.EveryType(**EVERY_TYPE | {"client_id": "kw"}).encode(3)
    assert with_client.endswith(bytes.fromhex("0002 6b77 00 00"))
    without = messages.EveryType(**EVERY_TYPE | {"client_id": None}).encode(3)
    assert without.endswith(bytes.fromhex("ffff 00 00"))


ARRAYS = {
    "flags": (True, False), "tinies": (-1,), "smalls": (-2, 3), "ports": (65535,), "broker_ids": (1,),
    "sizes": (2**32 - 1,), "offsets": (-1,), "ids": (Uuid(b"\1" * 16),), "ratios": (1.5,), "names": ("a", ""),
    "keys": (b"k",),
}  # fmt: skip


def test_wire_form_of_arrays_of_every_type(messages: ModuleType) -> None:
    cls = messages.EveryArray
    message = cls(**ARRAYS, numbers=(cls.Number(5),), pairs=None)
    plain = (
        "00000002 0100 00000001 ff 00000002 fffe0003 00000001 ffff 00000001 00000001 00000001 ffffffff "
        "00000001 ffffffffffffffff 00000001" + "01" * 16 + "00000001 3ff8000000000000 00000002 0001 61 0000 "
        "00000001 00000001 6b 00000001 00000005 ffffffff"
    )
    compact = (
        "03 0100 02 ff 03 fffe0003 02 ffff 02 00000001 02 ffffffff 02 ffffffffffffffff 02" + "01" * 16 + "02 "
        "3ff8000000000000 03 02 61 01 02 02 6b 02 00000005 00 00 00"
    )
    for version, octets in enumerate((plain, compact)):
        assert message.encode(version) == bytes.fromhex(octets)
        assert cls.decode(bytes.fromhex(octets), version) == message


def test_an_array_of_one_number_structs_is_an_array_of_numbers_where_nothing_is_flexible(messages: ModuleType) -> None:
    cls = messages.EveryArray
    numbers = cls(numbers=tuple(map(cls.Number, range(70))), pairs=()).encode(0)
    assert numbers == cls(pairs=()).encode(0)[:-8] + (70).to_bytes(4) + b"".join(
        n.to_bytes(4) for n in range(70)
    ) + bytes(4)


def test_structs_without_fields_take_their_section_only(messages: ModuleType) -> None:
    cls = messages.EveryArray
    pair = cls.Pair("l", (cls.Right(), cls.Right(cls.Empty(unknown_tagged_fields=((9, b"x"),)))))
    encoded = cls(pairs=(pair,)).encode(1)
    assert encoded.endswith(bytes.fromhex("02 02 6c 03 00 00 01 09 01 78 00 00 00"))
    assert cls.decode(encoded, 1).pairs == (pair,)
    assert cls.decode(cls(pairs=(pair,)).encode(0), 0).pairs == (cls.Pair("l"),), "ignorable: dropped in version 0"


def test_tagged_omit_default_and_tagged_null(messages: ModuleType) -> None:
    cls = messages.EveryTag
    assert cls().encode(2) == b"\0"
    assert cls(flag=True, set=False).encode(2) == bytes.fromhex("02 00 01 00 0b 01 01")
    assert cls(epoch=5, name="", reason=None).encode(2) == bytes.fromhex("03 01 04 00000005 04 01 01 05 01 00")
    assert cls(isr=(), names=None, value=b"", key=b"").encode(2) == bytes.fromhex("03 07 01 01 08 01 01 09 01 00")
    node = cls.Node()
    assert cls(old=node, leader=cls.Node(port=1)).encode(2) == bytes.fromhex("02 0c 04 01 0001 00 0d 05 01 01 2384 00")


def test_value_equals_default_also_for_minus_zero_and_empty_lists(
    messages: ModuleType,
) -> None:
    cls = messages.EveryTag
    assert cls(ratio=-0.0, names=[], nodes=[], id=bytes(16)).encode(2) == b"\0"
    assert cls(ratio=math.nan).encode(2) == bytes.fromhex("01 02 08 7ff8000000000000")


def test_encode_tagged_any_version(messages: ModuleType) -> None:
    cls = messages.EveryTag
    assert cls().encode(0) == b""
    in_line = "01 05 03 00000001 00000002 01 01 2384 00 00"
    message = cls(flag=True, name="none", isr=(1, 2))
    assert message.encode(1) == bytes.fromhex("01 05 6e6f6e65 03 00000001 00000002 01 01 2384 00 00"), in_line
    assert cls.decode(message.encode(1), 1) == message
    assert cls(ratio=1.0).encode(0) == b"", "ignorable"
    for field, value in {"flag": True, "epoch": 0, "name": "", "isr": (), "leader": cls.Node("h")}.items():
        with pytest.raises(EncodeError, match=rf"^EveryTag v0: {field}: is set, but version 0 has no such field"):
            cls(**{field: value}).encode(0)


def test_tagged_fields_in_line_in_an_earlier_version_are_not_known_as_tags_there(messages: ModuleType) -> None:
    cls = messages.EveryTag
    octets = cls(isr=(), name="").encode(1)[:-1] + bytes.fromhex("01 0b 01 01")
    read = cls.decode(octets, 1)
    assert (read.flag, read.unknown_tagged_fields) == (False, ((11, b"\1"),))
    assert read.encode(1) == octets


def test_tagged_read_size_is_exact(messages: ModuleType) -> None:
    with pytest.raises(DecodeError, match="epoch at byte 3: the value takes 4 of the 5 bytes of its tagged field"):
        messages.EveryTag.decode(bytes.fromhex("01 01 05 00000005 00"), 2)
    with pytest.raises(DecodeError, match="epoch at byte 3: needs 4 bytes, 3 are left in the tagged field"):
        messages.EveryTag.decode(bytes.fromhex("01 01 03 000005 00"), 2)


def test_messages_without_fields(messages: ModuleType) -> None:
    assert messages.Nothing().encode(0) == b""
    assert messages.Nothing().encode(1) == b"\0"
    assert messages.Nothing.decode(b"\1\x05\0", 1) == messages.Nothing(((5, b""),))
    assert repr(messages.Nothing()) == "Nothing()"


def test_names_that_python_or_the_classes_need(messages: ModuleType) -> None:
    cls = messages.Class
    assert cls.__struct_fields__ == (
        "class_", "sequence", "first_raft", "second_raft", "encode_", "n", "at", "kraft", "kraft_", "at_items",
        "text", "text_raw", "payload", "tags", "type", "len", "unknown_tagged_fields_", "unknown_tagged_fields",
    )  # fmt: skip
    assert (cls.Class_.__name__, cls.Sequence_.__name__, cls.KRaft, cls.Kraft) == (
        "Class_", "Sequence_", type(cls().first_raft), type(cls().second_raft),
    )  # fmt: skip
    made = cls(at=("a",), at_items=("b",), text=None, text_raw="raw", kraft="k", kraft_=("x",), type="t", len=3)
    for version in cls.VERSIONS:
        assert cls.decode(made.encode(version), version) == made


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ClassifyRequest", (18, range(4), range(2, 4), range(3, 4))),
        # The mark of an unstable request holds for the pair.
        ("ClassifyResponse", (18, range(4), range(2, 4), range(3, 4))),
        ("GroupValue", (3, range(1, 3), range(2, 3), range(0))),
        ("EveryType", (None, range(2, 4), range(3, 4), range(0))),
        ("Documented", (None, range(4), range(0), range(0))),
    ],
)
def test_class_attributes(messages: ModuleType, name: str, expected: tuple[object, ...]) -> None:
    cls: type[Message] = messages.message_class(name)
    assert name == cls.NAME
    assert expected == (cls.API_KEY, cls.VERSIONS, cls.FLEXIBLE_VERSIONS, cls.UNSTABLE_VERSIONS)


def test_retired_messages_have_no_class(messages: ModuleType) -> None:
    assert "RetiredRequest" not in messages.MESSAGE_NAMES
    with pytest.raises(AttributeError, match="no attribute 'RetiredRequest'"):
        _ = messages.RetiredRequest
    with pytest.raises(KeyError):
        messages.message_class("RetiredRequest")


def test_strategies_draw_values_of_their_message(golden: GoldenPackage) -> None:
    strategies = importlib.import_module(f"{golden.module.__name__}.strategies")
    for name in golden.module.MESSAGE_NAMES:
        draw = getattr(strategies, module_name(name))
        cls = golden.module.message_class(name)
        drawn = find(draw(cls.VERSIONS[0]), lambda _: True, settings=settings(phases=[Phase.generate]))
        assert type(drawn) is cls


def test_tables_of_a_package(golden: GoldenPackage) -> None:
    apis, codes, registries = (
        importlib.import_module(f"{golden.module.__name__}.{name}")
        for name in ("api_table", "error_codes", "record_registries")
    )
    api = apis.APIS[18]
    assert (api.name, api.stable_versions) == ("Classify", range(3))
    assert golden.module.message_class(api.request).HEADER_VERSIONS == {0: 1, 1: 1, 2: 2, 3: 2}
    assert [(code.value, code.retriable, code.invalid_metadata) for code in codes.ErrorCode] == [
        (0, False, False), (5, True, True), (7, True, False),
    ]  # fmt: skip
    errors = importlib.import_module(f"{golden.module.__name__}.errors")
    assert [(e.code, e.__name__, e.retriable, e.invalid_metadata) for e in errors.ERRORS.values()] == [
        (5, "NotLeaderError", True, True), (7, "TimedOutError", True, False),
    ]  # fmt: skip
    record = registries.MADE_UP_COORDINATOR_RECORDS[3]
    assert (record.key, record.value, record.key_version) == ("GroupKey", "GroupValue", 0)
    assert registries.MADE_UP_RECORDS == {5: "NoteRecord", 6: "MixedRecord"}


def test_docstrings_keep_the_words_of_the_definition(messages: ModuleType) -> None:
    doc = messages.Documented.__doc__
    assert isinstance(doc, str)
    text = " ".join(doc.split())
    assert "quotes: Says \"yes\" or '''no''', as in 'maybe'; ends in a \"quote\". Type string; versions 0+." in text
    assert r"backslash: Matches \d+\.\N{x} and \u0041\. Type string; versions 0+; default \d." in text
    assert "\0" not in doc
    assert "\x1b" not in doc
    assert "Größe in Metern, 東京, \U0001f600. Type int32; versions 0-1." in text
    assert "segment_bytes: int32; bytes; versions 2+." in text
    lines = [line.strip() for line in doc.splitlines()]
    assert "Type int32; versions 0-1." in lines, "the facts have a line of their own"


def test_a_message_knows_its_layouts(messages: ModuleType) -> None:
    cls: type[Message] = messages.EveryTag
    layouts = cls.layouts()
    assert list(layouts.by_version) == [0, 1, 2]
    assert [field.presence for field in layouts.of_version(1).fields][:3] == ["inline", "absent", "absent"]
    assert [field.tag for field in layouts.of_version(2).tagged] == list(range(14))
