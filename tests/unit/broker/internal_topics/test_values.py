"""The values that coordinators have are as immutable as the records that they are made of."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import pytest

import kafkawire.broker
from kafkawire.wire.message import Struct


def values(package: str) -> Iterator[type[Struct]]:
    """The classes of values in the modules of a package of the broker."""
    folders = [f"{folder}/{package}" for folder in kafkawire.broker.__path__]
    for module in pkgutil.walk_packages(folders, f"kafkawire.broker.{package}."):
        for each in vars(importlib.import_module(module.name)).values():
            if isinstance(each, type) and issubclass(each, Struct) and each.__module__ == module.name:
                yield each


@pytest.mark.parametrize("package", ["groups", "share_coordinator", "shares", "transactions"])
def test_values_cannot_be_changed_and_need_no_garbage_collector(package: str) -> None:
    found = [*values(package)]
    assert found
    for each in found:
        config = each.__struct_config__
        assert (config.frozen, config.gc) == (True, False), each
