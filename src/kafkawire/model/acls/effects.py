"""What a change of ACLs means: who gains and who loses what, exactly."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec

from kafkawire.arguments.checks import checked
from kafkawire.model.acls.bindings import WILDCARD, AclBinding, AclOperation, ResourceType
from kafkawire.model.acls.changed_rights import AFTER, BEFORE, SET, ChangedRight, ChangedRights
from kafkawire.model.acls.effect_sentences import opening_in_words, sentence, unclear_in_words
from kafkawire.model.acls.hosts import is_range, meet
from kafkawire.model.acls.operation_sets import CHECKED, operations_in
from kafkawire.model.acls.regions import grouped
from kafkawire.model.acls.right_changes import AclEffect, AclOpening, RightChange
from kafkawire.model.selections import EVERY, Selection


class AclEffects(msgspec.Struct, frozen=True, kw_only=True):
    """What a change of ACLs means.

    No two effects are about the same right. A super user may do everything before and after, so none is about one, even
    where it is about all principals except some.

    Attributes:
        effects: the gains and losses.
        openings: the resources that get their first ACL or lose their last one, if those without ACLs are open to
            everyone; that is why the effects on them are what they are.
        unclear: ACLs of the change that have a value which this client does not know; they were left out. ACLs of a
            range of addresses too, where the change has ACLs of hosts in the range: what the two mean together is
            left out. A range counts as one host beside these.
        super_users: principals that may do everything.
    """

    effects: tuple[AclEffect, ...]
    openings: tuple[AclOpening, ...] = ()
    unclear: tuple[AclBinding, ...] = ()
    super_users: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        """Whether anybody gains or loses anything."""
        return bool(self.effects)

    def of(
        self, principal: str, operation: AclOperation, resource_type: ResourceType, resource_name: str, host: str
    ) -> RightChange | None:
        """Whether a principal gains or loses one right; None if it does neither.

        Args:
            principal: ``User:alice``.
            operation: one that clients do, not ``ALL``.
            resource_type: type of the resource.
            resource_name: its name.
            host: address of the client.
        """
        if principal in self.super_users:
            return None
        for effect in self.effects:
            if effect.concerns(principal, operation, resource_type, resource_name, host):
                return effect.change
        return None

    def sentences(self, *, longest: int = 10) -> list[str]:
        """The openings, the effects and what is unclear in words, one sentence each.

        Args:
            longest: how many names a list in a sentence has at most; it says how many more there are.
        """
        of_openings = [opening_in_words(opening, longest) for opening in self.openings]
        of_effects = [sentence(effect, longest) for effect in self.effects]
        return of_openings + of_effects + list(map(unclear_in_words, self.unclear))


@checked
def acl_effects(
    before: Iterable[AclBinding],
    after: Iterable[AclBinding],
    *,
    super_users: Iterable[str] = (),
    allow_everyone_if_no_acl: bool = False,
    ranges: bool = True,
) -> AclEffects:
    """Who gains and who loses what if the ACLs of a cluster change, as Kafka's own authorizer decides.

    Resources that do not exist yet count too, so a gain may be on all topics with a prefix. Only
    operations count that brokers check on the type of a resource.

    Args:
        before: all ACLs before the change.
        after: all ACLs after it.
        super_users: principals of the broker's ``super.users``.
        allow_everyone_if_no_acl: the broker's ``allow.everyone.if.no.acl.found``.
        ranges: as for `AclEvaluator`.

    Example:
        ```python
        from kafkawire.admin import AclBinding, AclOperation, ResourceType, acl_effects

        before = AclBinding.consumer("User:billing", topics=["orders"], groups=["billing"])
        change = acl_effects(before, [*before, AclBinding(ResourceType.TOPIC, "*", "User:etl", AclOperation.READ)])
        assert change.sentences() == ["User:etl may READ and DESCRIBE all topics for the first time"]
        ```
    """
    old, new = (frozenset(acl for acl in acls if ranges or not is_range(acl.host)) for acls in (before, after))
    changed = dict.fromkeys(old - new, BEFORE) | dict.fromkeys(new - old, AFTER)
    unclear = tuple(sorted({*(acl for acl in changed if acl.is_unknown), *_entangled(old | new, changed)}))
    by_type = grouped(sorted(changed), lambda acl: acl.resource_type)
    supers = frozenset(super_users)
    found: list[AclEffect] = []
    openings: list[AclOpening] = []
    for resource_type in sorted(by_type.keys() & CHECKED.keys()):
        of_type = {acl: changed[acl] for acl in by_type[resource_type]}
        common = (acl for acl in new if acl.resource_type == resource_type)
        rights = ChangedRights(resource_type, of_type, common, supers, allow_everyone_if_no_acl)
        found += _merged(resource_type, rights)
        for is_open, regions in rights.openings():
            openings.append(AclOpening(is_open=is_open, resource_type=resource_type, resources=regions))
    return AclEffects(effects=tuple(found), openings=tuple(openings), unclear=unclear, super_users=supers)


def _entangled(acls: Collection[AclBinding], changed: Collection[AclBinding]) -> Iterator[AclBinding]:
    """ACLs of ranges with other hosts inside or around them, if either is of the change."""
    ranges = [acl for acl in acls if is_range(acl.host)]
    if not ranges:
        return
    of_change = {(acl.resource_type, acl.host) for acl in changed}
    of_all = {(acl.resource_type, acl.host) for acl in acls}
    for acl in ranges:
        others = of_all if acl in changed else of_change
        if any(
            resource_type == acl.resource_type and host not in (acl.host, WILDCARD) and meet(host, acl.host)
            for resource_type, host in others
        ):
            yield acl


def _merged(resource_type: ResourceType, rights: Iterable[ChangedRight]) -> list[AclEffect]:
    """Rights that differ only in the operation, and then those that differ only in the principal, become one effect."""
    bits_of: dict[ChangedRight, int] = {}
    for right in rights:
        lost, bit = divmod(right.bit, SET)
        alike = right._replace(bit=lost)
        bits_of[alike] = bits_of.get(alike, 0) | 1 << bit
    of_all = [(right, bits) for right, bits in bits_of.items() if right.principals.others]
    named = [(right, bits) for right, bits in bits_of.items() if not right.principals.others]
    for items in grouped(named, lambda item: (item[0]._replace(principals=EVERY), item[1])).values():
        principals = Selection(tuple(sorted(name for right, _ in items for name in right.principals.names)))
        of_all.append((items[0][0]._replace(principals=principals), items[0][1]))
    found = [
        AclEffect(
            change=RightChange.LOST if right.bit else RightChange.GAINED,
            principals=right.principals,
            operations=operations_in(bits),
            resource_type=resource_type,
            resources=right.regions,
            hosts=right.hosts,
            exemptions=right.exemptions,
        )
        for right, bits in of_all
    ]
    return sorted(found, key=lambda effect: (effect.change.value, effect.principals, effect.operations, effect.hosts))
