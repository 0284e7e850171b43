"""Runs pytest with a native engine that checks its own memory accesses and arithmetic: ``make sanitize``.

The engine is compiled with the address and the undefined-behaviour sanitizer of gcc, and comes before the one that is
installed on Python's path. All of Python's objects are allocated one by one, so that the sanitizer sees each.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g", "-Wall", "-Wextra", "-Werror")
UNAVOIDABLE = ("-Wno-missing-field-initializers", "-Wno-cast-function-type")
"""Warnings about the tables that CPython wants."""


def run_sanitized(arguments: Sequence[str]) -> tuple[int, str]:
    """Run pytest with such an engine.

    Returns:
        The exit code; and what pytest has printed, and the sanitizers after it.
    """
    with TemporaryDirectory(prefix="kafkawire-sanitized-") as name:
        library = _compiled(Path(name, "build"))
        package = Path(name, "path", "kafkawire")
        package.mkdir(parents=True)
        library.rename(package / library.name)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                "LD_PRELOAD": _runtime("libasan.so"),
                "ASAN_OPTIONS": f"detect_leaks=0:allocator_may_return_null=1:log_path={name}/report",
                "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={name}/report",
                "PYTHONMALLOC": "malloc",
                "PYTHONPATH": os.pathsep.join([str(package.parent), os.environ.get("PYTHONPATH", "")]),
                "KAFKAWIRE_ENGINE": "native",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        reports = [file.read_text() for file in sorted(Path(name).glob("report*"))]
        return done.returncode, "\n".join([done.stdout, *reports])


def _compiled(target: Path) -> Path:
    """The engine, compiled in a process of its own: where pip was imported, setuptools takes Python's old distutils."""
    program = (
        "import pathlib, runpy, sys; sources, target, *arguments = sys.argv[1:]; sources = pathlib.Path(sources);"
        "compile_engine = runpy.run_path(str(sources / 'hatch_build.py'))['compile_engine'];"
        "compile_engine(sources, pathlib.Path(target), arguments)"
    )
    subprocess.run([sys.executable, "-c", program, ROOT / "native", target, *SANITIZERS, *UNAVOIDABLE], check=True)
    (library,) = target.glob("_native*")
    return library


def _runtime(library: str) -> str:
    """The path of a library of the compiler; Python is not linked with it, so it is loaded first."""
    found = subprocess.run(["gcc", f"-print-file-name={library}"], stdout=subprocess.PIPE, text=True, check=True)
    return found.stdout.strip()


if __name__ == "__main__":
    exit_code, output = run_sanitized(sys.argv[1:])
    print(output)
    sys.exit(exit_code)
