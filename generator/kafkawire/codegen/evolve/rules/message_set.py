"""Messages that only one side has, and messages that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafkawire.codegen.definition import MessageDefinition
from kafkawire.codegen.evolve.rules.rule import Change, EvolutionRule, SetChange
from kafkawire.codegen.evolve.rules.versions import CONV_RETIRE
from kafkawire.codegen.versions import NO_VERSIONS, Versions


@EvolutionRule(
    "conv-new-message",
    "A new message starts at version 0 and is flexible from there on.",
    "A version that is not flexible can never get a tagged field: the first addition costs a new version.",
    ("risky",),
).for_sides
def new_message(sides: SetChange) -> Iterator[Change]:
    """Coordinator keys are never flexible (message-coordinator-key-not-flexible)."""
    for pair in sides.pairs:
        message = pair.newer
        if pair.older is not None or message is None or not message.valid_versions or message.type == "coordinator-key":
            continue
        if message.valid_versions.lowest != 0:
            reason = (
                "a new message that does not begin at version 0, so the layouts of the versions below are not known"
            )
            lowest = frozenset({message.valid_versions.lowest})
            yield Change("risky", lowest, reason, message.place, "validVersions", message.name)
        stiff = frozenset(version for version in message.valid_versions if version not in message.flexible_versions)
        reason = "a new message that is not flexible, so even a small addition will need a new version"
        yield Change("risky", stiff, reason, message.place, "flexibleVersions", message.name)


@CONV_RETIRE.for_sides
def message_gone(sides: SetChange) -> Iterator[Change]:
    """The file is gone, so nothing reserves its key."""
    for pair in sides.pairs:
        message = pair.older
        if pair.newer is not None or message is None:
            continue
        source = pair.older_source or message
        versions = frozenset(message.valid_versions) or frozenset({0})
        if message.api_key is not None:
            reason = (
                f"the file is gone, so apiKey {message.api_key} can be given to another message, "
                "which peers that know this one would misread"
            )
            yield Change("breaking", versions, reason, source.place, "apiKey", message.name)
        else:
            reason = "the file is gone, so what peers still send or have written of this message can no longer be read"
            yield Change("risky", versions, reason, source.place, "name", message.name)


@EvolutionRule(
    "conv-pair",
    "A request and its response have the same versions.",
    "A client that sends a request in a version without a response cannot read the answer.",
    ("breaking",),
).for_sides
def pairs(sides: SetChange) -> Iterator[Change]:
    """Reported at the message that lacks the version, unless the older side lacks it too."""
    before = _by_key(pair.older for pair in sides.pairs)
    for key, both in _by_key(pair.newer for pair in sides.pairs).items():
        request, response = both.get("request"), both.get("response")
        if request is None or response is None:
            continue
        for message, other in ((request, response), (response, request)):
            was, was_other = (before.get(key, {}).get(side.type) for side in (message, other))
            old = _lacking(_valid(was), _valid(was_other))
            versions = _lacking(message.valid_versions, other.valid_versions) - old
            what = "answer" if message is response else "request"
            reason = f"{other.name} has this version and {message.name} does not, so there is no {what} for it"
            yield Change("breaking", versions, reason, message.place, "validVersions", message.name)


def _by_key(messages: Iterator[MessageDefinition | None]) -> Mapping[int, Mapping[str, MessageDefinition]]:
    found: dict[int, dict[str, MessageDefinition]] = {}
    for message in messages:
        if message is not None and message.type in ("request", "response") and message.api_key is not None:
            found.setdefault(message.api_key, {})[message.type] = message
    return found


def _valid(message: MessageDefinition | None) -> Versions:
    return NO_VERSIONS if message is None else message.valid_versions


def _lacking(message: Versions, other: Versions) -> frozenset[int]:
    return frozenset(other) - frozenset(message)
