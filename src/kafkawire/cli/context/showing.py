"""``kafkawire context list``, ``current`` and ``show``."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

import typer

from kafkawire.admin.client_properties import is_client_property
from kafkawire.cli.access.client_of import TIMEOUT_PROPERTY, ClusterAccess
from kafkawire.cli.access.config_file import config_path, read_config
from kafkawire.cli.access.contexts import Context, contexts_of
from kafkawire.cli.access.secret_references import SecretReference, is_secret
from kafkawire.cli.access.selection import NamedCluster, current_context, select
from kafkawire.cli.outcome import CommandError
from kafkawire.cli.rows.formats import FormatOption, RowFormat
from kafkawire.cli.rows.printing import print_rows
from kafkawire.cli.rows.row import Row
from kafkawire.column_roles import ColumnRole

_HIDDEN: Final = "(hidden)"
_DEFAULT: Final = "default"


class ContextRow(Row, frozen=True):
    """A context in a list.

    Attributes:
        name: its name.
        is_current: whether commands use it if nothing else names a cluster.
        nodes: addresses to ask first; None if the properties file has them.
        production: whether every change of the cluster needs a yes.
        login: the mechanism, and the user if there is one; None if the context has no login of its own.
        properties_file: the path of a properties file.
    """

    name: str
    is_current: bool
    nodes: str | None
    production: bool
    login: str | None
    properties_file: str | None

    ROLES: ClassVar = {"properties_file": ColumnRole.DETAIL}


class SettingRow(Row, frozen=True):
    """A setting of a context.

    Attributes:
        setting: its name: of the context, or of a property.
        value: as text; of a secret only where it is.
        source: where it is set; `default` for a timeout that is set nowhere.
    """

    setting: str
    value: str
    source: str


def list_(output: FormatOption = RowFormat.TABLE) -> None:
    """List the contexts."""
    path = config_path()
    config = read_config(path)
    current = current_context(config)
    rows = [_row(name, context, is_current=name == current) for name, context in contexts_of(config, path)]
    print_rows(rows, ContextRow, output, empty="no contexts; kafkawire context set NAME makes one")


def _row(name: str, context: Context, *, is_current: bool) -> ContextRow:
    login = context.login
    said = None if login is None else " ".join(filter(None, (login.mechanism, login.username)))
    return ContextRow(name, is_current, context.nodes, context.production, said, context.properties_file)


def current() -> None:
    """Print the name of the context that commands use: that of KAFKAWIRE_CONTEXT, or the current one.

    Without any it prints nothing and ends with exit code 1.
    """
    name = select(NamedCluster()).context
    if name is None:
        raise CommandError("KAFKAWIRE_BOOTSTRAP_SERVER names the cluster, and no context; unset it to use contexts")
    print(name)


def show(
    name: Annotated[str | None, typer.Argument(metavar="[CONTEXT]", help="By default the one in use.")] = None,
    output: FormatOption = RowFormat.TABLE,
) -> None:
    """Show the settings of a context, and where each is set. Secrets are hidden."""
    access = ClusterAccess(select(NamedCluster(context=name)))
    if access.context is None:
        raise CommandError("no context is in use: the environment names the cluster; name a context")
    print_rows(_settings(access, access.context), SettingRow, output)


def _settings(access: ClusterAccess, context: Context) -> list[SettingRow]:
    here = str(config_path())
    own = {
        "name": access.selection.context,
        "bootstrap_servers": context.bootstrap_servers,
        "bootstrap_controllers": context.bootstrap_controllers,
        "production": "yes" if context.production else "no",
        "timeout": f"{access.timeout:g}",
        "properties_file": context.properties_file,
    }
    if context.login is not None:
        login = context.login
        own |= {
            "login.mechanism": login.mechanism,
            "login.username": login.username or None,
            "login.password": _text(login.password),
            "login.token": _text(login.token),
        }
    sources = {each: here if each in context.properties else str(access.properties_path) for each in access.properties}
    of_timeout = here if context.timeout is not None else sources.get(TIMEOUT_PROPERTY, _DEFAULT)
    rows = [
        SettingRow(setting, value, of_timeout if setting == "timeout" else here)
        for setting, value in own.items()
        if value is not None
    ]
    rows += [SettingRow(each, _shown(each, value), sources[each]) for each, value in sorted(access.properties.items())]
    return rows


def _text(reference: SecretReference | None) -> str | None:
    return None if reference is None else str(reference)


def _shown(name: str, value: object) -> str:
    if isinstance(value, SecretReference):
        return str(value)
    return _HIDDEN if is_secret(name) or not is_client_property(name) else str(value)
