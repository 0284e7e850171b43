"""Definitions and small changes of them, made to stand on both sides of every rule of Kafka's schema checker."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Final, cast

from tests.made.release_jars import Json

Change = Callable[[random.Random, Json], None]

_RANGES: Final = ("none", "0", "1", "2", "3", "4", "0-1", "0-2", "1-2", "1-3", "2-4", "0+", "1+", "2+", "3+", "5+")
_USUAL_RANGES: Final = ("0+",) * 12 + ("1+", "2+", "0-2", "1-3")
_FLEXIBLE: Final = ("none", "0+", "1+", "2+", "3+", "9+", "")
_PRIMITIVES: Final = ("bool", "int16", "int32", "int32", "int64", "string", "string", "bytes", "records", "uuid")
_DEFAULTS: Final = ("", "-1", -1, "0", 0, "null", None, False, "false", True, 1.5, "1.50", 1e3, "0x10", "Null", " ")
_NAMES: Final = ("Alpha", "Beta", "Gamma", "Delta", "epsilon", "Zeta", "eta", "Theta")
_STRUCTS: Final = ("Alpha", "Beta", "Inner", "Outer", "Common", "Other")
_COMMON_STRUCTS: Final = (*_STRUCTS * 3, "common")


def random_definition(dice: random.Random) -> Json:
    """A definition with fields and structs of all kinds; Kafka's parser refuses some of them."""
    made: Json = {
        "type": "data",
        "name": dice.choice(("Sample",) * 12 + ("Alpha", "sample")),
        "validVersions": dice.choice(("0-2", "1-3", "2-4", "0+") + ("0-3",) * 10 + ("0", "none")),
        "flexibleVersions": dice.choice(("0+",) * 8 + _FLEXIBLE),
        "fields": _fields(dice, 0),
    }
    if dice.random() < 0.4:
        made["commonStructs"] = [_common_struct(dice) for _ in range(dice.choice((1, 1, 2, 3)))]
    return made


def changed(dice: random.Random, definition: Json) -> Json:
    """A copy with one to three changes."""
    made = copy.deepcopy(definition)
    for _ in range(dice.choice((1, 1, 1, 1, 2, 3))):
        dice.choice(CHANGES)(dice, made)
    return made


def _common_struct(dice: random.Random) -> Json:
    return {"name": dice.choice(_COMMON_STRUCTS), "versions": "0+", "fields": _fields(dice, 1)}


def _fields(dice: random.Random, depth: int) -> list[Json]:
    names = dice.sample(_NAMES, dice.choice((0, 1, 2, 3, 4)) if depth else dice.choice((0, 1, 2, 3, 4, 5)))
    fields = [_field(dice, name, depth) for name in names]
    tagged = [field for field in fields if "tag" in field]
    for tag, field in enumerate(tagged):
        field["tag"] = tag
    return fields


def _field(dice: random.Random, name: str, depth: int) -> Json:
    made: Json = {"name": name, "versions": dice.choice(_USUAL_RANGES)}
    if dice.random() < 0.35:
        own_name = name[:1].upper() + name[1:] + dice.choice(("", "Data"))
        made["type"] = dice.choice(("[]", "[]", "")) + dice.choice((*_STRUCTS, *(own_name,) * 12))
        if dice.random() < 0.8 and depth < 3:
            made["fields"] = _fields(dice, depth + 1)
    else:
        made["type"] = dice.choice(("", "", "", "[]", " ")) + dice.choice(_PRIMITIVES)
    if dice.random() < 0.25:
        _set_nullable(dice, made)
    if dice.random() < 0.2:
        made["default"] = dice.choice(_DEFAULTS)
    if dice.random() < 0.15:
        _set_tag(dice, made)
    if made["type"] in {"string", "bytes"} and dice.random() < 0.15:
        made["flexibleVersions"] = dice.choice(("0+", "0+", *_FLEXIBLE))
    return made


def _set_nullable(dice: random.Random, field: Json) -> None:
    type_ = str(field["type"]).strip()
    if type_.startswith("[]") or type_[:1].isupper() or type_ in {"string", "bytes", "records"}:
        field["nullableVersions"] = dice.choice((*_USUAL_RANGES, *_RANGES))


def _set_own_flexible(dice: random.Random, field: Json) -> None:
    if field["type"] in {"string", "bytes"}:
        _set("flexibleVersions", (None, *_FLEXIBLE))(dice, field)


def _set_tag(dice: random.Random, field: Json) -> None:
    """Tags are numbered in `_fields`; of what is tagged later, most is refused by the parser, and some is not."""
    field |= {"tag": 0, "taggedVersions": dice.choice(("0+",) * 4 + ("1+", "2+", "3+", "9+")), "versions": "0+"}
    field.pop("nullableVersions", None)


def _any_fields(dice: random.Random, definition: Json) -> list[Json]:
    """The fields of some struct."""
    return dice.choice(list(_field_lists(definition)))


