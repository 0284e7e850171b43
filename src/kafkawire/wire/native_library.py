"""Loads the native engine, from the installation or from a zip."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from zipimport import zipimporter

if TYPE_CHECKING:
    from types import ModuleType

_NAME = "kafkawire._native"


def load_native() -> ModuleType:
    """The library.

    Raises:
        ModuleNotFoundError: this installation does not have it.
        ImportError: it cannot be loaded.
    """
    try:
        return importlib.import_module(_NAME)
    except ModuleNotFoundError:
        library = _from_zip()
        if library is None:
            raise
        return _load(library)


def _from_zip() -> bytes | None:
    """The bytes of the library in the zip that has this module; Python loads no library from a zip itself."""
    loader: object = __spec__.loader
    if not isinstance(loader, zipimporter):
        return None
    for suffix in EXTENSION_SUFFIXES:
        try:
            return loader.get_data(str(Path(loader.archive, *_NAME.split(".")).with_suffix(suffix)))
        except OSError:
            continue
    return None


def _load(library: bytes) -> ModuleType:
    with TemporaryDirectory(prefix="kafkawire-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "_native")
        path.write_bytes(library)
        loader = ExtensionFileLoader(_NAME, str(path))
        module = importlib.util.module_from_spec(ModuleSpec(_NAME, loader, origin=str(path)))
        loader.exec_module(module)
    sys.modules[_NAME] = module
    return module
