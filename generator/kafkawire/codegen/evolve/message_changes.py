"""What changed in meaning between two sets of definitions, message by message.

Texts are not compared. Only the valid versions of a range count. A version that only the newer side has is compared
with the one before it, even if ranges of the older definition include it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.emit.headers import header_versions
from kafkawire.codegen.evolve.change import Change, ChangeKind, Location, MessageChanges, SchemaDiff, Status, location
from kafkawire.codegen.evolve.field_changes import field_changes
from kafkawire.codegen.evolve.pairing import MessagePair, pair_messages
from kafkawire.codegen.evolve.predecessor import predecessors
from kafkawire.codegen.evolve.side import Side, left_out
from kafkawire.codegen.versions import NO_VERSIONS, Versions, ranges_of


def diff_sides(older: Side, newer: Side) -> SchemaDiff:
    """All changes of meaning between two sides."""
    pairs = pair_messages(older, newer)
    found = [message for pair in pairs if (message := _changes_of(pair, older, newer)) is not None]
    return SchemaDiff(older.name, newer.name, tuple(found), len(pairs) - len(found), left_out(older, newer))


def _changes_of(pair: MessagePair, older: Side, newer: Side) -> MessageChanges | None:
    if pair.older is None:
        return _added(pair.newer, newer) if pair.newer is not None else None
    if pair.newer is None:
        return _removed(pair.older, older)
    changes = tuple(_Comparison(pair.older, pair.newer, pair, older, newer).changes())
    return MessageChanges(pair.older, pair.newer, _status(changes), changes) if changes else None


def _status(changes: tuple[Change, ...]) -> Status:
    kinds = {change.kind for change in changes}
    if "message-retired" in kinds:
        return "retired"
    return "restored" if "message-restored" in kinds else "changed"


def _added(message: MessageDefinition, side: Side) -> MessageChanges:
    text = describe(message, side.unstable_versions(message.name))
    change = Change("message-added", "", "", text, _range(message.valid_versions), (), None, location(message.place))
    return MessageChanges(None, message, "added", (change,))


def _removed(message: MessageDefinition, side: Side) -> MessageChanges:
    text = describe(message, side.unstable_versions(message.name))
    change = Change("message-removed", "", text, "", _range(message.valid_versions), (), location(message.place), None)
    return MessageChanges(message, None, "removed", (change,))


def describe(message: MessageDefinition, unstable: Versions = NO_VERSIONS) -> str:
    """A message in short: ``request, key 3, versions 0-13, flexible 9+, listeners broker``."""
    parts: list[str] = [message.type]
    if message.api_key is not None:
        parts.append(f"{key_word(message)} {message.api_key}")
    parts.append(f"{'version' if _is_single(message.valid_versions) else 'versions'} {message.valid_versions}")
    if unstable:
        parts.append(f"unstable {unstable}")
    if message.flexible_versions:
        parts.append(f"flexible {_open(message.flexible_versions, message.valid_versions)}")
    if message.listeners:
        parts.append(f"listeners {' '.join(message.listeners)}")
    return ", ".join(parts)


def key_word(message: MessageDefinition) -> str:
    """The noun for the ``apiKey`` of a message."""
    return "key" if message.type in ("request", "response") else "record type"


class _Comparison:
    """One message of both sides."""

    def __init__(
        self, older: MessageDefinition, newer: MessageDefinition, pair: MessagePair, was: Side, now: Side
    ) -> None:
        self._older = older
        self._newer = newer
        self._pair = pair
        self._unstable = (was.unstable_versions(older.name), now.unstable_versions(newer.name))
        self._shared = frozenset(older.valid_versions) & frozenset(newer.valid_versions)

    def changes(self) -> Iterator[Change]:
        yield from self._identity()
        yield from self._versions()
        if self._older.valid_versions and self._newer.valid_versions:
            yield from self._by_version()
            yield from self._of_versions()
            yield from self._listeners()
            yield from field_changes(self._older, self._newer)

    def _identity(self) -> Iterator[Change]:
        older, newer, pair = self._older, self._newer, self._pair
        if older.name != newer.name and not self._has_new_form():
            yield self._whole("message-renamed", older.name, newer.name, "name")
        if self._has_new_form():
            sources = (pair.older_source or older, pair.newer_source or newer)
            was, now = (_form(message, source) for message, source in zip((older, newer), sources, strict=True))
            yield self._whole("record-form", was, now, "type")
        elif older.type != newer.type:
            yield self._whole("type", older.type, newer.type, "type")
        if older.api_key != newer.api_key:
            yield self._whole("api-key", _key(older), _key(newer), "apiKey")

    def _has_new_form(self) -> bool:
        """Whether one side has a coordinator record as a ``data`` message."""
        return self._pair.older_source not in (None, self._older) or self._pair.newer_source not in (None, self._newer)

    def _versions(self) -> Iterator[Change]:
        was, now = self._older.valid_versions, self._newer.valid_versions
        if frozenset(was) == frozenset(now):
            return
        kind: ChangeKind = "message-retired" if not now else "valid-versions" if was else "message-restored"
        versions = ranges_of(frozenset(was) ^ frozenset(now))
        older, newer = self._locations("validVersions")
        yield Change(kind, "", str(was), str(now), versions, (), older, newer)

    def _by_version(self) -> Iterator[Change]:
        """Attributes that each version has: flexible encoding, headers."""
        older, newer = self._older, self._newer
        yield from self._compared(
            "flexible",
            lambda version: _flexible(older, version),
            lambda version: _flexible(newer, version),
            "flexibleVersions",
        )
        if older.header_versions is not None or newer.header_versions is not None:
            was, now = _headers(older), _headers(newer)
            yield from self._compared("header-version", was, now, "headerVersions")

    def _compared(
        self, kind: ChangeKind, was: Callable[[int], str], now: Callable[[int], str], attribute: str
    ) -> Iterator[Change]:
        before = predecessors(frozenset(self._older.valid_versions), frozenset(self._newer.valid_versions))
        found: dict[tuple[str, str], set[int]] = {}
        for version, predecessor in before.items():
            texts = was(predecessor), now(version)
            if texts[0] != texts[1]:
                found.setdefault(texts, set()).add(version)
        older, newer = self._locations(attribute)
        for texts, versions in found.items():
            at = frozenset(versions)
            yield Change(kind, "", *texts, ranges_of(at), ranges_of(at & self._shared), older, newer)

    def _of_versions(self) -> Iterator[Change]:
        """Deprecated and unstable versions, without versions that are no longer valid."""
        still = self._older.valid_versions.intersect(self._newer.valid_versions)
        deprecated = self._older.deprecated_versions, self._newer.deprecated_versions
        unstable = self._unstable
        yield from self._ranges("deprecated-versions", deprecated, still, "deprecatedVersions")
        yield from self._ranges("unstable-versions", unstable, still, "latestVersionUnstable")

    def _ranges(
        self, kind: ChangeKind, ranges: tuple[Versions, Versions], still: Versions, attribute: str
    ) -> Iterator[Change]:
        was, now = ranges[0].intersect(still), ranges[1].intersect(self._newer.valid_versions)
        if frozenset(was) != frozenset(now):
            older, newer = self._locations(attribute)
            versions = frozenset(was) ^ frozenset(now)
            in_place = ranges_of(versions & self._shared)
            yield Change(kind, "", _text(was), _text(now), ranges_of(versions), in_place, older, newer)

    def _listeners(self) -> Iterator[Change]:
        was, now = self._older.listeners, self._newer.listeners
        if set(was) != set(now):
            yield self._whole("listeners", " ".join(was) or "none", " ".join(now) or "none", "listeners")

    def _whole(self, kind: ChangeKind, was: str, now: str, attribute: str) -> Change:
        """A change of all versions."""
        older, newer = self._locations(attribute)
        versions = ranges_of(frozenset(self._newer.valid_versions))
        return Change(kind, "", was, now, versions, ranges_of(self._shared), older, newer)

    def _locations(self, attribute: str) -> tuple[Location, Location]:
        return location(self._older.place, attribute), location(self._newer.place, attribute)


def _form(message: MessageDefinition, source: MessageDefinition) -> str:
    """How a side defines a coordinator record; the version of a key that is a ``data`` message is the record type."""
    if source is message:
        return f"{message.type} of record type {message.api_key}"
    name = "" if source.name == message.name else f" {source.name}"
    form = f"{'' if name else 'a '}{source.type} message{name}"
    return f"version {message.api_key} of {form}" if message.type == "coordinator-key" else form


def _key(message: MessageDefinition) -> str:
    return "none" if message.api_key is None else str(message.api_key)


def _flexible(message: MessageDefinition, version: int) -> str:
    return "flexible" if version in message.flexible_versions else "not flexible"


def _headers(message: MessageDefinition) -> Callable[[int], str]:
    """Version to header version; only requests and responses have headers."""
    _, headers = header_versions(message)
    return lambda version: str(headers.get(version, "none"))


def _range(versions: Versions) -> tuple[Versions, ...]:
    return (versions,) if versions else ()


def _text(versions: Versions) -> str:
    return str(versions) if versions else "none"


def _is_single(versions: Versions) -> bool:
    return versions.lowest == versions.highest


def _open(versions: Versions, valid: Versions) -> str:
    """The valid part of a range, written with ``+`` if the range has no end."""
    clipped = versions.intersect(valid)
    return f"{clipped.lowest}+" if clipped and versions.is_open else _text(clipped)
