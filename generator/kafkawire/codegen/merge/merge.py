"""Merges two definitions of a message.

The newer definition determines the versions that it has; versions that it dropped come from the older one. Attributes
without versions (`ignorable`, `mapKey`, a default ...) are those of the newer definition.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.merge.conflict import Conflict, MergeError, Sides
from kafkawire.codegen.merge.namespace import TOP, Shape, namespace_of, reach, to_message
from kafkawire.codegen.versions import NO_VERSIONS, OPEN_END, Versions, versions_text


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two definitions: its structs, and the versions in which it determines each of them."""

    shapes: Mapping[str, Shape]
    at: Mapping[str, frozenset[int]]

    def fields(self, struct: str) -> tuple[FieldDefinition, ...]:
        return self.shapes[struct].fields if struct in self.shapes else ()

    def governs(self, struct: str) -> frozenset[int]:
        return self.at.get(struct, frozenset())


def merge_messages(older: MessageDefinition, newer: MessageDefinition, sides: Sides) -> MessageDefinition:
    """One definition with every version of both.

    Args:
        older, newer: definitions without errors; if the names differ, the newer name is used.
        sides: their names in errors.

    Raises:
        MergeError: if no definition can describe the versions of both.
    """
    if not newer.valid_versions:
        return replace(older, name=newer.name, api_key=newer.api_key if older.api_key is None else older.api_key)
    if newer.valid_versions.contains(older.valid_versions):
        return newer
    return _Merge(older, newer, sides).run()


class _Merge:
    """A merge; it collects conflicts, so that all are reported together."""

    def __init__(self, older: MessageDefinition, newer: MessageDefinition, sides: Sides) -> None:
        self._older, self._newer, self._sides = older, newer, sides
        self._conflicts: list[Conflict] = []
        at_newer = frozenset(newer.valid_versions)
        at_older = frozenset(older.valid_versions) - at_newer
        self._all = at_newer | at_older
        self._at_newer, self._at_older = at_newer, at_older
        shapes = namespace_of(newer)
        self._n = _Side(shapes, reach(shapes, at_newer))
        shapes = _renamed(namespace_of(older), shapes)
        self._o = _Side(shapes, reach(shapes, at_older))

    def run(self) -> MessageDefinition:
        names = [*self._n.shapes, *(name for name in self._o.shapes if name not in self._n.shapes)]
        shapes = {name: self._shape(name) for name in names if name == TOP or self._is_used(name)}
        message = self._head()
        if self._conflicts:
            raise MergeError(tuple(self._conflicts))
        return to_message(message, shapes)

    def _is_used(self, struct: str) -> bool:
        return struct in self._n.shapes or bool(self._o.governs(struct))

    def _head(self) -> MessageDefinition:
        """The message's own attributes."""
        older, newer = self._older, self._newer
        highest = newer if newer.valid_versions.highest >= older.valid_versions.highest else older
        deprecated = combine(newer.deprecated_versions, self._at_newer, older.deprecated_versions, self._at_older)
        return replace(
            newer,
            valid_versions=self._valid_versions(),
            flexible_versions=self._range(
                "flexibleVersions", newer.flexible_versions, self._at_newer, older.flexible_versions, self._at_older
            ),
            deprecated_versions=newer.deprecated_versions if deprecated is None else deprecated,
            latest_version_unstable=highest.latest_version_unstable,
        )

    def _valid_versions(self) -> Versions:
        hull = Versions(min(self._all), max(self._all))
        missing = frozenset(hull) - self._all
        if missing:
            self._conflict(
                "validVersions", missing, "neither definition has these versions, and a range cannot exclude them"
            )
        return hull

    def _shape(self, name: str) -> Shape:
        newer, older = self._n.shapes.get(name), self._o.shapes.get(name)
        at_newer, at_older = self._n.governs(name), self._o.governs(name)
        fields = self._fields(name, at_newer, at_older)
        written = newer or older
        assert written is not None  # noqa: S101 (names come from the two mappings)
        versions = combine(
            newer.versions if newer else NO_VERSIONS, at_newer, older.versions if older else NO_VERSIONS, at_older
        )
        return Shape(fields, written.versions if versions is None else versions, written.common)

    def _fields(self, struct: str, at_newer: frozenset[int], at_older: frozenset[int]) -> tuple[FieldDefinition, ...]:
        """The newer fields in order, with other older fields before the field that they precede, or at the end."""
        old = {field.name: field for field in self._o.fields(struct)}
        merged = [
            self._field(struct, field, old.get(field.name), at_newer, at_older) for field in self._n.fields(struct)
        ]
        names = [field.name for field in merged]
        place = len(names)
        for field in reversed(old.values()):
            if field.name in names:
                place = names.index(field.name)
            elif any(v in field.versions for v in at_older):
                merged.insert(place, self._field(struct, None, field, at_newer, at_older))
                names.insert(place, field.name)
        return tuple(merged)

    def _field(
        self,
        struct: str,
        newer: FieldDefinition | None,
        older: FieldDefinition | None,
        at_newer: frozenset[int],
        at_older: frozenset[int],
    ) -> FieldDefinition:
        """A field of one side or both."""
        written = newer or older
        assert written is not None  # noqa: S101 (see above)
        n, o = newer or _absent(written), older or _absent(written)
        path = f"{struct}.{written.name}" if struct else written.name
        present_newer = frozenset(v for v in at_newer if v in n.versions)
        present_older = frozenset(v for v in at_older if v in o.versions)
        if present_older and not present_newer:
            written = o
        elif present_older and (n.type != o.type):
            what = f"type {o.type} in versions {versions_text(present_older)}, type {n.type} in {n.versions}"
            self._conflict(path, present_older, what)
        tag = n.tag if n.tag is not None else o.tag
        if o.tag is not None and o.tag != tag:
            self._conflict(path, present_older, f"tag {o.tag} became tag {tag}")
        versions = self._range(f"versions of {path}", n.versions, at_newer, o.versions, at_older)
        tagged = self._range(
            f"taggedVersions of {path}", n.tagged_versions, present_newer, o.tagged_versions, present_older
        )
        if tagged and not (tagged.is_open and versions.contains(tagged)):
            only = tagged.intersect(versions)
            what = f"tagged in {only} only, but a tagged field has no last version (field-tagged-open-ended)"
            self._conflict(path, present_older, what)
        nullable = self._range(
            f"nullableVersions of {path}", n.nullable_versions, present_newer, o.nullable_versions, present_older
        )
        if versions != n.versions:
            nullable = nullable.intersect(versions)
        if written.default == "null" and not nullable.contains(versions):
            what = f"default null, but null is legal only in {nullable} of {versions} (default-null-needs-all-nullable)"
            self._conflict(path, present_older, what)
        return replace(
            written, versions=versions, nullable_versions=nullable, tagged_versions=tagged, tag=tag if tagged else None
        )

    def _range(
        self, path: str, newer: Versions, at_newer: frozenset[int], older: Versions, at_older: frozenset[int]
    ) -> Versions:
        range_ = combine(newer, at_newer, older, at_older)
        if range_ is None:
            what = f"{older} in {versions_text(at_older)} and {newer} in {versions_text(at_newer)} cannot be one range"
            self._conflict(path, at_older, what)
            return newer
        return range_

    def _conflict(self, path: str, versions: frozenset[int], what: str) -> None:
        self._conflicts.append(Conflict(self._sides, self._newer.name, versions_text(versions), path, what))


