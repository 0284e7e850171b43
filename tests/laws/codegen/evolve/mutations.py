"""One change of the text of a definition: what somebody who edits the file may do."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import cast

from hypothesis import strategies as st
from tests.laws.codegen.definition_strategies import Json

HIGHEST = 3
Object = dict[str, Json]

ranges = st.sampled_from(["0+", "1+", "2+", "0-1", "1-2", "0-3", "3", "none"])
open_ranges = st.sampled_from(["0+", "1+", "2+", "3+", "none"])
types = st.sampled_from(["int8", "int32", "uuid", "string", "bytes", "[]int8", "[]string"])
numbers = st.integers(0, 2)

OF_FIELDS: dict[str, st.SearchStrategy[Json]] = {
    "name": st.sampled_from(["F", "G", "Other"]),
    "type": types,
    "versions": ranges,
    "nullableVersions": ranges,
    "tag": numbers,
    "taggedVersions": open_ranges,
    "flexibleVersions": st.sampled_from(["none", "2+"]),
    "default": st.sampled_from(["", "0", "1", "null", "0x1"]),
    "ignorable": st.booleans(),
    "mapKey": st.booleans(),
    "entityType": st.sampled_from(["unknown", "topicName", "brokerId"]),
    "about": st.text(max_size=3),
    "zeroCopy": st.booleans(),
}
OF_MESSAGES: dict[str, st.SearchStrategy[Json]] = {
    "name": st.sampled_from(["ARequest", "BRequest"]),
    "apiKey": numbers,
    "validVersions": st.sampled_from(["0-3", "0-4", "1-3", "2", "none"]),
    "flexibleVersions": open_ranges,
    "deprecatedVersions": ranges,
    "listeners": st.lists(st.sampled_from(["broker", "controller"]), max_size=2, unique=True),
    "latestVersionUnstable": st.booleans(),
    "headerVersions": st.sampled_from([{"0+": 1}, {"0": 1, "1+": 1}]),
}


NULLABLE = ("string", "bytes", "[]int8", "[]string")
DEFAULTS: dict[str, list[Json]] = {"int8": [0, 1, "0x1"], "int32": [0, -1], "string": ["", "a"]}
ENTITIES = {"int32": "brokerId", "string": "topicName"}


@st.composite
def definitions(draw: st.DrawFn) -> Object:
    """A request of versions 0 to 3; some of its structs are common ones."""
    names = iter(f"F{number}" for number in range(99))
    flexible = draw(open_ranges)

    def fields(depth: int, kinds: list[str]) -> list[Json]:
        tags = iter(range(3))
        made: list[Json] = []
        for _ in range(draw(st.integers(1, 3))):
            name, kind = next(names), draw(st.sampled_from(kinds))
            if kind == "plain":
                made.append(_field(draw, name, draw(types), flexible))
            elif kind == "tagged":
                made.append(_field(draw, name, draw(types), flexible, tag=next(tags)))
            else:
                struct = "Shared" if kind == "Shared" else f"S{name}"
                holder = _field(draw, name, draw(st.sampled_from(["", "[]"])) + struct, flexible)
                inner = [one for one in kinds if one != "struct" or depth == 0]
                made.append(holder | ({"fields": fields(depth + 1, inner)} if kind == "struct" else {}))
        return made

    simple = ["plain", "plain", *(["tagged"] if flexible != "none" else [])]
    common: list[Json] = []
    if draw(st.booleans()):
        common.append({"name": "Shared", "versions": "0+", "fields": fields(1, simple)})
    top = fields(0, [*simple, "struct", *(["Shared"] if common else [])])
    return {
        "type": "request", "name": "ARequest", "apiKey": 1, "validVersions": f"0-{HIGHEST}",
        "flexibleVersions": flexible, "commonStructs": common, "fields": top,
    }  # fmt: skip


def _field(draw: st.DrawFn, name: str, type_: str, flexible: str, *, tag: int | None = None) -> Object:
    """A field with attributes that its type may have."""
    made: Object = {"name": name, "type": type_, "versions": draw(ranges)}
    if tag is not None:
        made |= {"versions": "0+", "tag": tag, "taggedVersions": flexible}
    elif type_ in NULLABLE and draw(st.booleans()):
        made |= draw(
            st.sampled_from(
                [{"nullableVersions": made["versions"]}, {"nullableVersions": made["versions"], "default": "null"}]
            )
        )
    if type_ in DEFAULTS and draw(st.booleans()):
        made["default"] = draw(st.sampled_from(DEFAULTS[type_]))
    if type_ in ENTITIES and draw(st.booleans()):
        made["entityType"] = ENTITIES[type_]
    if draw(st.integers(0, 4)) == 0:
        made["ignorable"] = draw(st.booleans())
    return made


@st.composite
def mutations(draw: st.DrawFn, definition: Object) -> Object:
    """The definition after one change: of an attribute, or of fields that come, go, or change places."""
    made = copy.deepcopy(definition)
    lists = list(_field_lists(made))
    fields = draw(st.sampled_from(lists))
    match draw(st.sampled_from(["message", "field", "field", "field", "add", "remove", "move", "struct"])):
        case "message":
            _set(draw, made, OF_MESSAGES)
        case "add":
            fields.insert(draw(st.integers(0, len(fields))), _field(draw, "Fresh", draw(types), "none"))
        case "remove" if fields:
            fields.pop(draw(st.integers(0, len(fields) - 1)))
        case "move" if len(fields) > 1:
            fields.insert(draw(st.integers(0, len(fields) - 1)), fields.pop())
        case "struct":
            _rename_a_struct(draw, made)
        case _ if fields:
            _set(draw, draw(st.sampled_from(fields)), OF_FIELDS)
        case _:
            pass
    return made


@st.composite
def rearrangements(draw: st.DrawFn, definition: Object) -> Object:
    """The definition after one change of names or nesting that may well leave the bytes as they are."""
    made = copy.deepcopy(definition)
    lists = [fields for fields in _field_lists(made) if fields]
    if not lists:
        return made
    fields = draw(st.sampled_from(lists))
    at = draw(st.integers(0, len(fields) - 1))
    one = fields[at]
    match draw(st.sampled_from(["rename", "hand over", "swap", "wrap", "unwrap"])):
        case "rename":
            one["name"] = draw(st.sampled_from(["Fresh", "Other"]))
        case "hand over":
            _hand_over(draw, fields, at)
        case "swap" if len(fields) > 1:
            other = fields[at - 1]
            one["name"], other["name"] = other["name"], one["name"]
        case "wrap":
            inner = {key: value for key, value in one.items() if key not in ("tag", "taggedVersions", "mapKey")}
            fields[at] = {"name": "Whole", "type": "Wrapped", "versions": one["versions"], "fields": [inner]}
        case "unwrap" if "fields" in one:
            fields[at : at + 1] = cast(list[Object], one["fields"])
        case _:
            pass
    return made


def _hand_over(draw: st.DrawFn, fields: list[Object], at: int) -> None:
    """A field gets another name for its first versions, and its name passes to a field of the later ones."""
    before = fields[at]
    first = draw(st.integers(1, HIGHEST + 1))
    after = {**before, "versions": f"{first}+"} | draw(
        st.sampled_from([{}, {"type": "uuid", "default": None, "nullableVersions": None, "entityType": None}])
    )
    if "fields" in before:
        after = {"name": before["name"], "type": "uuid", "versions": f"{first}+"}
    fields[at] = {**before, "name": "Legacy", "versions": f"0-{first - 1}"}
    fields.insert(draw(st.integers(0, len(fields))), after)


def _set(draw: st.DrawFn, made: Object, attributes: dict[str, st.SearchStrategy[Json]]) -> None:
    name = draw(st.sampled_from(sorted(attributes)))
    made[name] = draw(attributes[name])


def _rename_a_struct(draw: st.DrawFn, made: Object) -> None:
    structs = [field for fields in _field_lists(made) for field in fields if "fields" in field]
    for field in structs[:1]:
        field["type"] = f"{'[]' if draw(st.booleans()) else ''}Renamed"


def _field_lists(made: Object) -> Iterator[list[Object]]:
    fields = cast(list[Object], made.get("fields", []))
    yield fields
    for holder in (*fields, *cast(list[Object], made.get("commonStructs", []))):
        if "fields" in holder:
            yield from _field_lists(holder)
