"""Rules about headerVersions, the map from message versions to header versions.

Invalid entries are rejected while the map is read, so the rules here see only valid entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise

from kafkawire.codegen.check.rule import Located, MessageSet, Rule, of_message
from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.versions import Versions

API_VERSIONS_KEY = 18
"""ApiVersions: its response has header 0 in every version, so that old clients can read it."""

_FIRST_FLEXIBLE_HEADER = {"request": 2, "response": 1}
_HEADER_NAMES = {"request": "RequestHeader", "response": "ResponseHeader"}

BAD_RANGE = Rule(
    "header-versions-bad-range",
    "Every key of headerVersions is a version range with at least one version.",
    'write the range as "0-3" or "4+"',
)
BAD_VALUE = Rule(
    "header-versions-bad-value",
    "Every value of headerVersions is a header version, a number from 0 to 32767.",
    'write the header version as text, as in "2"',
)


def entry_attribute(versions: Versions) -> str:
    """The attribute name of an entry in the place of a message."""
    return f"headerVersions.{versions}"


def _entries(message: MessageDefinition) -> tuple[tuple[Versions, int], ...]:
    return message.header_versions or ()


def _neighbours(message: MessageDefinition) -> Iterator[tuple[Versions, Versions]]:
    """Each range, after the range before it with the highest end."""
    ranges = [versions for versions, _ in _entries(message)]
    return zip(accumulate(ranges, _higher_reaching), ranges[1:], strict=False)


def _higher_reaching(one: Versions, other: Versions) -> Versions:
    return max(one, other, key=lambda range_: range_.highest)


@Rule("header-versions-only-rpc", "Only requests and responses have headers.", 'remove "headerVersions"').for_messages(
    "type", "headerVersions"
)
def only_rpc(message: MessageDefinition) -> Iterator[Located]:
    """Records and data have no header."""
    if message.header_versions is not None and message.type not in _HEADER_NAMES:
        yield of_message(message, "headerVersions", f'headerVersions on type "{message.type}"')


@Rule(
    "header-versions-not-when-none", "A retired message has no header versions.", 'remove "headerVersions"'
).for_messages("validVersions")
def not_when_none(message: MessageDefinition) -> Iterator[Located]:
    """Without versions, there are no headers."""
    if message.header_versions is not None and not message.valid_versions:
        yield of_message(message, "headerVersions", 'headerVersions although validVersions is "none"')


@Rule(
    "header-versions-empty",
    "A map of header versions has entries.",
    'write the map from version 0 on, as in {"0-8": "1", "9+": "2"}',
).for_messages("headerVersions")
def empty(message: MessageDefinition) -> Iterator[Located]:
    """An empty map has no meaning."""
    if message.header_versions == ():
        yield of_message(message, "headerVersions", "headerVersions is empty")


@Rule(
    "header-versions-start-zero",
    "The map of header versions begins at version 0, even if that version is no longer valid.",
    "begin the first range at 0",
).for_messages("headerVersions")
def start_zero(message: MessageDefinition) -> Iterator[Located]:
    """Old versions keep their header."""
    for versions, _ in _entries(message)[:1]:
        if versions.lowest != 0:
            yield of_message(message, entry_attribute(versions), f'the lowest range is "{versions}"')


@Rule(
    "header-versions-open-not-last",
    "Only the last range of the map of header versions is open-ended.",
    "end the range where the next one begins",
).for_messages("headerVersions")
def open_not_last(message: MessageDefinition) -> Iterator[Located]:
    """A range after an open end is never used."""
    for (versions, _), (following, _) in pairwise(_entries(message)):
        if versions.is_open:
            yield of_message(
                message, entry_attribute(versions), f'the open range "{versions}" is followed by "{following}"'
            )


@Rule(
    "header-versions-overlap",
    "No version is in two ranges of the map of header versions.",
    "end each range just before the next one begins",
).for_messages("headerVersions")
def overlap(message: MessageDefinition) -> Iterator[Located]:
    """A version has one header; header-versions-open-not-last checks open ends."""
    for versions, following in _neighbours(message):
        common = versions.intersect(following)
        if common and not versions.is_open:
            yield of_message(
                message, entry_attribute(following), f'the ranges "{versions}" and "{following}" share "{common}"'
            )


@Rule(
    "header-versions-gap",
    "The ranges of the map of header versions follow each other without a gap.",
    "let each range begin just after the one before it",
).for_messages("headerVersions")
def gap(message: MessageDefinition) -> Iterator[Located]:
    """Every version has a header."""
    for versions, following in _neighbours(message):
        if following.lowest > versions.highest + 1:
            missing = Versions(versions.highest + 1, following.lowest - 1)
            yield of_message(
                message, entry_attribute(following), f'"{missing}" is missing between "{versions}" and "{following}"'
            )


@Rule(
    "header-versions-decrease",
    "Header versions do not decrease from one range to the next.",
    "give the later range the same header version or a higher one",
).for_messages("headerVersions")
def decrease(message: MessageDefinition) -> Iterator[Located]:
    """Newer versions of messages have newer headers."""
    for (versions, header), (following, later) in pairwise(_entries(message)):
        if later < header:
            yield of_message(
                message,
                entry_attribute(following),
                f'header {later} of "{following}" is below header {header} of "{versions}"',
            )


@Rule(
    "header-versions-last-open",
    "The last range of the map of header versions is open-ended.",
    "leave the end of the last range open, as in 2+",
).for_messages("headerVersions")
def last_open(message: MessageDefinition) -> Iterator[Located]:
    """So future versions have a header too."""
    entries = _entries(message)
    for versions, _ in entries[-1:]:
        if not any(range_.is_open for range_, _ in entries):
            yield of_message(
                message, entry_attribute(versions), f'the last range "{versions}" ends', f'write "{versions.lowest}+"'
            )


@Rule(
    "header-versions-above-valid",
    "No range of the map of header versions begins above the highest valid version.",
    "remove the range until the version exists",
).for_messages("headerVersions", "validVersions")
def above_valid(message: MessageDefinition) -> Iterator[Located]:
    """The header of a version that does not exist cannot be checked."""
    for versions, _ in _entries(message):
        if message.valid_versions and versions.lowest > message.valid_versions.highest:
            yield of_message(
                message,
                entry_attribute(versions),
                f'the range "{versions}" begins above validVersions "{message.valid_versions}"',
            )


def is_api_versions_response(message: MessageDefinition) -> bool:
    """Whether it is Kafka's response of that name; another protocol may have another API under the key."""
    return (message.type, message.api_key, message.name) == ("response", API_VERSIONS_KEY, "ApiVersionsResponse")


