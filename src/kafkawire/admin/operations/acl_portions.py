"""Splitting a filter into portions that brokers delete in one request (A27)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter

_RESOURCE = ("resource_type", "resource_name", "pattern_type")
_SPLITS = (
    ("resource_type",), ("permission_type",), ("operation",), ("host",), ("principal",), _RESOURCE,
)  # fmt: skip


class Portion(msgspec.Struct, frozen=True):
    """A part of the ACLs that a filter matches.

    Attributes:
        wanted: the filter that matches this part.
        acls: the ACLs that it matches; no other portion has any of them.
    """

    wanted: AclBindingFilter
    acls: Sequence[AclBinding]


def portions(wanted: AclBindingFilter, acls: Sequence[AclBinding], limit: int) -> Iterator[Portion]:
    """Filters that together match the ACLs of one filter, each at most ``limit`` of them.

    They are few, because a broker compares each with all of its ACLs.

    Args:
        wanted: the filter.
        acls: all ACLs that it matches, each once.
        limit: how many ACLs one portion may have, at least 1.
    """
    if len(acls) <= limit:
        yield Portion(wanted, acls)
        return
    for narrower, part in _split(wanted, acls, limit).items():
        yield from portions(narrower, part, limit)


def _split(
    wanted: AclBindingFilter, acls: Sequence[AclBinding], limit: int
) -> Mapping[AclBindingFilter, Sequence[AclBinding]]:
    """The split with the fewest parts that all fit; if there is none, the split with the smallest largest part."""
    splits = [parts for attributes in _SPLITS if len(parts := _parts(wanted, acls, attributes)) > 1]
    return min(splits, key=lambda parts: (max(limit, *map(len, parts.values())), len(parts)))


def _parts(
    wanted: AclBindingFilter, acls: Sequence[AclBinding], attributes: Sequence[str]
) -> dict[AclBindingFilter, list[AclBinding]]:
    parts: defaultdict[tuple[object, ...], list[AclBinding]] = defaultdict(list)
    for acl in acls:
        parts[tuple(getattr(acl, attribute) for attribute in attributes)].append(acl)
    return {replace(wanted, **dict(zip(attributes, values, strict=True))): part for values, part in parts.items()}
