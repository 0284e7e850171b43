"""Builds the native engine with a wheel or an editable installation, where there is a C compiler.

``KAFKAWIRE_BUILD_NATIVE=0`` builds none, ``1`` fails where it cannot be built. Without it a wheel that lacks the engine
is a pure one, which is complete but slower.
"""

from __future__ import annotations

import os
import platform
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE: Final = "KAFKAWIRE_BUILD_NATIVE"
OLDEST_PYTHON: Final = "cp311"
"""The first CPython whose stable interface the engine needs; native/engine.h says it to the compiler."""


class NativeBuildHook(BuildHookInterface):  # type: ignore[type-arg] # the interface has no types
    """Adds the engine to a wheel, or puts it beside the sources of an editable installation."""

    PLUGIN_NAME = "native"
    _folder: TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the engine before hatchling gathers the files of the wheel.

        Raises:
            RuntimeError: the engine must be built and cannot be.
        """
        package = Path(self.root, "src", "kafkawire")
        wish = os.environ.get(VARIABLE, "")
        if wish not in {"", "0", "1"}:
            raise RuntimeError(f"{VARIABLE} is {wish!r}: it must be 0 (never) or 1 (must), or unset")
        if version == "editable":
            for stale in (*package.glob("_native.*.so"), *package.glob("_native*.pyd")):
                stale.unlink()
        if wish == "0":
            return
        self._folder = TemporaryDirectory(prefix="kafkawire-native-")
        try:
            library = compile_engine(Path(self.root, "native"), Path(self._folder.name))
        except Exception as error:
            if wish == "1":
                raise RuntimeError(f"the native engine cannot be built, and {VARIABLE} is 1: {error}") from error
            self.app.display_warning(f"kafkawire is built without its native engine: {error}")
            return
        if version == "editable":
            library.replace(package / library.name)
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"{OLDEST_PYTHON}-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["force_include"][str(library)] = f"kafkawire/{library.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what only the build needed."""
        if self._folder is not None:
            self._folder.cleanup()


def compile_engine(sources: Path, target: Path, arguments: Sequence[str] = ()) -> Path:
    """Compile the engine.

    Args:
        sources: the folder of the sources.
        target: a folder for what the compiler writes.
        arguments: further arguments of compiler and linker.

    Returns:
        The library.
    """
    if platform.python_implementation() != "CPython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise RuntimeError("this interpreter has not the stable interface of CPython")
    from setuptools import Distribution, Extension  # noqa: PLC0415 an editable installation may lack it
    from setuptools.command.build_ext import build_ext  # noqa: PLC0415

    is_microsoft = os.name == "nt"
    extension = Extension(
        "_native",
        sorted(map(str, sources.glob("*.c"))),
        py_limited_api=True,
        extra_compile_args=["/O2", "/std:c11"]
        if is_microsoft
        else ["-O3", "-g0", "-std=c11", "-fvisibility=hidden", *arguments],
        extra_link_args=[*arguments],
    )
    command = build_ext(Distribution({"ext_modules": [extension]}))
    command.build_lib = str(target)
    command.build_temp = str(target / "objects")
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath("_native"))
