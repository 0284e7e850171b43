"""Configs that are to be deleted although they are not set: brokers accept that, also for names that do not exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafkawire.admin import (
    BlockingAdminClient,
    ConfigChange,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
)
from kafkawire.cli.access.changes import OutcomeRow, Status
from kafkawire.cli.configs.describing import own_source

Unset = Mapping[ConfigResource, Sequence[str]]
"""Names that are to be deleted and that the resource does not set."""

_SUCCEEDED = frozenset({Status.DONE, Status.WOULD_BE_DONE})


def configs_not_set(
    client: BlockingAdminClient, changes: Mapping[ConfigResource, Sequence[ConfigChange]], timeout: float
) -> dict[ConfigResource, list[str]]:
    """The names that are to be deleted and that their resource does not set, before the change.

    Resources that cannot be described are left out, and so are loggers: brokers refuse those that do not exist.

    Args:
        client: of the cluster.
        changes: those that are wanted.
        timeout: of the call.
    """
    deleted = {
        resource: [each.name for each in wanted if each.operation is ConfigOperation.DELETE]
        for resource, wanted in changes.items()
        if resource.resource_type is not ConfigResourceType.BROKER_LOGGER
    }
    deleted = {resource: names for resource, names in deleted.items() if names}
    if not deleted:
        return {}
    keys = {name for names in deleted.values() for name in names}
    present = client.describe_configs(deleted, keys=keys, include_synonyms=True, timeout=timeout).values()
    missing = {
        resource: [name for name in deleted[resource] if not _is_set(resource, configs.get(name))]
        for resource, configs in present.items()
    }
    return {resource: names for resource, names in missing.items() if names}


def _is_set(resource: ConfigResource, entry: ConfigEntry | None) -> bool:
    own = own_source(resource)
    return entry is not None and (entry.source is own or any(each.source is own for each in entry.synonyms))


def with_unset(
    rows: Iterable[OutcomeRow],
    resources: Iterable[ConfigResource],
    changes: Mapping[ConfigResource, Sequence[ConfigChange]],
    unset: Unset,
) -> list[OutcomeRow]:
    """The same outcomes; a resource in which nothing was set that is to go is unchanged, and names are remarked on.

    Args:
        rows: of the change.
        resources: of the rows.
        changes: of each resource.
        unset: see `configs_not_set`.
    """
    return [
        _with_unset(row, len(changes[resource]), unset.get(resource, ()))
        for row, resource in zip(rows, resources, strict=True)
    ]


def _with_unset(row: OutcomeRow, changes: int, names: Sequence[str]) -> OutcomeRow:
    if row.status not in _SUCCEEDED or not names:
        return row
    remark = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not set there"
    if len(names) == changes:
        return msgspec.structs.replace(row, status=Status.UNCHANGED, reason=remark)
    return msgspec.structs.replace(row, reason=f"{row.reason}; {remark}" if row.reason else remark)
