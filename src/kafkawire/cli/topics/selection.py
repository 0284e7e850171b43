"""The topics that a command is about: names and patterns, resolved with what the cluster has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
import typer

from kafkawire.admin import BlockingAdminClient, TopicListing
from kafkawire.cli.items import FromOption, given_items
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.visible import visible
from kafkawire.near_names import did_you_mean
from kafkawire.protocol.errors import UnknownTopicOrPartitionError

TopicsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="TOPIC...", help="Names, or patterns with *, ? and [...], in quotes: 'orders-*'."),
]
RegexOption = Annotated[
    str | None, typer.Option(metavar="REGEX", help="Topics whose whole name matches a regular expression.")
]
InternalOption = Annotated[bool, typer.Option("--internal", help="Topics of Kafka itself too.")]

_MARKS: Final = frozenset("*?[")
"""No name of a topic contains them."""

_NAMED: Final = 5
"""Topics that a question names."""


class _Named(msgspec.Struct):
    """An item of a file with topics; other fields do not matter here."""

    name: str


class ChosenTopics(msgspec.Struct, frozen=True):
    """Topics that were chosen.

    Attributes:
        names: those that exist, each once; in the order of the arguments, matches of a pattern sorted.
        unknown: names without a topic, and the error of each.
    """

    names: Sequence[str]
    unknown: Mapping[str, UnknownTopicOrPartitionError]


class TopicOptions(NamedTuple):
    """The options and arguments that choose topics.

    Attributes:
        topics: names and patterns.
        regex: matches whole names.
        file: has names and patterns too.
        internal: whether patterns and expressions find topics of Kafka itself.
    """

    topics: TopicsArgument = None
    regex: RegexOption = None
    file: FromOption = None
    internal: InternalOption = False


def wanted_names(topics: Sequence[str] | None, file: Path | None) -> list[str]:
    """The names and patterns of the arguments and the file."""
    return [*(topics or ()), *((each.name for each in given_items(file, _Named)) if file else ())]


def chosen_topics(
    client: BlockingAdminClient,
    wanted: Iterable[str],
    regex: str | None = None,
    *,
    internal: bool = False,
    timeout: float,
) -> ChosenTopics:
    """The topics of a cluster that names, patterns and a regular expression mean.

    Args:
        client: of the cluster.
        wanted, regex, internal: as for ``matching``.
        timeout: of the call.

    Raises:
        CommandError: the regular expression is malformed.
    """
    return matching(client.list_topics(include_internal=True, timeout=timeout), wanted, regex, internal=internal)


def matching(
    listed: Mapping[str, TopicListing], wanted: Iterable[str], regex: str | None = None, *, internal: bool = False
) -> ChosenTopics:
    """The topics of names, patterns and a regular expression; all if there is none of these.

    Args:
        listed: what the cluster has.
        wanted: names and patterns.
        regex: matches whole names.
        internal: whether patterns and expressions find topics of Kafka itself. A name always finds its topic.

    Raises:
        CommandError: the regular expression is malformed.
    """
    given = list(dict.fromkeys(wanted))
    found = sorted(name for name, topic in listed.items() if internal or not topic.is_internal)
    if not given and regex is None:
        return ChosenTopics(found, {})
    names: dict[str, None] = {}
    unknown: dict[str, UnknownTopicOrPartitionError] = {}
    for each in given:
        if not is_pattern(each) and each not in listed:
            question = did_you_mean(each, listed)
            reason = f"there is no such topic; {question}" if question else "there is no such topic"
            unknown[each] = UnknownTopicOrPartitionError(reason)
        elif is_pattern(each):
            names.update(dict.fromkeys(name for name in found if fnmatchcase(name, each)))
        else:
            names[each] = None
    names.update(dict.fromkeys(_matching(found, regex)))
    return ChosenTopics(list(names), unknown)


def is_pattern(text: str) -> bool:
    """Whether it is a pattern, not a name."""
    return not _MARKS.isdisjoint(text)


def _matching(names: Iterable[str], regex: str | None) -> Iterable[str]:
    if regex is None:
        return ()
    try:
        expression = re.compile(regex)
    except re.error as error:
        raise CommandError(f"--regex: {error}; give a regular expression", ExitCode.USAGE) from None
    return filter(expression.fullmatch, names)


def in_words(names: Sequence[str]) -> str:
    """The first names, and how many others there are."""
    shown = ", ".join(map(visible, names[:_NAMED]))
    rest = len(names) - _NAMED
    kind = "the topic" if len(names) == 1 else f"{len(names)} topics"
    return f"{kind} {shown}" + (f" and {rest} more" if rest > 0 else "")
