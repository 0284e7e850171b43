"""Contexts: clusters with a name, in the user's file of contexts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from kafkawire.cli.access.config_file import tables_of_contexts
from kafkawire.cli.access.secret_references import SecretReference, is_secret
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.model.nodes import bootstrap_nodes

MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")

Value = bool | int | str | SecretReference
"""The value of a property in a context."""


class Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """As whom to log in.

    Attributes:
        mechanism: of SASL.
        username, password: for PLAIN and SCRAM.
        token: for OAUTHBEARER.
        delegation_token: whether username and password are the id and the HMAC of a delegation token (SCRAM).
    """

    mechanism: str
    username: str = ""
    password: SecretReference | None = None
    token: SecretReference | None = None
    delegation_token: bool = False

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise ValueError(f"mechanism: there is no {self.mechanism!r}; write one of {', '.join(MECHANISMS)}")
        if self.mechanism == "OAUTHBEARER":
            if self.token is None:
                raise ValueError("token: is missing, which OAUTHBEARER needs")
        elif not self.username or self.password is None:
            raise ValueError(f"{'password' if self.username else 'username'}: is missing, which {self.mechanism} needs")


class Context(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How to reach a cluster.

    Attributes:
        bootstrap_servers: brokers to ask first: ``host:port``, several separated by commas.
        bootstrap_controllers: controllers instead.
        production: whether every change of the cluster needs a yes.
        timeout: seconds that a call may take.
        properties_file: the path of a properties file of a Java client.
        properties: properties of a Java client, which win over those of the file.
        login: as whom to log in; wins over the properties.
    """

    bootstrap_servers: str | None = None
    bootstrap_controllers: str | None = None
    production: bool = False
    timeout: float | None = None
    properties_file: str | None = None
    properties: dict[str, Value] = {}
    login: Login | None = None

    def __post_init__(self) -> None:
        if self.bootstrap_servers is not None and self.bootstrap_controllers is not None:
            raise ValueError("bootstrap_servers and bootstrap_controllers: write one of them")
        if self.bootstrap_servers is not None or self.bootstrap_controllers is not None:
            bootstrap_nodes(self.nodes or "")
        if self.timeout is not None and not 0.1 <= self.timeout < float("inf"):
            raise ValueError("timeout: write a number of seconds of at least 0.1")
        for name, value in self.properties.items():
            if is_secret(name) and not isinstance(value, SecretReference):
                raise ValueError(
                    f'properties: {name} is a secret; write where it is: {{env = "VARIABLE"}}, {{file = "PATH"}} or '
                    '{command = ["PROGRAM", "WORD"]}'
                )

    @property
    def nodes(self) -> str | None:
        """The addresses to ask first, if the context itself names them."""
        return self.bootstrap_servers or self.bootstrap_controllers


def context_named(config: Mapping[str, Any], name: str, path: Path) -> Context:
    """A context of a file.

    Args:
        config: what the file says.
        name: of the context, which exists.
        path: of the file, for errors.

    Raises:
        CommandError: the context is malformed.
    """
    return checked_context(tables_of_contexts(config)[name], f"{path}: context {name}")


def checked_context(table: object, where: str) -> Context:
    """A table of a file as a context.

    Raises:
        CommandError: it is malformed; no value is in the message.
    """
    try:
        return msgspec.convert(table, Context)
    except (msgspec.ValidationError, RecursionError) as error:
        message = str(error).replace("`", "")
        raise CommandError(f"{where}: {message}; correct it", ExitCode.USAGE) from None


def contexts_of(config: Mapping[str, Any], path: Path) -> Iterator[tuple[str, Context]]:
    """All contexts of a file in the order of their names.

    Raises:
        CommandError: one is malformed.
    """
    for name in sorted(tables_of_contexts(config)):
        yield name, context_named(config, name, path)
