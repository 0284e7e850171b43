"""Splitting what a filter means into portions that brokers delete in one request (A27)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from kafkawire.model.acls.bindings import AclBinding, AclBindingFilter

_RESOURCE = ("resource_type", "resource_name", "pattern_type")
_WAYS_TO_SPLIT = (
    ("resource_type",), ("permission_type",), ("operation",), ("host",), ("principal",), _RESOURCE,
)  # fmt: skip


class Portion(msgspec.Struct, frozen=True):
    """A part of what a filter means.

    Attributes:
        wanted: the filter that means this part.
        acls: the ACLs that it means, each of which no other portion has.
    """

    wanted: AclBindingFilter
    acls: Sequence[AclBinding]


def portions(wanted: AclBindingFilter, acls: Sequence[AclBinding], limit: int) -> Iterator[Portion]:
    """Filters that together mean what one filter means, each not more than so many ACLs.

    They are few: a broker looks at all of its ACLs for each.

    Args:
        wanted: the filter.
        acls: all ACLs that it means, each once.
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
    """The fewest parts that all fit; where no way of splitting gives such, those of which the largest is smallest."""
    ways = [parts for attributes in _WAYS_TO_SPLIT if len(parts := _parts(wanted, acls, attributes)) > 1]
    return min(ways, key=lambda parts: (max(limit, *map(len, parts.values())), len(parts)))


def _parts(
    wanted: AclBindingFilter, acls: Sequence[AclBinding], attributes: Sequence[str]
) -> dict[AclBindingFilter, list[AclBinding]]:
    parts: defaultdict[tuple[object, ...], list[AclBinding]] = defaultdict(list)
    for acl in acls:
        parts[tuple(getattr(acl, attribute) for attribute in attributes)].append(acl)
    return {replace(wanted, **dict(zip(attributes, values, strict=True))): part for values, part in parts.items()}
