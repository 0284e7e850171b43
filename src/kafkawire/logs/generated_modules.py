"""A generated package without files: its modules are sent as text and imported from memory.

So a Spark worker can decode records whose definitions only the driver has.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


@dataclass(frozen=True)
class GeneratedModules:
    """The modules of one package.

    Attributes:
        package: its name, which is unique to its content.
        sources: text of each module by its full name.
        packages: the names that are packages.
    """

    package: str
    sources: Mapping[str, str]
    packages: frozenset[str]

    def install(self) -> None:
        """Make the package importable in this process. Further calls have no effect."""
        if not any(isinstance(finder, _Finder) and finder.modules.package == self.package for finder in sys.meta_path):
            sys.meta_path.append(_Finder(self))


class _Finder(MetaPathFinder):
    def __init__(self, modules: GeneratedModules) -> None:
        self.modules = modules

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.modules.sources:
            return None
        loader = _Loader(self.modules)
        return importlib.util.spec_from_loader(fullname, loader, is_package=loader.is_package(fullname))


class _Loader(InspectLoader):
    """Loads a module from its text; ``get_source`` makes tracebacks show its lines."""

    def __init__(self, modules: GeneratedModules) -> None:
        self._modules = modules

    def get_source(self, fullname: str) -> str:
        return self._modules.sources[fullname]

    def is_package(self, fullname: str) -> bool:
        return fullname in self._modules.packages
