"""The values of groups do not change, and a kind of groups is whole."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module

import pytest

import kafkawire.broker.groups as package
from kafkawire.broker.groups.assigned_groups import AssignedGroups
from kafkawire.broker.groups.live_groups import LiveGroups
from kafkawire.broker.groups.share.live_groups import ShareGroups
from kafkawire.wire.message import Struct


def structs() -> Iterator[type[Struct]]:
    """The structs that modules of groups define."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = import_module(found.name)
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == module.__name__:
                yield value


@pytest.mark.parametrize("value", [*structs()], ids=lambda value: value.__name__)
def test_a_value_is_never_changed(value: type[Struct]) -> None:
    """Groups compare members before and after an event, and a request that is refused leaves those before."""
    assert value.__struct_config__.frozen
    assert value.__struct_config__.eq


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [(LiveGroups, {"_forget_all", "_settle"}), (AssignedGroups, {"_made"}), (ShareGroups, set[str]())],
)
def test_a_kind_of_groups_says_how_they_are_made_settled_and_forgotten(kind: type, left_out: set[str]) -> None:
    assert getattr(kind, "__abstractmethods__") == left_out  # noqa: B009 type checkers do not know it
