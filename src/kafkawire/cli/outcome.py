"""How a command ends: exit codes, and failures that are printed without a traceback."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of all commands."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    SOME_FAILED = 3
    CHANGES = 4
    INTERRUPTED = 130


class CommandError(Exception):
    """An expected failure: printed as one message, without a traceback.

    Attributes:
        message: what went wrong and what to do.
        exit_code: of the process.
    """

    def __init__(self, message: str, exit_code: ExitCode = ExitCode.FAILED) -> None:
        self.message = message
        self.exit_code = exit_code
        super().__init__(message)


_EXTRA_OF_MODULE = {
    "jinja2": "codegen",
    "hypothesis": "test",
    "markupsafe": "tables",
    "pytest": "test",
    "py4j": "spark",
    "pyarrow": "tables",
    "pyspark": "spark",
    "rich": "cli",
    "ruff": "codegen",
    "tomlkit": "cli",
    "typer": "cli",
    "yaml": "cli",
}


def missing_library_message(error: ModuleNotFoundError) -> str | None:
    """What to install, if a library of an optional extra is missing; None for any other missing module."""
    module = (error.name or "").partition(".")[0]
    extra = _EXTRA_OF_MODULE.get(module)
    if extra is None:
        return None
    extras = ",".join(sorted({"cli", extra}))
    return f"the library {module} is missing: pip install 'kafkawire[{extras}]'"
