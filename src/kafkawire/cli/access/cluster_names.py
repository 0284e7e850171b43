"""Names of topics, groups and the like for completion: from a cache, or from the cluster within a second.

A process of its own asks the cluster. What is not there after a second is there at the next Tab. This module imports
little: it runs at each press of the Tab key.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kafkawire.cli.access.config_file import config_path, read_config, tables_of_contexts
from kafkawire.cli.access.selection import NamedCluster, Selection, select
from kafkawire.cli.outcome import CommandError

SECONDS_TO_WAIT: Final = 1.0
"""For the names of a cluster that are not in the cache."""

_SECONDS_FRESH: Final = 300.0
_SECONDS_BETWEEN_ATTEMPTS: Final = 15.0
_LARGEST: Final = 1 << 22
_FETCHER: Final = "kafkawire.cli.access.fetched_names"


def names_of_contexts() -> Sequence[str]:
    """The names of the user's contexts; none if the file cannot be read."""
    with contextlib.suppress(CommandError, OSError):
        return sorted(tables_of_contexts(read_config(config_path())))
    return ()


def names_of_cluster(kind: str, options: Mapping[str, str]) -> Sequence[str]:
    """The names of a kind, in order.

    Args:
        kind: topics, groups, users, principals or brokers.
        options: those of the command that name the cluster, such as ``--context``, to their values.

    Returns:
        Names that a shell takes as they are; none if there is no cluster, or it does not answer in time.
    """
    named = NamedCluster(
        options.get("--bootstrap-server"),
        options.get("--bootstrap-controller"),
        options.get("--command-config"),
        options.get("--context"),
    )
    try:
        file = _file_of(select(named), kind)
        if not _is_fresh(file):
            _fetch(kind, named, file)
        return _read(file)
    except (CommandError, OSError, ValueError):
        return ()


def _file_of(selection: Selection, kind: str) -> Path:
    """The cache of a cluster: another for each way to reach it, since users see different things."""
    context = tables_of_contexts(selection.config).get(selection.context or "")
    way = json.dumps([selection.named, str(config_path()), selection.context, context], default=str, sort_keys=True)
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kafkawire" / "names"
    return folder / hashlib.sha256(way.encode()).hexdigest()[:32] / f"{kind}.json"


def _is_fresh(file: Path) -> bool:
    return _age(file) < _SECONDS_FRESH


def _age(file: Path) -> float:
    """The seconds since a file was written; endless if there is none."""
    try:
        return max(0.0, time.time() - file.stat().st_mtime)
    except OSError:
        return float("inf")


def _read(file: Path) -> Sequence[str]:
    with file.open("rb") as opened:
        names = json.loads(opened.read(_LARGEST))
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else ()


def _fetch(kind: str, named: NamedCluster, file: Path) -> None:
    """Have another process write the file, unless one tried a moment ago, and wait for it a second."""
    attempt = file.with_suffix(".attempt")
    if _age(attempt) < _SECONDS_BETWEEN_ATTEMPTS:
        return
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    attempt.touch(mode=0o600)
    import subprocess  # noqa: PLC0415 most completions need no process

    fetcher = subprocess.Popen(
        [sys.executable, "-m", _FETCHER, kind, str(file), json.dumps(named)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with contextlib.suppress(subprocess.TimeoutExpired):
        fetcher.wait(SECONDS_TO_WAIT)
