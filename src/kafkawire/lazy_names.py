"""Packages whose names are imported when they are first used. Each public name is written once, in the stub."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.abc import ResourceLoader


def attach(package: str, file: str) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package, from the ``__init__.pyi`` beside its ``__init__.py``.

    The stub has one form: ``from module import Name as Name``, which makes a name public for type checkers.

    Args:
        package: its ``__name__``.
        file: its ``__file__``.
    """
    stub = file.removesuffix(".pyc").removesuffix(".py") + ".pyi"
    loader: ResourceLoader = sys.modules[package].__loader__  # type: ignore[assignment] # reads from a zip too
    module_of = dict(_names(loader.get_data(stub).decode()))

    def get(name: str) -> object:
        module = module_of.get(name)
        if module is None:
            # With name and object, Python's traceback names what may be meant.
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value: object = getattr(importlib.import_module(module), name)
        setattr(sys.modules[package], name, value)
        return value

    return sorted(module_of), get, lambda: sorted({*vars(sys.modules[package]), *module_of})


def _names(stub: str) -> Iterator[tuple[str, str]]:
    module = ""
    for line in stub.splitlines():
        words = line.replace("(", " ").replace(")", " ").replace(",", " ").split()
        if words[:1] == ["from"]:
            module, words = words[1], words[3:]
        for at, word in enumerate(words):
            if word == "as":
                yield words[at + 1], module
