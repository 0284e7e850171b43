"""The file of the user's contexts: where it is, and what it says. Completion reads it too, so this imports little."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from kafkawire.cli.outcome import CommandError, ExitCode

CONFIG_VARIABLE: Final = "KAFKAWIRE_CONFIG"
"""The environment variable that names another file."""

_LARGEST: Final = 1 << 20
"""Bytes; a file that is larger is not one of contexts."""


def config_path() -> Path:
    """The file of contexts; it need not exist."""
    named = os.environ.get(CONFIG_VARIABLE)
    if named:
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME")
    return (Path(folder) if folder else Path.home() / ".config") / "kafkawire" / "config.toml"


def read_config(path: Path) -> Mapping[str, Any]:
    """What a file of contexts says, unchecked; nothing if there is no file.

    Raises:
        CommandError: it cannot be read, or is not TOML.
    """
    text = config_text(path)
    if not text:
        return {}
    import tomllib  # noqa: PLC0415 most users have no contexts

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise CommandError(f"{path}: this is not TOML: {said}; correct the file", ExitCode.USAGE) from None


def config_text(path: Path) -> str:
    """The text of a file of contexts; empty if there is no file.

    Raises:
        CommandError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return ""
    if len(content) > _LARGEST:
        raise CommandError(f"{path}: it is larger than 1 MiB, so it holds no contexts; name another file")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise CommandError(f"{path}: this is not UTF-8; correct the file", ExitCode.USAGE) from None


def tables_of_contexts(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The contexts of a file by name, unchecked; none if what is there is no table."""
    contexts = config.get("contexts")
    return contexts if isinstance(contexts, dict) else {}
