"""Which cluster a command works on: by its options, the environment, or the current context.

Completion selects the cluster in the same way, so this imports little.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from kafkawire.cli.access.config_file import config_path, read_config, tables_of_contexts
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.near_names import did_you_mean

CONTEXT_VARIABLE: Final = "KAFKAWIRE_CONTEXT"
SERVER_VARIABLE: Final = "KAFKAWIRE_BOOTSTRAP_SERVER"

_NO_CLUSTER: Final = (
    "no cluster is named; give --bootstrap-server HOST:PORT, --command-config FILE or --context NAME, or make a "
    "context: kafkawire context set NAME --bootstrap-server HOST:PORT, then kafkawire context use NAME"
)


class NamedCluster(NamedTuple):
    """What the options of a command say of the cluster; each is None if it is not given.

    Attributes:
        bootstrap_server, bootstrap_controller: nodes to ask first.
        command_config: the path of a properties file.
        context: the name of a context.
    """

    bootstrap_server: str | None = None
    bootstrap_controller: str | None = None
    command_config: str | None = None
    context: str | None = None


class Selection(NamedTuple):
    """The cluster that was selected.

    Attributes:
        named: nodes and properties file, as the options or the environment name them.
        context: the name of the context that supplies the rest; None if there is none.
        source: what selected the cluster: ``--context prod``, ``the current context prod``; empty if the options name
            its nodes.
        config: what the file of contexts says; empty if it was not read.
    """

    named: NamedCluster
    context: str | None = None
    source: str = ""
    config: Mapping[str, Any] = {}


def select(named: NamedCluster) -> Selection:
    """Select the cluster.

    Raises:
        CommandError: nothing names a cluster, a context does not exist, or options contradict each other.
    """
    if named.bootstrap_server is not None and named.bootstrap_controller is not None:
        raise CommandError("--bootstrap-server and --bootstrap-controller: give one of them", ExitCode.USAGE)
    if named.context is not None:
        if named.command_config is not None:
            message = "--context and --command-config: both name properties; give one of them"
            raise CommandError(message, ExitCode.USAGE)
        return _of_context(named, named.context, f"--context {named.context}")
    if any(named):
        return Selection(named)
    by_environment = os.environ.get(CONTEXT_VARIABLE)
    if by_environment:
        return _of_context(named, by_environment, f"{CONTEXT_VARIABLE}={by_environment}")
    servers = os.environ.get(SERVER_VARIABLE)
    if servers:
        return Selection(named._replace(bootstrap_server=servers), source=f"{SERVER_VARIABLE}={servers}")
    current = current_context(read_config(config_path()))
    if current is None:
        raise CommandError(_NO_CLUSTER, ExitCode.USAGE)
    return _of_context(named, current, f"the current context {current}")


def current_context(config: Mapping[str, Any]) -> str | None:
    """The name of the context that a file of contexts says is current."""
    current = config.get("current")
    return current if isinstance(current, str) and current else None


def _of_context(named: NamedCluster, name: str, source: str) -> Selection:
    config = read_config(config_path())
    require_context(config, name)
    return Selection(named, name, source, config)


def require_context(config: Mapping[str, Any], name: str) -> None:
    """Check that a context exists.

    Raises:
        CommandError: it does not; names similar ones.
    """
    known = tables_of_contexts(config)
    if name in known:
        return
    hint = did_you_mean(name, known) or (
        f"there are {', '.join(sorted(known))}" if known else "kafkawire context set NAME makes one"
    )
    raise CommandError(f"there is no context {name!r} in {config_path()}; {hint}", ExitCode.USAGE)
