"""What Kafka's checker compares in two fields that it treats as the same one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafkawire.codegen.check.rule import Rule
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.upstream import rules
from kafkawire.codegen.evolve.upstream.report import Spot, between, flexible_versions, refusal
from kafkawire.codegen.versions import Versions


@dataclass(frozen=True, slots=True)
class FieldPair:
    """Fields at the same position in their structs; their names may differ.

    Attributes:
        path: of the field in the newer definition.
        older, newer: the fields.
        older_message, newer_message: the messages that have them.
    """

    path: str
    older: FieldDefinition
    newer: FieldDefinition
    older_message: MessageDefinition
    newer_message: MessageDefinition

    @property
    def has_one_type(self) -> bool:
        """Whether the texts of the types are equal, including names of structs."""
        return self.older.type == self.newer.type

    @property
    def is_renamed(self) -> bool:
        """Whether the names differ."""
        return self.older.name != self.newer.name

    @property
    def lowest(self) -> tuple[int, int]:
        """The lowest versions that have the field and are valid in the newer definition."""
        valid = self.newer_message.valid_versions
        return max(self.older.versions.lowest, valid.lowest), max(self.newer.versions.lowest, valid.lowest)

    @property
    def highest(self) -> tuple[int, int]:
        """The highest valid versions that have the field.

        Versions that the newer definition no longer has are reported for the message. Here the older one is treated as
        if it never had them.
        """
        valid = self.older_message.valid_versions, self.newer_message.valid_versions
        older = min(self.older.versions.highest, valid[0].highest, valid[1].highest)
        return older, min(self.newer.versions.highest, valid[1].highest)

    @property
    def flexible_versions(self) -> tuple[Versions, Versions]:
        """The flexible versions that apply to the fields."""
        older, newer = self.older.flexible_versions, self.newer.flexible_versions
        return (
            flexible_versions(self.older_message) if older is None else older,
            flexible_versions(self.newer_message) if newer is None else newer,
        )

    def findings(self) -> Iterator[EvolutionFinding]:
        """The errors about the pair. Of fields with different types, only the types are compared."""
        if not self.has_one_type:
            problem = f'the type was "{self.older.type}" and is "{self.newer.type}"'
            yield self._refusal(rules.TYPE_DIFFERS, "type", self._common_versions, problem)
            return
        yield from self._effective_versions()
        yield from self._nullable_versions()
        yield from self._flexible_versions()
        yield from self._default()

    @property
    def _common_versions(self) -> Versions:
        return self.newer.versions.intersect(self.newer_message.valid_versions)

    def _refusal(self, rule: Rule, attribute: str, versions: Versions, problem: str) -> EvolutionFinding:
        if self.is_renamed:
            problem = f'compared with "{self.older.name}" at its position, {problem}'
        return refusal(rule, Spot(self.newer_message.name, self.path, self.newer.place, attribute), versions, problem)

    def _effective_versions(self) -> Iterator[EvolutionFinding]:
        (low1, low2), (high1, high2) = self.lowest, self.highest
        problem = f'the versions were "{self.older.versions}" and are "{self.newer.versions}"'
        if high2 < high1:
            yield self._refusal(rules.MAX_EFFECTIVE_LOWER, "versions", between(high2 + 1, high1), problem)
        if low2 != low1:
            changed = between(min(low1, low2), max(low1, low2) - 1)
            yield self._refusal(rules.MIN_EFFECTIVE_DIFFERS, "versions", changed, problem)

    def _nullable_versions(self) -> Iterator[EvolutionFinding]:
        older, newer = self.older.nullable_versions, self.newer.nullable_versions
        problem = f'the nullable versions were "{older}" and are "{newer}"'
        # Kafka's checker swaps the operands: the highest version of each side, the nullable versions of the other.
        high1, high2 = min(self.highest[0], newer.highest), min(self.highest[1], older.highest)
        if high2 < high1:
            changed = between(high2 + 1, high1)
            yield self._refusal(rules.MAX_NULLABLE_LOWER, "nullableVersions", changed, problem)
        valid = self.newer_message.valid_versions
        low1, low2 = max(older.lowest, valid.lowest), max(newer.lowest, valid.lowest)
        if low2 != low1:
            changed = between(min(low1, low2), max(low1, low2) - 1)
            yield self._refusal(rules.MIN_NULLABLE_DIFFERS, "nullableVersions", changed, problem)

    def _flexible_versions(self) -> Iterator[EvolutionFinding]:
        older, newer = self.flexible_versions
        # Fields without flexibleVersions have those of their messages, which evo-flexible-shrinks compares.
        has_own = self.older.flexible_versions is not None or self.newer.flexible_versions is not None
        if has_own and not newer.contains(older):
            lost = older.subtract(newer) or older
            problem = f'the field\'s flexible versions were "{older}" and are "{newer}"'
            valid = self.older_message.valid_versions
            yield self._refusal(rules.FIELD_FLEXIBLE_SHRINKS, "flexibleVersions", lost.intersect(valid), problem)

    def _default(self) -> Iterator[EvolutionFinding]:
        older, newer = self.older.default or "", self.newer.default or ""
        if older != newer:
            problem = f"the default was {older!r} and is {newer!r}"
            yield self._refusal(rules.DEFAULT_DIFFERS, "default", self._common_versions, problem)
