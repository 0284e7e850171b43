"""From a selected cluster to the arguments of its client: properties, secrets, login and times."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, cast

import msgspec

from kafkawire.admin import AdminSettings, OAuthBearerCredentials, PlainCredentials, ScramCredentials
from kafkawire.admin.client_properties import ClientArguments, client_arguments
from kafkawire.admin.connection.sasl.credentials import Credentials
from kafkawire.cli.access.advice import in_words_of_the_command
from kafkawire.cli.access.config_file import config_path
from kafkawire.cli.access.contexts import Context, Login, Value, context_named
from kafkawire.cli.access.secret_references import SecretReference, located
from kafkawire.cli.access.selection import Selection
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.model.properties_file import PropertiesError, parse_properties

DEFAULT_TIMEOUT: Final = 30.0
"""Seconds that a call may take if nothing says otherwise: half of what Kafka's tools have, for a person who waits."""

_ENCODING: Final = "iso-8859-1"
_LARGEST: Final = 1 << 20
TIMEOUT_PROPERTY: Final = "default.api.timeout.ms"
"""The property of Java's clients for the time of a call."""

_PROTOCOL: Final = "security.protocol"


class ClusterAccess:
    """How to reach the cluster that was selected.

    Args:
        selection: the cluster.
        timeout: seconds that a call may take, as the user says; None if the user does not.

    Raises:
        CommandError: the context is malformed, or the file of properties cannot be read.

    Attributes:
        selection: the cluster.
        context: its context; None if there is none.
        properties: of a Java client, from the file and the context; values may still be references to secrets.
        timeout: seconds that a call may take.
    """

    def __init__(self, selection: Selection, timeout: float | None = None) -> None:
        self.selection = selection
        self.context: Context | None = None
        self.properties: dict[str, Value] = {}
        if selection.context is not None:
            self.context = context_named(selection.config, selection.context, config_path())
        path = self.properties_path
        if path is not None:
            self.properties.update(_properties_in(path))
        if self.context is not None:
            self.properties.update(self.context.properties)
        of_context = self.context.timeout if self.context is not None else None
        self._timeout = timeout or of_context
        self.timeout = self._timeout or self._timeout_of_properties()

    @property
    def properties_path(self) -> Path | None:
        """The file of properties that the options or the context name."""
        if self.selection.named.command_config is not None:
            return Path(self.selection.named.command_config)
        if self.context is None or self.context.properties_file is None:
            return None
        return located(self.context.properties_file, config_path().parent)

    @property
    def where(self) -> str:
        """What holds the settings, for errors."""
        if self.selection.context is not None:
            return f"context {self.selection.context}"
        return str(self.properties_path or "--bootstrap-server")

    def client_arguments(self) -> ClientArguments:
        """The arguments of a client; reads the secrets.

        Raises:
            CommandError: a secret cannot be had, or a property cannot be honoured.
        """
        servers, controllers = self._nodes()
        try:
            given = client_arguments(
                self._texts(), bootstrap_servers=servers, bootstrap_controllers=controllers,
                credentials=self._credentials(), source=self.where,
            )  # fmt: skip
        except ValueError as error:
            raise CommandError(in_words_of_the_command(str(error)), ExitCode.USAGE) from None
        settings = given.settings or AdminSettings()
        settings = msgspec.structs.replace(
            settings, call_timeout=self.timeout, request_timeout=min(settings.request_timeout, self.timeout)
        )
        return msgspec.structs.replace(given, settings=settings)

    def _nodes(self) -> tuple[str | None, str | None]:
        named, context = self.selection.named, self.context
        if context is None or named.bootstrap_server is not None or named.bootstrap_controller is not None:
            return named.bootstrap_server, named.bootstrap_controller
        return context.bootstrap_servers, context.bootstrap_controllers

    def _texts(self) -> Mapping[str, str]:
        """The properties as the texts that a properties file would have."""
        folder = config_path().parent
        texts = {}
        for name, value in self.properties.items():
            if isinstance(value, SecretReference):
                texts[name] = value.secret(f"{self.where}: {name}", folder)
            elif isinstance(value, bool):
                texts[name] = str(value).lower()
            else:
                texts[name] = str(value)
            if self.context is not None and name in self.context.properties and name.endswith(".location"):
                texts[name] = str(located(texts[name], folder))
        return texts

    def _credentials(self) -> Credentials | None:
        login = self.context.login if self.context is not None else None
        if login is None:
            return None
        if not str(self.properties.get(_PROTOCOL, "")).strip().upper().startswith("SASL_"):
            raise CommandError(
                f"{self.where}: login needs the property {_PROTOCOL}; set it to SASL_SSL, or to SASL_PLAINTEXT for a "
                "listener without TLS",
                ExitCode.USAGE,
            )
        try:
            return _credentials_of(login, f"{self.where}: login", config_path().parent)
        except ValueError as error:
            raise CommandError(f"{self.where}: login: {error}", ExitCode.USAGE) from None

    def _timeout_of_properties(self) -> float:
        try:
            return float(str(self.properties[TIMEOUT_PROPERTY])) / 1000 or DEFAULT_TIMEOUT
        except (KeyError, ValueError):  # the client says what is wrong with it
            return DEFAULT_TIMEOUT


def _credentials_of(login: Login, where: str, folder: Path) -> Credentials:
    if login.token is not None:
        return OAuthBearerCredentials(login.token.secret(f"{where}.token", folder))
    password = login.password.secret(f"{where}.password", folder) if login.password is not None else ""
    if login.mechanism == "PLAIN":
        return PlainCredentials(login.username, password)
    mechanism = cast(Literal["SCRAM-SHA-256", "SCRAM-SHA-512"], login.mechanism)
    return ScramCredentials(login.username, password, mechanism, is_delegation_token=login.delegation_token)


def _properties_in(path: Path) -> Mapping[str, str]:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise CommandError(
            f"{path}: there is no such file; name the properties file of a client", ExitCode.USAGE
        ) from None
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}; name the properties file of a client", ExitCode.USAGE) from None
    if len(content) > _LARGEST:
        raise CommandError(f"{path}: it is larger than 1 MiB; name the properties file of a client", ExitCode.USAGE)
    try:
        return parse_properties(content.decode(_ENCODING))
    except PropertiesError as error:
        raise CommandError(f"{path}: {error}", ExitCode.USAGE) from None
