"""Who could do an operation on a resource over time, by which ACL, and which denial stood against it.

Each stretch of time in which no ACL of a principal begins or ends is decided by the evaluator (A25).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from kafkawire.arguments.checks import checked
from kafkawire.model.acls.bindings import (
    WILDCARD,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.evaluation import EVERYBODY, AclEvaluator, Reason
from kafkawire.model.acls.hosts import is_range
from kafkawire.model.acls.matching import AclIndex

_BEGIN: Final = datetime.min.replace(tzinfo=UTC)
_END: Final = datetime.max.replace(tzinfo=UTC)
_UNNAMED: Final = "one that no ACL names"
"""Equal to no principal and no host of an ACL."""


class PastAcl(NamedTuple):
    """An ACL and the time during which it existed.

    Attributes:
        acl: the ACL.
        valid_from: None if it has existed since before the history begins.
        valid_to: the end, excluded; None if it still exists.
    """

    acl: AclBinding
    valid_from: datetime | None = None
    valid_to: datetime | None = None


class PastRight(msgspec.Struct, frozen=True):
    """A time during which a principal could do an operation, or an ACL allowed it and another one denied it.

    Attributes:
        principal: ``User:alice``; ``User:*`` for every principal that no ACL of the history names.
        host: from which address; ``*`` for all but those in ``excepted_hosts``.
        valid_from: None if already when the history begins.
        valid_to: the end, excluded; None if still when the history ends.
        reason: the reason of the decision.
        acl: the ACL that allows it; None if none is needed.
        denied_by: the ACL that denied it all the same; None if the principal could do it.
        excepted: principals that the history names and that could not during all of the asked part of this time, where
            it is about all.
        excepted_hosts: hosts of which this does not hold, where it is about all.
    """

    principal: str
    host: str
    valid_from: datetime | None
    valid_to: datetime | None
    reason: Reason
    acl: AclBinding | None = None
    denied_by: AclBinding | None = None
    excepted: tuple[str, ...] = ()
    excepted_hosts: tuple[str, ...] = ()

    @property
    def allowed(self) -> bool:
        """Whether the principal could do it."""
        return self.denied_by is None


class _Span(NamedTuple):
    """A time, the end excluded."""

    first: datetime
    last: datetime

    def overlaps(self, asked: _Span) -> bool:
        """Whether a part of it is in an asked time, which may be a single moment."""
        return asked.first < self.last and (self.first < asked.last or self.first <= asked.first)


class _Timed(NamedTuple):
    """An ACL that concerns the resource."""

    acl: AclBinding
    span: _Span


class _Question(NamedTuple):
    operation: AclOperation
    resource_type: ResourceType
    name: str
    host: str | None
    ranges: bool


class _Outcome(NamedTuple):
    """What the ACLs say to a principal at an address; without a ``denied_by`` it is allowed."""

    reason: Reason
    acl: AclBinding | None
    denied_by: AclBinding | None


class _Evaluators(NamedTuple):
    """Evaluators of the ACLs of a time.

    Attributes:
        of_all: decides.
        of_allowing: of those that allow, says what a denial stood against; None if there is no denial.
    """

    of_all: AclEvaluator
    of_allowing: AclEvaluator | None


class _Holding(NamedTuple):
    """An outcome with the hosts of which it holds."""

    host: str
    outcome: _Outcome
    excepted_hosts: tuple[str, ...]


@checked
def who_could(
    history: Iterable[PastAcl],
    operation: AclOperation,
    resource_type: ResourceType,
    resource_name: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    host: str | None = None,
    super_users: Iterable[str] = (),
    allow_everyone_if_no_acl: bool = False,
    ranges: bool = True,
) -> list[PastRight]:
    """Who could do ``operation`` on a resource, when, and by which ACL.

    The rows are those of which some part lies in the asked time; each has its whole interval. A principal has several
    rows if it could at several times, or by several ACLs. Rows with a ``denied_by`` are about principals that could
    not: an ACL allowed it, and another one denied it.

    Args:
        history: all ACLs that concern the resource, and others, with the time during which each existed.
        operation: the operation.
        resource_type: of the resource.
        resource_name: of the resource; it need not have existed.
        since: the beginning of the asked time; None for that of the history. A time without a zone is in UTC.
        until: its end, excluded; None for that of the history. Equal to ``since`` for one moment.
        host: the address of the client; None for all addresses.
        super_users: principals of the brokers' ``super.users``, at all times.
        allow_everyone_if_no_acl: the brokers' ``allow.everyone.if.no.acl.found``, at all times.
        ranges: whether a range of addresses matches clients; see `AclEvaluator`.

    Raises:
        TypeError: an argument is something else, such as one name instead of many.
        ValueError: the operation or the type is one of filters or of ACLs, such as ``ANY``; or ``until`` is before
            ``since``.

    Example:
        ```python
        from kafkawire.logs import read_past_acls, who_could
        from kafkawire.model.acls.bindings import AclOperation, ResourceType

        history = read_past_acls("/var/lib/kafka/data/__cluster_metadata-0")
        for right in who_could(history, AclOperation.READ, ResourceType.TOPIC, "orders", super_users=["User:admin"]):
            if right.allowed:
                print(right.principal, "from", right.valid_from, "to", right.valid_to, "by", right.acl)
        ```
    """
    asked = _Span(_BEGIN if since is None else _in_utc(since), _END if until is None else _in_utc(until))
    if asked.last < asked.first:
        raise ValueError(f"until is {until}, before since, which is {since}; give the earlier time first")
    question = _Question(operation, resource_type, resource_name, host, ranges)
    AclEvaluator(()).decide(EVERYBODY, operation, resource_type, resource_name, _UNNAMED)  # or it is no question
    acls_of = _by_principal(_concerning(history, question))
    everyone_allowed = _Openness(acls_of) if allow_everyone_if_no_acl else None
    supers = tuple(dict.fromkeys(super_users))
    rights_of = {
        principal: list(_rights(principal, acls, acls_of[EVERYBODY], question, everyone_allowed))
        for principal, acls in sorted(acls_of.items())
        if principal not in supers
    }
    of_others = [
        replace(right, excepted=tuple(_excepted(right, asked, rights_of))) if right.allowed else right
        for right in rights_of.pop(EVERYBODY)
    ]
    everywhere = WILDCARD if host is None else host
    rights = [PastRight(each, everywhere, None, None, Reason.SUPER_USER) for each in supers]
    rights += [right for of_principal in rights_of.values() for right in of_principal]
    return [right for right in [*rights, *of_others] if _span(right.valid_from, right.valid_to).overlaps(asked)]


class _Openness:
    """When a resource had no ACL, so that everyone may use it.

    Attributes:
        ends: the times at which that may have changed.
    """

    def __init__(self, acls_of: Mapping[str, Sequence[_Timed]]) -> None:
        self._closed = _joined(each.span for acls in acls_of.values() for each in acls)
        self.ends = {end for span in self._closed for end in span}

    def at(self, time: datetime) -> bool:
        """Whether it had none at a time."""
        return not any(span.first <= time < span.last for span in self._closed)


def _concerning(history: Iterable[PastAcl], question: _Question) -> Iterator[_Timed]:
    """The ACLs that concern the resource, in an order that does not depend on that of the history."""
    spans: dict[AclBinding, list[_Span]] = {}
    for acl, valid_from, valid_to in history:
        spans.setdefault(acl, []).append(_span(valid_from, valid_to))
    index = AclIndex(sorted(spans))
    wanted = AclBindingFilter(question.resource_type, question.name, pattern_type=PatternType.MATCH)
    for acl in index.matching(wanted):
        for span in _joined(spans[acl]):
            yield _Timed(acl, span)


def _by_principal(concerning: Iterable[_Timed]) -> dict[str, list[_Timed]]:
    """The ACLs of each principal; ``User:*`` is always one."""
    found: dict[str, list[_Timed]] = {EVERYBODY: []}
    for each in concerning:
        found.setdefault(each.acl.principal, []).append(each)
    return found


def _rights(
    principal: str,
    own: Sequence[_Timed],
    of_everybody: Sequence[_Timed],
    question: _Question,
    everyone_allowed: _Openness | None,
) -> Iterator[PastRight]:
    """The rights of a principal in the order in which they ended; those that still hold come last."""
    acls = own if principal == EVERYBODY else [*own, *of_everybody]
    decided_as = _UNNAMED if principal == EVERYBODY else principal
    ends = {_BEGIN, _END, *(end for each in acls for end in each.span)}
    if everyone_allowed is not None:
        ends |= everyone_allowed.ends
    since: dict[_Holding, datetime] = {}
    for first, _ in pairwise(sorted(ends)):
        valid = [each.acl for each in acls if each.span.first <= first < each.span.last]
        is_open = everyone_allowed is not None and everyone_allowed.at(first)
        now = list(_holdings(decided_as, valid, question, is_open=is_open))
        for holding in [each for each in since if each not in now]:
            yield _right(principal, holding, since.pop(holding), first)
        for holding in now:
            since.setdefault(holding, first)
    for holding, first in since.items():
        yield _right(principal, holding, first, _END)


def _holdings(principal: str, acls: Sequence[AclBinding], question: _Question, *, is_open: bool) -> Iterator[_Holding]:
    """What holds for a principal while these ACLs exist: of all hosts except some, or of some."""
    allowing = [acl for acl in acls if acl.permission_type == AclPermissionType.ALLOW]
    if not allowing and not is_open:
        return
    evaluators = _Evaluators(
        AclEvaluator(acls, allow_everyone_if_no_acl=is_open, ranges=question.ranges),
        # Without a denial the first one has the answer: evaluators take most of the time.
        AclEvaluator(allowing, ranges=question.ranges) if len(allowing) < len(acls) else None,
    )
    if question.host is not None:
        outcome = _outcome(evaluators, principal, question, question.host)
        if outcome is not None:
            yield _Holding(question.host, outcome, ())
        return
    hosts = sorted({acl.host for acl in acls if question.ranges or not is_range(acl.host)} - {WILDCARD})
    outcomes = {host: _outcome(evaluators, principal, question, host) for host in hosts}
    others = _outcome(evaluators, principal, question, _UNNAMED)
    if others is not None:
        excepted = tuple(host for host, outcome in outcomes.items() if not _is_same_kind(outcome, others))
        yield _Holding(WILDCARD, others, excepted)
    for host, outcome in outcomes.items():
        if outcome is not None and not _is_same_kind(outcome, others):
            yield _Holding(host, outcome, ())


def _outcome(evaluators: _Evaluators, principal: str, question: _Question, host: str) -> _Outcome | None:
    """What the ACLs decide; None if nothing allows it."""
    asked = (principal, question.operation, question.resource_type, question.name, host)
    decision = evaluators.of_all.decide(*asked)
    if decision.allowed:
        return _Outcome(decision.reason, decision.acl, None)
    if decision.reason is not Reason.DENIED or evaluators.of_allowing is None:
        return None
    allowed = evaluators.of_allowing.decide(*asked)
    return _Outcome(Reason.DENIED, allowed.acl, decision.acl) if allowed.allowed else None


def _is_same_kind(one: _Outcome | None, other: _Outcome | None) -> bool:
    """Whether both are allowed, or both denied."""
    return one is not None and other is not None and (one.denied_by is None) is (other.denied_by is None)


def _right(principal: str, holding: _Holding, first: datetime, last: datetime) -> PastRight:
    return PastRight(
        principal,
        holding.host,
        None if first == _BEGIN else first,
        None if last == _END else last,
        holding.outcome.reason,
        holding.outcome.acl,
        holding.outcome.denied_by,
        excepted_hosts=holding.excepted_hosts,
    )


def _excepted(of_all: PastRight, asked: _Span, rights_of: Mapping[str, Sequence[PastRight]]) -> Iterator[str]:
    """The named principals that could not, from any host, during all of the asked part of a right of all."""
    whole = _span(of_all.valid_from, of_all.valid_to)
    part = _Span(max(whole.first, asked.first), min(whole.last, asked.last))
    for principal, rights in rights_of.items():
        could = _joined(_span(right.valid_from, right.valid_to) for right in rights if right.allowed)
        if principal != EVERYBODY and not any(_covers(span, part) for span in could):
            yield principal


def _covers(span: _Span, part: _Span) -> bool:
    return span.first <= part.first < span.last and part.last <= span.last


def _joined(spans: Iterable[_Span]) -> list[_Span]:
    """The same time as few spans, in order; empty ones are left out."""
    joined: list[_Span] = []
    for span in sorted(span for span in spans if span.first < span.last):
        if joined and span.first <= joined[-1].last:
            joined[-1] = _Span(joined[-1].first, max(joined[-1].last, span.last))
        else:
            joined.append(span)
    return joined


def _span(valid_from: datetime | None, valid_to: datetime | None) -> _Span:
    return _Span(_BEGIN if valid_from is None else _in_utc(valid_from), _END if valid_to is None else _in_utc(valid_to))


def _in_utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time
