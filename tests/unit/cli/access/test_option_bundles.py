"""A command that takes a NamedTuple of options: the user gets each of them."""

from __future__ import annotations

import inspect
from typing import Annotated, NamedTuple

import typer
from typer.testing import CliRunner

from kafkawire.cli.access.cluster_command import GivenOptions, clusters_command
from kafkawire.cli.access.option_bundles import is_bundle

SizeOption = Annotated[int, typer.Option(help="A size.")]
NamesOption = Annotated[list[str] | None, typer.Option("--name", help="A name.")]


class ShapeOptions(NamedTuple):
    """Two options."""

    size: SizeOption = 3
    names: NamesOption = None


def described(
    options: GivenOptions, words: Annotated[list[str] | None, typer.Argument()] = None, *, shape: ShapeOptions,
    loud: Annotated[bool, typer.Option("--loud")] = False,
) -> None:  # fmt: skip
    """Print what is given."""
    print(words, shape, loud, options.context)


def printed(*arguments: str) -> str:
    app = typer.Typer()
    app.command()(clusters_command(described))
    return CliRunner().invoke(app, list(arguments)).stdout.strip()


def test_given_options_reach_the_command_as_one_value() -> None:
    given = printed("a", "--name", "x", "--name", "y", "--size", "5", "--loud", "--context", "prod")
    assert given == f"{['a']} {ShapeOptions(5, ['x', 'y'])} True prod"


def test_options_that_are_not_given_have_the_defaults_of_the_bundle() -> None:
    assert printed() == f"None {ShapeOptions()} False None"


def test_options_stand_in_place_of_their_bundle_and_those_of_the_cluster_last() -> None:
    names = list(inspect.signature(clusters_command(described)).parameters)
    assert names == ["words", "size", "names", "loud", *GivenOptions._fields]


def test_the_command_keeps_its_name_and_documentation() -> None:
    command = clusters_command(described)
    assert (command.__name__, command.__doc__) == ("described", "Print what is given.")


def test_only_named_tuples_are_bundles() -> None:
    assert is_bundle(ShapeOptions)
    assert not any(map(is_bundle, [tuple, list[str], str, None, SizeOption]))
