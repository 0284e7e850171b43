"""What changes of configs would make of the values that resources have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkawire.admin import ConfigChange, ConfigEntry, ConfigOperation, ConfigResource
from kafkawire.cli.configs.describing import own_source
from kafkawire.declared.wording import HIDDEN
from kafkawire.model.configs.sensitive import is_sensitive


def changes_in_words(
    resource: ConfigResource,
    present: Mapping[ConfigResource, Mapping[str, ConfigEntry]],
    changes: Iterable[ConfigChange],
) -> str:
    """Each value before and after, such as ``retention.ms 604800000 → 1000``; secrets are hidden.

    Args:
        resource: whose configs.
        present: what resources have, with synonyms.
        changes: of the resource.
    """
    entries = present.get(resource, {})
    words = []
    for change in changes:
        entry = entries.get(change.name)
        if is_sensitive(resource.resource_type, change.name) or (entry is not None and entry.is_sensitive):
            words.append(f"{change.name} {HIDDEN} → {HIDDEN}")
            continue
        before = _shown(None if entry is None else entry.value)
        after = _after(resource, entry, change)
        if before != after:
            words.append(f"{change.name} {before} → {after}")
    return ", ".join(words) or "as it is"


def _after(resource: ConfigResource, entry: ConfigEntry | None, change: ConfigChange) -> str:
    """The value after a change, in words."""
    before = None if entry is None else entry.value
    entries = [each for each in (before or "").split(",") if each]
    given = [each.strip() for each in (change.value or "").split(",")]
    match change.operation:
        case ConfigOperation.SET:
            return _shown(change.value)
        case ConfigOperation.APPEND:
            return _shown(",".join([*entries, *(each for each in given if each not in entries)]))
        case ConfigOperation.SUBTRACT:
            return _shown(",".join(each for each in entries if each not in given))
        case ConfigOperation.DELETE:
            return _without_own(resource, entry)


def _without_own(resource: ConfigResource, entry: ConfigEntry | None) -> str:
    """What applies without the value that is set on the resource; brokers do not name every default."""
    own = own_source(resource)
    if entry is not None and entry.source is not own:
        return _shown(entry.value)
    others = [each.value for each in entry.synonyms if each.source is not own] if entry else []
    return _shown(others[0]) if others else "its default"


def _shown(value: str | None) -> str:
    return "none" if value is None else value or "(empty)"