def _field_lists(owner: Json) -> Iterator[list[Json]]:
    fields = cast(list[Json], owner.setdefault("fields", [])) if "fields" in owner or "validVersions" in owner else []
    yield fields
    for inner in (*fields, *cast(list[Json], owner.get("commonStructs", []))):
        if "fields" in inner:
            yield from _field_lists(inner)


def _any_field(dice: random.Random, definition: Json) -> Json | None:
    fields = [field for fields in _field_lists(definition) for field in fields]
    return dice.choice(fields) if fields else None


def _on_a_field(change: Callable[[random.Random, Json], None]) -> Change:
    def on_a_field(dice: random.Random, definition: Json) -> None:
        field = _any_field(dice, definition)
        if field is not None:
            change(dice, field)

    return on_a_field


def _set(attribute: str, values: tuple[object, ...]) -> Change:
    """Give an attribute of the object some value; None takes it away."""

    def set_attribute(dice: random.Random, target: Json) -> None:
        value = dice.choice(values)
        if value is None:
            target.pop(attribute, None)
        else:
            target[attribute] = value

    return set_attribute


def _move_an_end(attribute: str) -> Change:
    """Move an end of a range by one, close it, open it."""

    def move(dice: random.Random, target: Json) -> None:
        text = str(target.get(attribute, "none"))
        low, dash, high = text.removesuffix("+").partition("-")
        if not low.isdigit() or (dash and not high.isdigit()):
            target[attribute] = dice.choice(_RANGES)
            return
        last = 32767 if text.endswith("+") else int(high or low)
        first, last = dice.choice(
            ((int(low) + 1, last), (int(low) - 1, last), (int(low), last + 1), (int(low), last - 1), (int(low), 32767),
             (int(low), int(low) + 2), (int(low), 3))
        )  # fmt: skip
        if 0 <= first <= last:
            target[attribute] = f"{first}+" if last >= 32767 else f"{first}-{last}"

    return move


def _add_field(dice: random.Random, definition: Json) -> None:
    fields = _any_fields(dice, definition)
    taken = {field["name"] for field in fields}
    free = [name for name in (*_NAMES, "Iota", "Kappa") if name not in taken]
    if not free:
        return
    field = _field(dice, dice.choice(free), 2)
    if "tag" in field:
        field["tag"] = sum("tag" in other for other in fields)
    fields.insert(dice.randint(0, len(fields)), field)


def _remove_field(dice: random.Random, definition: Json) -> None:
    fields = _any_fields(dice, definition)
    if fields:
        fields.pop(dice.randrange(len(fields)))


def _swap_fields(dice: random.Random, definition: Json) -> None:
    fields = _any_fields(dice, definition)
    if len(fields) > 1:
        one, other = dice.sample(range(len(fields)), 2)
        fields[one], fields[other] = fields[other], fields[one]


def _add_common_struct(dice: random.Random, definition: Json) -> None:
    cast(list[Json], definition.setdefault("commonStructs", [])).append(_common_struct(dice))


def _remove_common_struct(dice: random.Random, definition: Json) -> None:
    structs = cast(list[Json], definition.get("commonStructs", []))
    if structs:
        structs.pop(dice.randrange(len(structs)))


def _without_fields(_: random.Random, definition: Json) -> None:
    definition["fields"] = []


CHANGES: Final[tuple[Change, ...]] = (
    _set("apiKey", (None, 1, 2)),
    _set("type", ("data", "header", "metadata", "request", "response")),
    _set("name", ("Sample", "sample", "Other")),
    _set("flexibleVersions", _FLEXIBLE),
    _set("validVersions", ("none", "0", "0-1", "0-2", "1-3", "0-3", "0-4", "2-4", "4-5", "0+", "0-32767")),
    _move_an_end("validVersions"),
    _on_a_field(_set("versions", _RANGES)),
    *(_on_a_field(_move_an_end("versions")),) * 3,
    *(_on_a_field(_set_nullable),) * 2,
    _on_a_field(_move_an_end("nullableVersions")),
    _on_a_field(_set("nullableVersions", (None,))),
    _on_a_field(_set_tag),
    _on_a_field(_move_an_end("taggedVersions")),
    *(_on_a_field(_set_own_flexible),) * 2,
    *(_on_a_field(_set("default", _DEFAULTS)),) * 2,
    _on_a_field(_set("type", (*_PRIMITIVES, "[]int32", "[]string", *_STRUCTS, "[]Inner", "[]Common"))),
    _on_a_field(_set("name", (*_NAMES, "Inner", "Common"))),
    _on_a_field(_set("mapKey", (True,))),
    _on_a_field(_set("ignorable", (True, "false"))),
    *(_add_field,) * 3,
    *(_remove_field,) * 3,
    _swap_fields,
    _add_common_struct,
    _remove_common_struct,
    _without_fields,
)
