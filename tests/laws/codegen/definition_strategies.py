"""Definitions as people may write them: every attribute in every legal spelling, in any order."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from hypothesis import strategies as st

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

SPECS = Path(__file__).parents[3] / "specs"

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)

_low = st.integers(0, 9)
version_texts = st.one_of(
    _low.map(str),
    _low.map(lambda low: f"{low}+"),
    st.tuples(_low, _low).map(lambda ends: f"{min(ends)}-{max(ends)}"),
    st.just("none"),
    st.just("0-32767"),
)
spelt_versions: st.SearchStrategy[Json] = version_texts.map(lambda text: f" {text} ") | version_texts | _low
spelt_booleans: st.SearchStrategy[Json] = st.sampled_from([True, False, "true", "false"])
spelt_numbers: st.SearchStrategy[Json] = st.integers(0, 99) | st.integers(0, 99).map(str)
listeners: st.SearchStrategy[Json] = st.sampled_from(["zkBroker", "broker", "controller"])
header_versions: st.SearchStrategy[Json] = st.dictionaries(
    st.sampled_from(["0", "1-2", "3+"]), spelt_numbers, max_size=3
)
names = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,5}", fullmatch=True)
struct_names = st.from_regex(r"[A-Z][A-Za-z0-9]{0,5}", fullmatch=True)
primitives = st.sampled_from(["bool", "int8", "int64", "uuid", "float64", "string", "bytes", "records"])
field_types = (primitives | struct_names).flatmap(lambda name: st.sampled_from([name, f"[]{name}", f" {name}"]))
spelt_defaults: st.SearchStrategy[Json] = st.text(max_size=5) | st.integers() | st.booleans()


def _object(required: Mapping[str, st.SearchStrategy[Json]], optional: Mapping[str, st.SearchStrategy[Json]]) -> (
    st.SearchStrategy[dict[str, Json]]
):  # fmt: skip
    """An object with its keys in any order; optional attributes may be missing or null."""
    nullable = {name: strategy | st.none() for name, strategy in optional.items()}
    whole = st.fixed_dictionaries(dict(required), optional=nullable)
    return whole.flatmap(lambda made: st.permutations(list(made.items()))).map(dict)


def _fields(depth: int) -> st.SearchStrategy[Json]:
    inner: dict[str, st.SearchStrategy[Json]] = {"fields": _fields(depth - 1)} if depth else {}
    field = _object(
        {"name": names, "type": field_types, "versions": spelt_versions},
        {
            "nullableVersions": spelt_versions,
            "tag": spelt_numbers,
            "taggedVersions": spelt_versions,
            "default": spelt_defaults,
            "ignorable": spelt_booleans,
            "mapKey": spelt_booleans,
            "entityType": st.sampled_from(["unknown", "topicName", "brokerId"]),
            "about": st.text(max_size=9),
            "zeroCopy": spelt_booleans,
            "flexibleVersions": spelt_versions,
            **inner,
        },
    )
    return cast(st.SearchStrategy[Json], field | st.lists(field, max_size=3))


definitions = _object(
    {
        "name": names,
        "type": st.sampled_from(["request", "response", "data", "header", "metadata", "coordinator-key"]),
        "validVersions": spelt_versions,
        "flexibleVersions": spelt_versions,
    },
    {
        "apiKey": spelt_numbers,
        "deprecatedVersions": spelt_versions,
        "latestVersionUnstable": spelt_booleans,
        "listeners": listeners | st.lists(listeners, max_size=2),
        "headerVersions": header_versions,
        "commonStructs": st.lists(
            _object({"name": struct_names, "versions": spelt_versions}, {"fields": _fields(0)}), max_size=2
        ),
        "fields": _fields(2),
    },
)
"""Definitions that can be read. They may break rules about what the attributes mean together."""


def real_definition_texts() -> list[str]:
    """Some real definitions that between them use all of the language."""
    names_ = ("clients/FetchResponse", "clients/RequestHeader", "clients/UpdateFeaturesRequest", "raft/*")
    return [path.read_text(encoding="utf-8") for name in names_ for path in sorted(SPECS.glob(f"{name}.json"))]


@st.composite
def mutated_definitions(draw: st.DrawFn) -> str:
    """A real definition in which a value somewhere is replaced, removed or repeated under another name."""
    made: Json = json.loads(draw(st.sampled_from(real_definition_texts())))
    for _ in range(draw(st.integers(1, 3))):
        made = _mutated(draw, copy.deepcopy(made))
    return json.dumps(made)


def _mutated(draw: st.DrawFn, value: Json) -> Json:
    keys: list[str | int] = []
    if isinstance(value, dict):
        keys = list(value)
    elif isinstance(value, list):
        keys = list(range(len(value)))
    if not keys or draw(st.integers(0, 9)) == 0:
        replacements: st.SearchStrategy[Json] = json_values | spelt_versions | field_types
        return draw(replacements)
    key = draw(st.sampled_from(keys))
    holder = cast(dict[str | int, Json], value)
    match draw(st.sampled_from(["descend", "descend", "descend", "remove", "rename"])):
        case "remove":
            del holder[key]
        case "rename" if isinstance(key, str):
            holder[draw(st.sampled_from([*holder, "tag", "fields", "taggedVersions", "mapKey"]))] = holder.pop(key)
        case _:
            holder[key] = _mutated(draw, holder[key])
    return value
