"""What all classes and functions of coordinators have in common."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import FunctionType

import pytest

import kafkawire.broker
from kafkawire.wire.message import Struct

PACKAGES = ("groups", "internal_topics", "share_coordinator", "shares", "transactions")


def classes(package: str) -> Iterator[type]:
    """The classes in the modules of a package of the broker."""
    return (each for each in members(package) if isinstance(each, type))


def functions(package: str) -> Iterator[Callable[..., object]]:
    """The functions and methods in the modules of a package of the broker."""
    yield from (each for each in members(package) if isinstance(each, FunctionType))
    for each in classes(package):
        for member in vars(each).values():
            found = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            if isinstance(found, FunctionType) and found.__module__ == each.__module__:
                yield found


def members(package: str) -> Iterator[object]:
    folders = [f"{folder}/{package}" for folder in kafkawire.broker.__path__]
    for module in pkgutil.walk_packages(folders, f"kafkawire.broker.{package}."):
        for each in vars(importlib.import_module(module.name)).values():
            if getattr(each, "__module__", None) == module.name:
                yield each


@pytest.mark.parametrize("package", PACKAGES)
def test_values_cannot_be_changed_and_need_no_garbage_collector(package: str) -> None:
    """They are as immutable as the records that they are made of."""
    for each in classes(package):
        if issubclass(each, Struct):
            config = each.__struct_config__
            assert (config.frozen, config.gc) == (True, False), each


@pytest.mark.parametrize("package", PACKAGES)
def test_every_argument_may_be_given_by_name(package: str) -> None:
    found = [*functions(package)]
    assert found
    for each in found:
        if not each.__name__.startswith("__") or each.__name__ == "__init__":
            kinds = {parameter.kind for parameter in inspect.signature(each).parameters.values()}
            assert inspect.Parameter.POSITIONAL_ONLY not in kinds, each
