"""The options that select a part of a state: kinds, prefixes of topics, principals."""

from __future__ import annotations

from typing import Annotated

import typer

from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.cli.principals import check_principals
from kafkawire.declared.planned import Kind
from kafkawire.declared.selection import StateSelection
from kafkawire.near_names import did_you_mean

OnlyOption = Annotated[
    str | None,
    typer.Option(metavar="KIND,...", help=f"Only these kinds, separated by commas: {', '.join(Kind)}."),
]
TopicPrefixOption = Annotated[
    list[str] | None,
    typer.Option(metavar="PREFIX", help="Of the topics, only those whose names begin so; repeatable."),
]
PrincipalOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TYPE:NAME",
        help="Of ACLs, quotas and SCRAM users, only those of this principal, such as User:alice; repeatable.",
    ),
]


def selected(
    only: str | None, topic_prefixes: list[str] | None, principals: list[str] | None, *, internal: bool = False
) -> StateSelection:
    """The part that the options select.

    Args:
        only, topic_prefixes, principals: values of the options.
        internal: whether Kafka's internal topics are meant too.

    Raises:
        CommandError: a kind does not exist, or a principal has no type.
    """
    check_principals("--principal", principals)
    return StateSelection(
        kinds=frozenset(Kind) if only is None else frozenset(map(_kind, only.split(","))),
        topic_prefixes=tuple(topic_prefixes or ()),
        principals=frozenset(principals or ()),
        internal=internal,
    )


def _kind(name: str) -> Kind:
    try:
        return Kind(name.strip().lower())
    except ValueError:
        hint = did_you_mean(name, list(Kind)) or f"there are {', '.join(Kind)}"
        raise CommandError(f"--only: there is no kind {name!r}; {hint}", ExitCode.USAGE) from None
