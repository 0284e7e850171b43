"""Applies all rules to two sides; changes of unstable versions become safe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from kafkawire.codegen.evolve.finding import EvolutionFinding
from kafkawire.codegen.evolve.pairing import MessagePair, pair_structs
from kafkawire.codegen.evolve.rules.catalogue import FIELD_CHECKS, MESSAGE_CHECKS, SET_CHECKS, STRUCT_CHECKS
from kafkawire.codegen.evolve.rules.presence import REGROUPED
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, MessageChange, SetChange, StructChange
from kafkawire.codegen.evolve.side import Side
from kafkawire.codegen.versions import Versions, ranges_of

_SEVERITIES = ("breaking", "risky", "safe")
_Found = tuple[EvolutionRule, Change]


def evolution_findings(
    older: Side, newer: Side, pairs: tuple[MessagePair, ...], understood: Mapping[str, frozenset[int]]
) -> tuple[EvolutionFinding, ...]:
    """The findings about two sides, the most severe first, then by message and field.

    Args:
        older, newer: the sides.
        pairs: their messages in pairs.
        understood: name of a message to the versions in which each side reads all that the other writes.
    """
    former = {pair.name: pair.older.name for pair in pairs if pair.older is not None}
    findings = [
        finding
        for found in _changes(older, newer, pairs)
        for rule, change in _proved(*found, understood)
        for finding in _judged(rule, change, older.unstable_versions(former.get(change.message, "")))
    ]
    return tuple(sorted(set(findings), key=_order))


def _order(finding: EvolutionFinding) -> tuple[int, str, str, int, str]:
    severity = _SEVERITIES.index(finding.severity)
    return severity, finding.message, finding.path, finding.versions.lowest, finding.rule


def _changes(older: Side, newer: Side, pairs: tuple[MessagePair, ...]) -> Iterator[_Found]:
    for set_check in SET_CHECKS:
        for change in set_check.check(SetChange(older, newer, pairs)):
            yield set_check.rule, change
    for pair in pairs:
        if pair.older is not None and pair.newer is not None:
            message = MessageChange(
                pair.older, pair.newer, pair,
                older.unstable_versions(pair.older.name), newer.unstable_versions(pair.newer.name),
            )  # fmt: skip
            for rule, change in _message_changes(message):
                yield rule, replace(change, message=pair.name)


def _message_changes(message: MessageChange) -> Iterator[_Found]:
    for check in MESSAGE_CHECKS:
        for change in check.check(message):
            yield check.rule, change
    if message.older.valid_versions and message.newer.valid_versions:
        for pair in pair_structs(message.older, message.newer):
            yield from _struct_changes(StructChange(message, pair))


def _struct_changes(struct: StructChange) -> Iterator[_Found]:
    for check in STRUCT_CHECKS:
        for change in check.check(struct):
            yield check.rule, change
    for field in struct.fields:
        for field_check in FIELD_CHECKS:
            for change in field_check.check(field):
                yield field_check.rule, replace(change, path=field.pair.path)


def _proved(rule: EvolutionRule, change: Change, understood: Mapping[str, frozenset[int]]) -> Iterator[_Found]:
    """The change; `REGROUPED` replaces it in versions whose layouts prove that every value is read correctly."""
    same = change.versions & understood.get(change.message, frozenset())
    if not same or not rule.about_bytes or change.severity != "breaking":
        yield rule, change
        return
    reason = "fields have other names or nesting, but each side reads the bytes of the other"
    yield rule, replace(change, versions=change.versions - same)
    yield REGROUPED, replace(change, severity="safe", versions=same, reason=reason)


def _judged(rule: EvolutionRule, change: Change, unstable: Versions) -> Iterator[EvolutionFinding]:
    """One finding for each range of versions; unstable versions may change (conv-unstable)."""
    final = frozenset(version for version in change.versions if version not in unstable)
    for run in ranges_of(final):
        yield _finding(rule, change, run)
    free = change if change.severity == "safe" else replace(
        change, severity="safe", reason=f"{change.reason}; it was marked unstable, so it may change (conv-unstable)"
    )  # fmt: skip
    for run in ranges_of(change.versions - final):
        yield _finding(rule, free, run)


def _finding(rule: EvolutionRule, change: Change, versions: Versions) -> EvolutionFinding:
    return EvolutionFinding(
        rule=rule.id,
        severity=change.severity,
        message=change.message,
        path=change.path,
        versions=versions,
        reason=change.reason,
        file=change.place.file,
        span=change.place.of(change.attribute),
    )
