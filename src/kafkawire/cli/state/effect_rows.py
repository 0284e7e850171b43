"""What a plan means as rows: their stable schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import msgspec

from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole
from kafkawire.declared.effects_of_plan import PlanEffects
from kafkawire.declared.wording import item_in_words
from kafkawire.model.acls.bindings import WILDCARD, PatternType
from kafkawire.model.acls.evaluation import EVERYBODY
from kafkawire.model.acls.regions import Exemption, ResourcePattern, grouped
from kafkawire.model.acls.right_changes import AclEffect
from kafkawire.model.quotas.effects import QuotaEffect
from kafkawire.model.quotas.entities import ClientQuotaEntity
from kafkawire.model.selections import Selection


class PatternValue(msgspec.Struct, frozen=True):
    """Names of resources.

    Attributes:
        resource_name: a name, a prefix of names, or ``*`` for all.
        pattern_type: LITERAL or PREFIXED.
    """

    resource_name: str
    pattern_type: str

    @classmethod
    def of(cls, pattern: ResourcePattern) -> PatternValue:
        """The value of a pattern."""
        return cls(pattern.name, pattern.pattern_type.name)


class ExemptionValue(msgspec.Struct, frozen=True):
    """A principal that a row is not about, on some of its names.

    Attributes:
        principal: which.
        resource_name: on which names: a name, a prefix of names, or ``*`` for all.
        pattern_type: LITERAL or PREFIXED.
        excepted_resources: patterns in these, for which the row is about the principal again.
    """

    principal: str
    resource_name: str
    pattern_type: str
    excepted_resources: tuple[PatternValue, ...] = ()


class AccessEffectRow(Row, frozen=True):
    """An operation that a principal may do for the first time, or no longer.

    Attributes:
        change: gained or lost.
        principal: ``User:alice``; ``User:*`` for all except those in ``excepted_principals``.
        operation: the operation, one that brokers check; never ALL.
        resource_type: type of the resources.
        resource_name: their name, a prefix of their names, or ``*`` for all.
        pattern_type: LITERAL or PREFIXED.
        host: address of the client; ``*`` for all except those in ``excepted_hosts``.
        excepted_principals: principals whose right does not change, or that have rows of their own.
        excepted_resources: patterns in that of the row whose names it is not about.
        excepted_hosts: hosts that the row is not about.
        exemptions: principals that the row is not about on some of its names; its own principal, or any if it is about
            all.
    """

    change: str
    principal: str
    operation: str
    resource_type: str
    resource_name: str
    pattern_type: str
    host: str
    excepted_principals: tuple[str, ...] = ()
    excepted_resources: tuple[PatternValue, ...] = ()
    excepted_hosts: tuple[str, ...] = ()
    exemptions: tuple[ExemptionValue, ...] = ()

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {
        "change": ColumnRole.KEY,
        "principal": ColumnRole.KEY,
        "operation": ColumnRole.KEY,
        "resource_name": ColumnRole.KEY,
        "excepted_principals": ColumnRole.DETAIL,
        "excepted_resources": ColumnRole.DETAIL,
        "excepted_hosts": ColumnRole.DETAIL,
        "exemptions": ColumnRole.DETAIL,
    }

    @property
    def row_name(self) -> str:
        """The principal."""
        return self.principal


class QuotaEffectRow(Row, frozen=True):
    """A limit that changes for clients or addresses.

    Attributes:
        key: which quota.
        subject: clients or addresses.
        user: of the clients; null for all users except those in ``excepted_users``, and for addresses.
        client_id: of the clients; null for all except those in ``excepted_client_ids``, and for addresses.
        ip: the address; null for all except those in ``excepted_ips``, and for clients.
        before: the limit before; null for none.
        before_set_for: the entity that had it, in words; null without a limit.
        after: the limit after; null for none.
        after_set_for: the entity that has it, in words; null without a limit.
        excepted_users: users that the row is not about.
        excepted_client_ids: client ids that the row is not about.
        excepted_ips: addresses that the row is not about.
    """

    key: str
    subject: str
    user: str | None
    client_id: str | None
    ip: str | None
    before: float | None
    before_set_for: str | None
    after: float | None
    after_set_for: str | None
    excepted_users: tuple[str, ...] = ()
    excepted_client_ids: tuple[str, ...] = ()
    excepted_ips: tuple[str, ...] = ()

    ROLES: ClassVar[Mapping[str, ColumnRole]] = {
        "key": ColumnRole.KEY,
        "user": ColumnRole.KEY,
        "client_id": ColumnRole.KEY,
        "ip": ColumnRole.KEY,
        "excepted_users": ColumnRole.DETAIL,
        "excepted_client_ids": ColumnRole.DETAIL,
        "excepted_ips": ColumnRole.DETAIL,
    }

    @property
    def row_name(self) -> str:
        """The quota."""
        return self.key


def access_effect_rows(effects: PlanEffects) -> Iterator[AccessEffectRow]:
    """A row for each principal, operation, pattern and host of an effect; together they say the same, exactly."""
    for effect in effects.access.effects:
        names = effect.principals.names
        if effect.principals.others:
            yield from _rows_of_principal(effect, EVERYBODY, names, effect.exemptions)
            continue
        exemptions = grouped(effect.exemptions, lambda exemption: exemption.principal)
        for principal in names:
            yield from _rows_of_principal(effect, principal, (), exemptions.get(principal, ()))


def _rows_of_principal(
    effect: AclEffect, principal: str, excepted: tuple[str, ...], all_exemptions: Sequence[Exemption]
) -> Iterator[AccessEffectRow]:
    hosts = effect.hosts
    for region in effect.resources:
        exceptions = tuple(map(PatternValue.of, region.exceptions))
        exemptions = tuple(_exemptions(all_exemptions, region.pattern))
        for operation in effect.operations:
            for host in (WILDCARD,) if hosts.others else hosts.names:
                yield AccessEffectRow(
                    effect.change.value,
                    principal,
                    str(operation),
                    str(effect.resource_type),
                    region.pattern.name,
                    region.pattern.pattern_type.name,
                    host,
                    excepted,
                    exceptions,
                    hosts.names if hosts.others else (),
                    exemptions,
                )


def _exemptions(exemptions: Iterable[Exemption], pattern: ResourcePattern) -> Iterator[ExemptionValue]:
    for exemption in exemptions:
        for region in exemption.resources:
            if _meet(region.pattern, pattern):
                exceptions = tuple(map(PatternValue.of, region.exceptions))
                own = PatternValue.of(region.pattern)
                yield ExemptionValue(exemption.principal, own.resource_name, own.pattern_type, exceptions)


def _meet(one: ResourcePattern, other: ResourcePattern) -> bool:
    """Whether two patterns have names in common: one is in the other then."""
    return one == other or any(
        outer.name == WILDCARD if outer.pattern_type is PatternType.LITERAL else inner.name in outer
        for outer, inner in ((one, other), (other, one))
    )


def quota_effect_rows(effects: PlanEffects) -> Iterator[QuotaEffectRow]:
    """A row for each user and client id, or each address, of an effect."""
    for effect in effects.quotas:
        for user in _chosen(effect.users):
            for client_id in _chosen(effect.client_ids):
                for ip in _chosen(effect.addresses):
                    yield _quota_row(effect, user, client_id, ip)


def _quota_row(effect: QuotaEffect, user: str | None, client_id: str | None, ip: str | None) -> QuotaEffectRow:
    return QuotaEffectRow(
        effect.key,
        "clients" if effect.addresses is None else "addresses",
        user,
        client_id,
        ip,
        effect.before,
        _entity(effect.before_entity),
        effect.after,
        _entity(effect.after_entity),
        _excepted(effect.users),
        _excepted(effect.client_ids),
        _excepted(effect.addresses),
    )


def _chosen(selection: Selection | None) -> tuple[str | None, ...]:
    return (None,) if selection is None or selection.others else selection.names


def _excepted(selection: Selection | None) -> tuple[str, ...]:
    return selection.names if selection is not None and selection.others else ()


def _entity(entity: ClientQuotaEntity | None) -> str | None:
    return None if entity is None else item_in_words(entity)
