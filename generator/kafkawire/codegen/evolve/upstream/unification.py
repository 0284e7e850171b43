"""Stage C of Kafka's checker: compares the structs of both definitions field by field."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from kafkawire.codegen.definition import FieldDefinition, MessageDefinition, Place
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import rules
from kafkawire.codegen.evolve.upstream.field_pair import FieldPair
from kafkawire.codegen.evolve.upstream.report import Spot, flexible_versions, refusal
from kafkawire.codegen.evolve.upstream.structs import Fields, StructTable, capitalised


@dataclass(frozen=True, slots=True)
class _StructPair:
    """Two structs that the checker compares, by their fields.

    Attributes:
        path, place: of the field that has the struct in the newer definition, or of the newer message.
        older, newer: the fields.
    """

    path: str
    place: Place
    older: Fields
    newer: Fields

    @property
    def key(self) -> tuple[int, int]:
        """Identifies the pair, whichever fields use it."""
        return id(self.older), id(self.newer)


class Unification:
    """The comparison of two definitions whose structs are known."""

    def __init__(
        self, older: MessageDefinition, newer: MessageDefinition, older_structs: StructTable, newer_structs: StructTable
    ) -> None:
        self._older = older
        self._newer = newer
        self._older_structs = older_structs
        self._newer_structs = newer_structs

    def findings(self) -> Iterator[EvolutionFinding]:
        """The errors of all pairs of structs that the messages use, each pair once, inner ones where they occur.

        It is not recursive, since structs that use each other can form long chains and cycles.
        """
        entered: dict[tuple[int, int], Iterator[EvolutionFinding | _StructPair]] = {(0, 0): self._messages()}
        done: set[tuple[int, int]] = set()
        while entered:
            key = next(reversed(entered))
            found = next(entered[key], None)
            if found is None:
                del entered[key]
                done.add(key)
            elif isinstance(found, EvolutionFinding):
                yield found
            elif found.key in entered:
                yield self._endless(found)
            elif found.key not in done:
                entered[found.key] = self._structs(found)

    def _messages(self) -> Iterator[EvolutionFinding | _StructPair]:
        """The messages are compared as if they were fields whose types have their names."""
        older, newer = self._older, self._newer
        if capitalised(older.name) != capitalised(newer.name):
            problem = f'the name was "{older.name}" and is "{newer.name}"'
            spot = Spot(newer.name, "", newer.place, "name")
            yield refusal(rules.TYPE_DIFFERS, spot, newer.valid_versions, problem, "restore the name")
            return
        fields = self._older_structs.fields_of_message(), self._newer_structs.fields_of_message()
        if fields[0] is None or fields[1] is None:
            message = newer if fields[1] is None else older
            problem = f"the {'newer' if message is newer else 'older'} definition has no fields, so the checker"
            problem += f' look for a struct "{capitalised(message.name)}"'
            spot = Spot(newer.name, "", message.place, "fields")
            remedy = "do not check the file with Kafka's checker"
            yield refusal(rules.STRUCT_UNKNOWN, spot, message.valid_versions, problem, remedy)
            return
        yield _StructPair("", newer.place, fields[0], fields[1])

    def _structs(self, structs: _StructPair) -> Iterator[EvolutionFinding | _StructPair]:
        """The errors about two structs, and the pairs of structs inside them."""
        yield from self._tagged_outside_flexible(structs.path, structs.older, self._older)
        yield from self._tagged_outside_flexible(structs.path, structs.newer, self._newer)
        older = yield from self._in_both(structs.path, structs.older, self._older)
        newer = yield from self._in_both(structs.path, structs.newer, self._newer)
        for one, other in zip(older, newer, strict=False):
            pair = FieldPair(_below(structs.path, other), one, other, self._older, self._newer)
            yield from pair.findings()
            if pair.has_one_type:
                yield from self._inner(pair)
            elif pair.is_renamed:
                return  # the positions no longer match, so all later pairs would differ
        # The checker does not compare the remaining older fields (evo-pair-missing-new).
        for field in newer[len(older) :]:
            yield self._without_partner(_below(structs.path, field), field)

    def _in_both(
        self, path: str, fields: Fields, message: MessageDefinition
    ) -> Generator[EvolutionFinding, None, list[FieldDefinition]]:
        """The fields of one side that have valid versions on both sides; reports those without a valid version."""
        other = self._newer if message is self._older else self._older
        rule = rules.PAIR_OLD_MISPLACED if message is self._older else rules.PAIR_NEW_MISPLACED
        in_both = []
        for field in fields:
            if not field.versions.intersect(message.valid_versions):
                problem = f'the versions "{field.versions}" are not among the valid versions "{message.valid_versions}"'
                inner = _below(path, field)
                yield refusal(rule, Spot(self._newer.name, inner, field.place, "versions"), field.versions, problem)
            elif field.versions.intersect(other.valid_versions):
                in_both.append(field)
        return in_both

    def _inner(self, pair: FieldPair) -> Iterator[EvolutionFinding | _StructPair]:
        """The structs of two fields of one type."""
        if not pair.newer.type.is_struct:
            return
        older, newer = self._older_structs.fields_of(pair.older), self._newer_structs.fields_of(pair.newer)
        if older is None or newer is None:
            field, side = (pair.newer, "newer") if newer is None else (pair.older, "older")
            wanted = capitalised(field.type.name if field.type.array else field.name)
            problem = f'the fields of "{field.type}" are not declared here, and the {side} definition has no struct '
            problem += f'"{wanted}"'
            yield refusal(
                rules.STRUCT_UNKNOWN, Spot(self._newer.name, pair.path, field.place, "type"), field.versions, problem
            )
            return
        yield _StructPair(pair.path, pair.newer.place, older, newer)

    def _tagged_outside_flexible(
        self, path: str, fields: Fields, message: MessageDefinition
    ) -> Iterator[EvolutionFinding]:
        flexible = flexible_versions(message)
        for field in fields:
            tagged = field.tagged_versions
            if field.flexible_versions is None and not flexible.contains(tagged):
                outside = tagged.subtract(flexible) or tagged
                problem = f'the tagged versions "{tagged}" are not all flexible versions "{flexible}" of the message'
                yield refusal(
                    rules.TAGGED_OUTSIDE_FLEXIBLE,
                    Spot(self._newer.name, _below(path, field), field.place, "taggedVersions"),
                    outside,
                    problem,
                )

    def _without_partner(self, path: str, field: FieldDefinition) -> EvolutionFinding:
        versions = field.versions.intersect(self._older.valid_versions)
        kind = "tagged field" if field.tagged_versions else "field"
        problem = f'this {kind}, or one above it, is new in the versions "{versions}", which exist already'
        return refusal(rules.PAIR_MISSING_OLD, Spot(self._newer.name, path, field.place, "versions"), versions, problem)

    def _endless(self, structs: _StructPair) -> EvolutionFinding:
        problem = "the checker finds here the fields of a struct that contains this one"
        versions = self._newer.valid_versions
        return refusal(
            rules.STRUCT_ENDLESS, Spot(self._newer.name, structs.path, structs.place, "type"), versions, problem
        )


def _below(path: str, field: FieldDefinition) -> str:
    return f"{path}.{field.name}" if path else field.name