def _absent(field: FieldDefinition) -> FieldDefinition:
    """The field as it would be in a definition that lacks it."""
    return replace(
        field, versions=NO_VERSIONS, nullable_versions=NO_VERSIONS, tagged_versions=NO_VERSIONS, tag=None
    )  # fmt: skip


def _renamed(older: Mapping[str, Shape], newer: Mapping[str, Shape]) -> dict[str, Shape]:
    """The older structs, with the newer names if they were renamed: structs of the same field."""
    names: dict[str, str] = {}

    def visit(old: str, new: str) -> None:
        types = {field.name: field.type for field in newer[new].fields}
        for field in older[old].fields:
            type_ = types.get(field.name)
            if not (field.type.is_struct and type_ and type_.is_struct) or field.type.name in names:
                continue
            was, now = field.type.name, type_.name
            if was == now or (was not in newer and now not in older and now not in names.values()):
                names[was] = now
                visit(was, now)

    visit(TOP, TOP)
    return {
        names.get(name, name): replace(
            shape,
            fields=tuple(
                replace(field, type=replace(field.type, name=names.get(field.type.name, field.type.name)))
                if field.type.is_struct
                else field
                for field in shape.fields
            ),
        )
        for name, shape in older.items()
    }


def combine(newer: Versions, newer_at: Set[int], older: Versions, older_at: Set[int]) -> Versions | None:
    """The one range that equals ``newer`` at the versions ``newer_at`` and ``older`` at ``older_at``.

    Other versions may be in the range or not, so one of the two ranges is used if it fits, preferably the newer one.
    Otherwise it is the smallest range that fits, open-ended if it includes the highest given version and one of the two
    is open-ended.

    Args:
        newer, older: the ranges of the two definitions.
        newer_at, older_at: disjoint sets of versions, in which the ranges count.

    Returns:
        the range, or None if no single range fits.
    """
    wanted = {v for v in newer_at if v in newer} | {v for v in older_at if v in older}
    unwanted = (newer_at | older_at) - wanted
    for candidate in (newer, older, _hull(wanted, newer_at | older_at, newer.is_open or older.is_open)):
        if all(v in candidate for v in wanted) and not any(v in candidate for v in unwanted):
            return candidate
    return None


def _hull(wanted: Set[int], asked: Set[int], may_open: bool) -> Versions:
    if not wanted:
        return NO_VERSIONS
    highest = max(wanted)
    return Versions(min(wanted), OPEN_END if may_open and highest == max(asked) else highest)
