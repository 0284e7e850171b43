"""Random definitions and what may become of them: pairs of an older and a newer one, both legal."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tests.made.packages import Json

PRIMITIVES = (
    "bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "uuid", "float64", "string", "bytes", "records",
)  # fmt: skip
ALIKE = (("bool", "int8"), ("int16", "uint16"), ("int32", "uint32"), ("string", "bytes", "records"), ("int64", "uuid"))
"""Types that are likely to be confused."""
NULLABLE = ("string", "bytes", "records")
SHARED = "Shared"


@dataclass
class Field:
    """A field that may still change."""

    name: str
    type: str
    array: bool = False
    nullable: str = ""
    tag: int | None = None
    default: str | None = None
    versions: str = "0+"
    plain: bool = False
    fields: list[Field] = field(default_factory=list)

    @property
    def is_struct(self) -> bool:
        return self.type not in PRIMITIVES


@dataclass
class Definition:
    """A message of versions 0 and 1 that may still change; ``shared`` are the fields of its common struct."""

    name: str
    flexible: str
    fields: list[Field]
    shared: list[Field]

    def structs(self) -> Iterator[list[Field]]:
        """The fields of every struct, those of the message first."""
        yield self.fields
        if self.shared:
            yield self.shared
        for inner in self.all_fields():
            if inner.fields:
                yield inner.fields

    def all_fields(self) -> Iterator[Field]:
        waiting = [*self.fields, *self.shared]
        while waiting:
            found = waiting.pop(0)
            yield found
            waiting += found.fields


def definition_pair(rng: random.Random, name: str) -> tuple[Json, Json]:
    """A definition of a message, and what it is after one to three changes, in either order."""
    older = _Maker(rng).definition(name)
    newer = copy.deepcopy(older)
    changing = _Maker(rng, first=100)
    for _ in range(rng.choice((1, 1, 2, 3))):
        changing.change(newer)
    pair = _as_json(older), _as_json(newer)
    return pair if rng.random() < 0.5 else (pair[1], pair[0])


class _Maker:
    """Makes and changes fields; their names are its own."""

    def __init__(self, rng: random.Random, first: int = 0) -> None:
        self._rng = rng
        self._next = first

    def definition(self, name: str) -> Definition:
        rng = self._rng
        shared = self._fields(2, structs=False) if rng.random() < 0.3 else []
        made = Definition(name, rng.choice(("none", "0+", "0+", "0+", "1+")), self._fields(0), shared)
        if shared:
            for _ in range(rng.randint(1, 2)):
                made.fields.insert(rng.randint(0, len(made.fields)), self._shaped(Field(self._name(), SHARED)))
        return made

    def change(self, made: Definition) -> None:
        fields = self._rng.choice(list(made.structs()))
        among_all: tuple[Callable[[list[Field]], None], ...] = (self._add, self._exchange, self._exchange_tags)
        of_one: tuple[Callable[[list[Field], Field], None], ...] = (
            self._remove, self._move, self._retype, self._retype_alike, self._wrap, self._unwrap, self._toggle_array,
            self._toggle_null, self._redefault, self._rename, self._toggle_tag, self._toggle_compact,
        )  # fmt: skip
        kind = self._rng.random()
        if kind < 0.02:
            made.flexible = self._rng.choice(("none", "0+", "1+"))
        elif kind < 0.25 or not fields:
            self._rng.choice(among_all)(fields)
        else:
            # Common structs hold no structs of their own (struct-inline-in-common).
            possible = [change for change in of_one if fields is not made.shared or change != self._wrap]
            self._rng.choice(possible)(fields, self._rng.choice(fields))

    def _name(self) -> str:
        self._next += 1
        return f"F{self._next}"

    def _fields(self, depth: int, *, structs: bool = True) -> list[Field]:
        return [self._field(depth, structs=structs) for _ in range(self._rng.choice((0, 1, 1, 2, 2, 3)))]

    def _field(self, depth: int, *, structs: bool = True) -> Field:
        rng = self._rng
        if structs and depth < 2 and rng.random() < 0.4:
            name = self._name()
            made = Field(name, f"Of{name}", fields=self._fields(depth + 1))
        else:
            made = Field(self._name(), rng.choice(PRIMITIVES))
        return self._shaped(made)

    def _shaped(self, made: Field) -> Field:
        rng = self._rng
        made.array = rng.random() < 0.3
        made.nullable = rng.choice(("", "", "0+", "1+"))
        made.tag = rng.randint(0, 9) if rng.random() < 0.35 else None
        made.versions = rng.choice(("0+", "0+", "0+", "1+"))
        made.plain = rng.random() < 0.05
        if rng.random() < 0.4:
            self._redefault([], made)
        return made

    def _add(self, fields: list[Field]) -> None:
        fields.insert(self._rng.randint(0, len(fields)), self._field(2))

    def _exchange(self, fields: list[Field]) -> None:
        if len(fields) > 1:
            one, other = self._rng.sample(range(len(fields)), 2)
            fields[one], fields[other] = fields[other], fields[one]

    def _exchange_tags(self, fields: list[Field]) -> None:
        tagged = [found for found in fields if found.tag is not None]
        if len(tagged) > 1:
            one, other = self._rng.sample(tagged, 2)
            one.tag, other.tag = other.tag, one.tag

    def _remove(self, fields: list[Field], one: Field) -> None:
        fields.remove(one)

    def _move(self, fields: list[Field], one: Field) -> None:
        fields.remove(one)
        fields.insert(self._rng.randint(0, len(fields)), one)

    def _retype(self, fields: list[Field], one: Field) -> None:
        one.type, one.fields = self._rng.choice(PRIMITIVES), []

    def _retype_alike(self, fields: list[Field], one: Field) -> None:
        alike = [other for group in ALIKE if one.type in group for other in group if other != one.type]
        if alike:
            one.type = self._rng.choice(alike)

    def _wrap(self, fields: list[Field], one: Field) -> None:
        """Put what a field holds into a struct, alone or with a neighbour."""
        inner = Field(self._name(), one.type, fields=one.fields, array=not one.array and self._rng.random() < 0.1)
        one.type, one.fields = f"Of{inner.name}", [inner, *(self._fields(2) if self._rng.random() < 0.2 else [])]

    def _unwrap(self, fields: list[Field], one: Field) -> None:
        """Let the fields of a struct take its place."""
        if one.fields and not one.array:
            at = fields.index(one)
            fields[at : at + 1] = one.fields

    def _toggle_array(self, fields: list[Field], one: Field) -> None:
        one.array = not one.array

    def _toggle_null(self, fields: list[Field], one: Field) -> None:
        one.nullable = "" if one.nullable else "0+"

    def _redefault(self, fields: list[Field], one: Field) -> None:
        texts = {
            "bool": ("true",),
            "uuid": ("AAAAAAAAAAAAAAAAAAAAAQ",),
            "float64": ("1.5", "7"),
            "string": ("x", "null"),
        }.get(one.type, ("1", "7") if "int" in one.type else ("null",))
        one.default = self._rng.choice((*texts, None)) if one.default is None or len(texts) > 1 else None

    def _rename(self, fields: list[Field], one: Field) -> None:
        one.name = self._name()

    def _toggle_tag(self, fields: list[Field], one: Field) -> None:
        one.tag = self._rng.randint(0, 9) if one.tag is None else None

    def _toggle_compact(self, fields: list[Field], one: Field) -> None:
        one.plain = not one.plain


def _as_json(made: Definition) -> Json:
    used = any(found.type == SHARED for found in made.all_fields())
    attributes: dict[str, object] = {
        "type": "data", "name": made.name, "validVersions": "0-1", "flexibleVersions": made.flexible,
        "fields": _fields_as_json(made.fields, made.flexible),
    }  # fmt: skip
    if used:
        fields = _fields_as_json(made.shared, made.flexible)
        attributes["commonStructs"] = [{"name": SHARED, "versions": "0+", "fields": fields}]
    return attributes


def _fields_as_json(fields: list[Field], flexible: str) -> list[Json]:
    """Fields with all that is not legal in their place left out."""
    numbers = sorted((found.tag, place) for place, found in enumerate(fields) if _may_be_tagged(found, flexible))
    tags = {place: number for number, (_, place) in enumerate(numbers)}
    return [_as_field(found, tags.get(place), flexible) for place, found in enumerate(fields)]


def _may_be_tagged(one: Field, flexible: str) -> bool:
    return one.tag is not None and flexible != "none" and one.type != "records"


def _as_field(one: Field, tag: int | None, flexible: str) -> Json:
    array = one.array and one.type != "records"
    made: dict[str, object] = {"name": one.name, "type": f"[]{one.type}" if array else one.type}
    made["versions"] = one.versions
    if tag is not None:
        made |= {"tag": tag, "taggedVersions": max(one.versions, flexible)}
    nullable = one.nullable and (array or one.is_struct or one.type in NULLABLE)
    if nullable:
        made["nullableVersions"] = "0+" if tag is not None else one.nullable
    if one.default is not None and _is_legal_default(one, array, made.get("nullableVersions") == "0+"):
        made["default"] = one.default
    if one.is_struct and one.type != SHARED:
        made["fields"] = _fields_as_json(one.fields, flexible)
    if one.plain and tag is None and not array and one.type in ("string", "bytes"):
        made["flexibleVersions"] = "none"
    return made


def _is_legal_default(one: Field, array: bool, always_nullable: bool) -> bool:
    if one.default == "null":
        return always_nullable
    if array or one.is_struct:
        return False
    expected = {
        "bool": ("true",),
        "float64": ("1.5", "7", "1"),
        "uuid": ("AAAAAAAAAAAAAAAAAAAAAQ",),
        "string": ("x", "1", "7"),
    }
    return one.default in expected.get(one.type, ("1", "7") if "int" in one.type else ())
