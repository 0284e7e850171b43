"""Applies the rules to messages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import groupby

from kafkawire.codegen.check import catalogue
from kafkawire.codegen.check.rule import Located, MessageSet, Problem, Rule, StructScope
from kafkawire.codegen.check.scopes import field_path, struct_scopes
from kafkawire.codegen.definition import FieldDefinition, MessageDefinition
from kafkawire.codegen.findings import Finding

HEADERS = ("RequestHeader", "ResponseHeader")


def check_message(message: MessageDefinition) -> list[Finding]:
    """The findings about one message, in the order of the file."""
    findings = [
        _finding(check.rule, located)
        for check in catalogue.MESSAGE_CHECKS
        if not check.reads & message.place.refused
        for located in check.check(message)
    ]
    for scope in struct_scopes(message):
        findings.extend(_struct_findings(scope))
        for field in scope.fields:
            findings.extend(_field_findings(field, scope))
    return in_order(findings)


def check_set(messages: Iterable[MessageDefinition], incomplete: Collection[str] = ()) -> list[Finding]:
    """The findings about messages together; each folder (`group`) is checked separately.

    `incomplete` names the folders in which a file could not be read, so that it may contain a missing partner.
    """
    ordered = sorted(messages, key=lambda message: (message.group, message.place.file))
    headers = {message.name: message for message in ordered if message.type == "header" and message.name in HEADERS}
    findings: list[Finding] = []
    for group, members in groupby(ordered, key=lambda message: message.group):
        set_ = MessageSet(tuple(members), headers, group not in incomplete)
        findings.extend(
            _finding(check.rule, located) for check in catalogue.SET_CHECKS for located in check.check(set_)
        )
    return in_order(findings)


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By file, line, column and rule."""
    return sorted(findings, key=lambda finding: (finding.file, finding.span.line, finding.span.column, finding.rule))


def _struct_findings(scope: StructScope) -> Iterator[Finding]:
    refused = frozenset[str]().union(*(field.place.refused for field in scope.fields))
    if "fields" in scope.place.refused:
        refused |= {"tag"}
    for check in catalogue.STRUCT_CHECKS:
        if not check.reads & refused:
            for field, problem in check.check(scope):
                yield _finding(check.rule, Located(field.place, field_path(scope.path, field), problem))


def _field_findings(field: FieldDefinition, scope: StructScope) -> Iterator[Finding]:
    refused = field.place.refused
    for check in catalogue.FIELD_CHECKS:
        if not check.reads & refused:
            for problem in check.check(field, scope):
                yield _finding(check.rule, Located(field.place, field_path(scope.path, field), problem))


def _finding(rule: Rule, located: Located) -> Finding:
    problem: Problem = located.problem
    place = located.place
    return rule.finding(place.file, place.of(problem.attribute), f"{located.path}: {problem.message}", problem.remedy)