@Rule(
    "header-versions-api-versions",
    "The response of ApiVersions (key 18) has header 0 in every version.",
    'write "headerVersions": {"0+": "0"}',
).for_messages("headerVersions", "apiKey", "type")
def api_versions(message: MessageDefinition) -> Iterator[Located]:
    """A client that requests the versions does not know yet which header the broker uses."""
    for versions, header in _entries(message):
        if is_api_versions_response(message) and header != 0:
            yield of_message(message, entry_attribute(versions), f'"{versions}" has header {header}, not 0')


@Rule(
    "header-versions-flexible",
    "A flexible version has a flexible header: 2 or above for a request, 1 or above for a response.",
    "split the map where the message becomes flexible",
).for_messages("headerVersions", "flexibleVersions", "validVersions", "apiKey", "type")
def flexible(message: MessageDefinition) -> Iterator[Located]:
    """Body and header become flexible together; the response of ApiVersions is exempt."""
    first = _FIRST_FLEXIBLE_HEADER.get(message.type)
    if first is None or is_api_versions_response(message):
        return
    bodies = message.flexible_versions.intersect(message.valid_versions)
    for versions, header in _entries(message):
        common = versions.intersect(bodies)
        if common and header < first:
            yield of_message(
                message,
                entry_attribute(versions),
                f'the flexible versions "{common}" have header {header}, which is not flexible',
            )


@Rule(
    "header-versions-required",
    "If one request or response of a folder has headerVersions, all with valid versions have them.",
    'add "headerVersions", as in {"0-8": "1", "9+": "2"}',
).for_sets
def required(group: MessageSet) -> Iterator[Located]:
    """Definitions of older releases have no such map; their headers are derived."""
    calls = [message for message in group.messages if message.type in _HEADER_NAMES]
    if all(message.header_versions is None and not _is_refused(message) for message in calls):
        return
    for message in calls:
        if message.header_versions is None and not _is_refused(message) and message.valid_versions:
            yield of_message(message, "headerVersions", "no headerVersions, although others of the folder have them")


def _is_refused(message: MessageDefinition) -> bool:
    return "headerVersions" in message.place.refused


@Rule(
    "header-versions-exist",
    "A header version that a message names is a valid version of the header's definition.",
    "name a version that the header has",
).for_sets
def exist(group: MessageSet) -> Iterator[Located]:
    """No version above the highest exists; those below the lowest must not be in use."""
    for message in group.messages:
        header = group.headers.get(_HEADER_NAMES.get(message.type, ""))
        if header is None or _is_refused(message) or "validVersions" in header.place.refused:
            continue
        known = header.valid_versions
        for versions, number in _entries(message):
            in_use = versions.intersect(message.valid_versions)
            if number > known.highest or (number < known.lowest and in_use):
                yield of_message(
                    message,
                    entry_attribute(versions),
                    f'"{versions}" has header {number}, but {header.name} has the versions "{known}"',
                )
