"""Effects of a change of ACLs in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkawire.model.acls.bindings import (
    CLUSTER_NAME,
    WILDCARD,
    AclBinding,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from kafkawire.model.acls.regions import ResourcePattern, ResourceRegion
from kafkawire.model.acls.right_changes import AclEffect, AclOpening, RightChange
from kafkawire.model.selections import EVERY, Selection

_EXEMPTIONS_IN_FULL = 3
"""Principals that a sentence names with the resources on which it is not about them."""


def sentence(effect: AclEffect, longest: int) -> str:
    """An effect in words.

    Args:
        effect: the effect.
        longest: how many names a list has at most.
    """
    what = f"{_and(map(str, effect.operations))} {resources_in_words(effect.resource_type, effect.resources, longest)}"
    hosts = "" if effect.hosts == EVERY else f" from {_hosts(effect.hosts, longest)}"
    who = principals_in_words(effect.principals, longest) + _exempt(effect, longest)
    if effect.change is RightChange.GAINED:
        return f"{who} may {what}{hosts} for the first time"
    return f"{who} can no longer {what}{hosts}"


def opening_in_words(opening: AclOpening, longest: int) -> str:
    """A sentence that says why other principals gain or lose rights on resources.

    Args:
        opening: the resources that are open to everyone, or no longer.
        longest: how many names a list has at most.
    """
    what = resources_in_words(opening.resource_type, opening.resources, longest)
    if opening.is_open:
        return f"{what}: without ACLs after this, and so open to everyone"
    return f"{what}: open to everyone without ACLs; after this only to principals whom an ACL allows"


def unclear_in_words(acl: AclBinding) -> str:
    """A sentence that says why the effects leave out what an ACL means."""
    why = "this version does not know its kind" if acl.is_unknown else "other ACLs are about hosts in the range"
    return f"not clear: {acl_in_words(acl)}; {why}"


def _exempt(effect: AclEffect, longest: int) -> str:
    if not effect.exemptions:
        return ""
    if len(effect.exemptions) > _EXEMPTIONS_IN_FULL:
        return f" (except {len(effect.exemptions)} users on some of these)"
    each = [
        f"{exemption.principal} on {resources_in_words(effect.resource_type, exemption.resources, longest)}"
        for exemption in effect.exemptions
    ]
    return f" (except {_and(each)})"


def principals_in_words(principals: Selection, longest: int) -> str:
    """Principals, such as ``User:a and User:b`` or ``every user except User:a``."""
    if not principals.others:
        return _listed(principals.names, longest)
    return "every user" + (f" except {_listed(principals.names, longest)}" if principals.names else "")


def _hosts(hosts: Selection, longest: int) -> str:
    names = _listed(hosts.names, longest)
    return f"every host except {names}" if hosts.others else names


def resources_in_words(resource_type: ResourceType, regions: Sequence[ResourceRegion], longest: int) -> str:
    """Resources, such as ``topic orders and topics with prefix payments- (except payments-secret)``."""
    if resource_type == ResourceType.CLUSTER and all(region.pattern.name == CLUSTER_NAME for region in regions):
        return "the cluster"
    noun = noun_of(resource_type)
    names = [region.pattern.name for region in regions if _is_name(region.pattern)]
    parts = [f"{noun if len(names) == 1 else noun + 's'} {_listed(names, longest)}"] if names else []
    wide = [_wide(noun, region, longest) for region in regions if not _is_name(region.pattern)]
    return _listed([*parts, *wide], longest)


def _wide(noun: str, region: ResourceRegion, longest: int) -> str:
    pattern = region.pattern
    of = f"all {noun}s" if pattern.pattern_type == PatternType.LITERAL else f"{noun}s with prefix {pattern.name}"
    if not region.exceptions:
        return of
    return f"{of} (except {_listed(list(map(_exception, region.exceptions)), longest)})"


def _exception(pattern: ResourcePattern) -> str:
    return pattern.name if _is_name(pattern) else f"those with prefix {pattern.name}"


def _is_name(pattern: ResourcePattern) -> bool:
    return pattern.pattern_type == PatternType.LITERAL and pattern.name != WILDCARD


def _listed(names: Sequence[str], longest: int) -> str:
    if len(names) > longest:
        return f"{', '.join(names[:longest])} and {len(names) - longest} more"
    return _and(names)


def _and(words: Iterable[str]) -> str:
    listed = list(words)
    return " and ".join(filter(None, (", ".join(listed[:-1]), listed[-1])))


def noun_of(resource_type: ResourceType) -> str:
    """A type of resources in words."""
    return resource_type.name.lower().replace("_", " ")


def acl_in_words(acl: AclBinding) -> str:
    """An ACL in words, such as ``User:etl may READ topics with prefix payments-``."""
    may = "may not" if acl.permission_type == AclPermissionType.DENY else "may"
    region = ResourceRegion(ResourcePattern(acl.resource_name, acl.pattern_type))
    host = "" if acl.host == WILDCARD else f" from {acl.host}"
    resources = resources_in_words(acl.resource_type, (region,), 1)
    return f"{acl.principal} {may} {acl.operation} {resources}{host}"
