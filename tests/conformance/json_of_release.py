"""Our JSON form of a message as a release of Apache Kafka has it."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import cast

from kafkawire.codegen.merge.released_versions import ReleasedVersion
from kafkawire.layout import FieldLayout, StructLayout

Json = dict[str, object]


def json_as_read(json: Json, layout: StructLayout, row: ReleasedVersion) -> Json:
    """With the release's own names, and without tagged fields that it does not have yet."""
    return _Release.of(row, empty_records=False).struct(json, layout, "")


def json_as_written(json: Json, layout: StructLayout, row: ReleasedVersion) -> Json:
    """As `json_as_read`; records are an empty text, which is all that Kafka writes of them (json-records)."""
    return _Release.of(row, empty_records=True).struct(json, layout, "")


@dataclass(frozen=True)
class _Release:
    """How a release differs: (path of the struct, our name) to its name, and the fields that it lacks."""

    names: dict[tuple[str, str], str]
    lacking: frozenset[str]
    empty_records: bool

    @classmethod
    def of(cls, row: ReleasedVersion, *, empty_records: bool) -> _Release:
        paths = [(d, posixpath.dirname(d.path.replace(".", "/"))) for d in row.differences]
        names = {(folder, d.newer): d.older for d, folder in paths if d.kind == "renamed"}
        lacking = frozenset(d.path.replace(".", "/") for d, _ in paths if d.kind == "added-tag")
        return cls(names, lacking, empty_records)

    def struct(self, json: Json, layout: StructLayout, path: str) -> Json:
        made: Json = {}
        for field in layout.fields:
            name = self.names.get((path, field.name), field.name)
            inner = posixpath.join(path, name)
            if field.json_name in json and inner not in self.lacking:
                made[name[0].lower() + name[1:]] = self._value(json[field.json_name], field, inner)
        return made

    def _value(self, json: object, field: FieldLayout, path: str) -> object:
        if json is None:
            return None
        if field.type == "records" and self.empty_records:
            return ""
        if field.struct is None:
            return json
        if field.array:
            return [self.struct(element, field.struct, path) for element in cast(list[Json], json)]
        return self.struct(cast(Json, json), field.struct, path)
