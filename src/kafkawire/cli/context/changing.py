"""``kafkawire context set``, ``unset``, ``use``, ``rename`` and ``delete``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import msgspec
import tomlkit
import typer
from tomlkit.items import Comment, InlineTable, Table

from kafkawire.cli.access.config_file import config_path, read_config, tables_of_contexts
from kafkawire.cli.access.contexts import checked_context, context_named
from kafkawire.cli.access.secret_references import SecretReference, is_secret, parse_reference
from kafkawire.cli.access.selection import CONTEXT_VARIABLE, current_context, require_context
from kafkawire.cli.context.editing import edited, put, rename_key, table_in
from kafkawire.cli.outcome import CommandError, ExitCode
from kafkawire.near_names import did_you_mean

_OF_THE_LOGIN = ("password", "token")
_LONGEST_NAME = 100


def set_(
    name: Annotated[str, typer.Argument(metavar="CONTEXT", help="A new one, or one to change.")],
    bootstrap_server: Annotated[
        str | None,
        typer.Option("-b", "--bootstrap-server", metavar="HOST:PORT,...", help="Brokers to ask first."),
    ] = None,
    bootstrap_controller: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Controllers to ask first, in place of brokers."),
    ] = None,
    command_config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Properties file of a Java client; it stays where it is.")
    ] = None,
    properties: Annotated[
        list[str] | None,
        typer.Option("--property", metavar="NAME=VALUE", help="Property of a Java client, such as security.protocol."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER."),
    ] = None,
    username: Annotated[str | None, typer.Option(metavar="NAME", help="Who logs in.")] = None,
    secrets: Annotated[
        list[str] | None,
        typer.Option(
            "--secret",
            metavar="NAME=WHERE",
            help="Where a secret is: password, token, or a property such as ssl.key.password; as env:VARIABLE, "
            "file:PATH or command:WORDS. The secret itself is never on a command line.",
        ),
    ] = None,
    production: Annotated[
        bool | None, typer.Option("--production/--no-production", help="Ask before every change of this cluster.")
    ] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time that a call may take.", min=0.1)
    ] = None,
    use: Annotated[bool, typer.Option("--use", help="Make it the current context.")] = False,
) -> None:
    """Make a context, or change what is named of one.

    Everything else in the file stays, comments too. The first context becomes the current one.
    """
    _check_name("CONTEXT", name)
    path = config_path()
    with edited(path) as document:
        context = table_in(table_in(document, "contexts", shown=False), name)
        _set_nodes(context, bootstrap_server, bootstrap_controller)
        for key, value in (("production", production), ("timeout", timeout)):
            if value is not None:
                put(context, key, value)
        if command_config is not None:
            put(context, "properties_file", str(command_config.expanduser().absolute()))
        for each in properties or ():
            put(table_in(context, "properties"), *_property(each))
        for key, text in (("mechanism", mechanism), ("username", username)):
            if text is not None:
                put(table_in(context, "login"), key, text)
        for each in secrets or ():
            _set_secret(context, each)
        unwrapped = document.unwrap()
        checked_context(unwrapped["contexts"][name], f"context {name}")
        if use or len(unwrapped["contexts"]) == 1:
            _set_current(document, name)
        is_current = document.get("current") == name
    print(f"wrote {path}: context {name}{', which is the current one' if is_current else ''}")


def unset(
    name: Annotated[str, typer.Argument(metavar="CONTEXT", help="Its name.")],
    settings: Annotated[
        list[str],
        typer.Argument(
            metavar="SETTING...", help="Names as context show has them, such as timeout, security.protocol."
        ),
    ],
) -> None:
    """Remove settings of a context; login removes all of the login.

    Everything else in the file stays, comments too.
    """
    path = config_path()
    require_context(read_config(path), name)
    context_named(read_config(path), name, path)
    with edited(path) as document:
        context = table_in(table_in(document, "contexts", shown=False), name)
        for setting in dict.fromkeys(settings):
            _unset(context, name, setting)
        checked_context(document.unwrap()["contexts"][name], f"context {name}")
    print(f"wrote {path}: context {name} without {', '.join(dict.fromkeys(settings))}")


def rename(
    name: Annotated[str, typer.Argument(metavar="CONTEXT", help="Its name.")],
    new_name: Annotated[str, typer.Argument(metavar="NAME", help="The new one.")],
) -> None:
    """Rename a context. The current one stays the current one."""
    _check_name("NAME", new_name)
    path = config_path()
    config = read_config(path)
    require_context(config, name)
    if new_name in tables_of_contexts(config):
        raise CommandError(f"NAME: there is a context {new_name!r}; delete it, or choose another name", ExitCode.USAGE)
    with edited(path) as document:
        rename_key(table_in(document, "contexts", shown=False), name, new_name)
        if document.get("current") == name:
            _set_current(document, new_name)
    print(f"wrote {path}: context {name} is now {new_name}")


def use(name: Annotated[str, typer.Argument(metavar="CONTEXT", help="Its name.")]) -> None:
    """Make a context the current one, which commands use if nothing else names a cluster."""
    path = config_path()
    require_context(read_config(path), name)
    context = context_named(read_config(path), name, path)
    with edited(path) as document:
        _set_current(document, name)
    said = [context.nodes or "nodes of its properties", *(["production"] if context.production else [])]
    print(f"the current context is {name} ({', '.join(said)})")
    other = os.environ.get(CONTEXT_VARIABLE)
    if other and other != name:
        print(f"but {CONTEXT_VARIABLE}={other} wins in this shell; unset it")


def delete(
    names: Annotated[list[str], typer.Argument(metavar="CONTEXT...", help="Their names.")],
) -> None:
    """Delete contexts from the file; no cluster is changed."""
    path = config_path()
    for name in names:
        require_context(read_config(path), name)
    with edited(path) as document:
        contexts = table_in(document, "contexts", shown=False)
        for name in dict.fromkeys(names):
            contexts.remove(name)
        left_without = current_context(document) in names
        if left_without:
            document.remove("current")
    print(f"wrote {path}: without {', '.join(dict.fromkeys(names))}{'; no context is current' if left_without else ''}")


def _check_name(argument: str, name: str) -> None:
    if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME or name.startswith("-"):
        raise CommandError(f"{argument}: give a name of printable characters that begins with no -", ExitCode.USAGE)


def _unset(context: Table, name: str, setting: str) -> None:
    places = _places(context)
    if setting not in places:
        hint = did_you_mean(setting, places) or (f"it has {', '.join(sorted(places))}" if places else "it has none")
        raise CommandError(f"context {name} has no setting {setting!r} of its own; {hint}", ExitCode.USAGE)
    table, key = places[setting]
    table.remove(key)
    has_comments = any(isinstance(each, Comment) for _, each in table.value.body)
    if table is not context and not table and not has_comments:
        context.remove("properties")


def _places(context: Table) -> dict[str, tuple[Table | InlineTable, str]]:
    """Where each setting is, by its name in ``context show``."""
    places: dict[str, tuple[Table | InlineTable, str]] = {key: (context, key) for key in context if key != "properties"}
    for table, prefix in (("login", "login."), ("properties", "")):
        found = context.get(table)
        if isinstance(found, (Table, InlineTable)):
            places |= {f"{prefix}{key}": (found, key) for key in found}
    return places


def _set_nodes(context: Table, servers: str | None, controllers: str | None) -> None:
    given = {"bootstrap_servers": servers, "bootstrap_controllers": controllers}
    if servers is not None and controllers is not None:
        raise CommandError("--bootstrap-server and --bootstrap-controller: give one of them", ExitCode.USAGE)
    if servers is None and controllers is None:
        return
    for key, value in given.items():
        if value is not None:
            if not value.strip():
                option = key.removesuffix("s").replace("_", "-")
                raise CommandError(f"--{option} is empty; give HOST:PORT", ExitCode.USAGE)
            put(context, key, value)
        elif key in context:
            context.remove(key)


def _property(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise CommandError("--property: give NAME=VALUE", ExitCode.USAGE)
    if is_secret(name):
        raise CommandError(
            f"--property: {name} is a secret, which every process of this machine can read on a command line; give "
            f"--secret {name}=env:VARIABLE, {name}=file:PATH or {name}=command:WORDS",
            ExitCode.USAGE,
        )
    return name, value


def _set_secret(context: Table, text: str) -> None:
    name, _, where = text.partition("=")
    try:
        reference = parse_reference(where)
    except ValueError as error:
        raise CommandError(f"--secret: {name}: {error}", ExitCode.USAGE) from None
    put(table_in(context, "login" if name in _OF_THE_LOGIN else "properties"), name, _inline(reference))


def _inline(reference: SecretReference) -> InlineTable:
    plain: dict[str, Any] = msgspec.to_builtins(reference)
    inline = tomlkit.inline_table()
    if "file" in plain:
        plain["file"] = str(Path(plain["file"]).expanduser().absolute())
    inline.update(plain)
    return inline


def _set_current(document: tomlkit.TOMLDocument, name: str) -> None:
    if "current" in document:
        document["current"] = name
    else:
        document.add("current", tomlkit.item(name))  # before the first table, as TOML wants it
