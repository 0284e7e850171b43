"""Loads the native engine, from the installation or from a zip."""

from __future__ import annotations

import importlib.machinery
import sys
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
    for suffix in importlib.machinery.EXTENSION_SUFFIXES:
        try:
            return loader.get_data(f"{loader.archive}/{_NAME.replace('.', '/')}{suffix}")
        except OSError:
            continue
    return None


def _load(library: bytes) -> ModuleType:
    # Only a zip needs these, and each process that begins would wait for them.
    from importlib.util import module_from_spec  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    with TemporaryDirectory(prefix="kafkawire-", ignore_cleanup_errors=True) as folder:
        path = Path(folder, "_native")
        path.write_bytes(library)
        loader = importlib.machinery.ExtensionFileLoader(_NAME, str(path))
        module = module_from_spec(importlib.machinery.ModuleSpec(_NAME, loader, origin=str(path)))
        loader.exec_module(module)
    sys.modules[_NAME] = module
    return module
